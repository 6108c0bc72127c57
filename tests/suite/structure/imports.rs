//! Which source files of a crate import which, read from their `use` declarations and paths.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use syn::{Attribute, Ident, Item, ItemMod, ItemUse, UseTree, visit::Visit};

/// A module by its path from the crate's root, which is empty.
type Module = Vec<String>;

/// The files that import each other in a loop, a loop a line; none where there is no loop.
pub(super) fn cycles(source: &Path) -> Vec<String> {
    let files = files(source, &vec![]);
    let imports: BTreeMap<&Module, BTreeSet<Module>> = files
        .iter()
        .map(|(module, text)| {
            let parsed = syn::parse_file(text).unwrap();
            let mut imports = Imports { module, files: &files, found: BTreeSet::new() };
            imports.visit_file(&parsed);
            (module, imports.found)
        })
        .collect();
    // What each module reaches, by following imports until nothing new is found.
    let reached = |from: &Module| {
        let (mut seen, mut left) = (BTreeSet::new(), vec![from]);
        while let Some(module) = left.pop() {
            left.extend(imports[module].iter().filter(|next| seen.insert((*next).clone())));
        }
        seen
    };
    let loops = files.keys().filter(|module| reached(module).contains(*module));
    loops.map(|module| format!("{} {}", source.display(), module.join("::"))).collect()
}

/// The text of every module that is a file, except those of tests.
fn files(folder: &Path, module: &Module) -> BTreeMap<Module, String> {
    let mut found = BTreeMap::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let own = || module.iter().cloned().chain([name.clone()]).collect::<Module>();
        if path.is_dir() {
            found.extend(files(&path, &own()));
        } else if path.extension().is_some_and(|extension| extension == "rs") && !name.ends_with("tests") {
            let is_root = module.is_empty() && ["lib", "main"].contains(&&*name);
            let own = if is_root || name == "mod" { module.clone() } else { own() };
            found.insert(own, fs::read_to_string(path).unwrap());
        }
    }
    found
}

struct Imports<'a> {
    module: &'a Module,
    files: &'a BTreeMap<Module, String>,
    found: BTreeSet<Module>,
}

impl Imports<'_> {
    /// Notes the file that the path's item is in. A module and those within it are one thing from outside.
    fn note(&mut self, path: &[String]) {
        let (first, rest) = path.split_first().unwrap();
        let mut parts: Module = match &**first {
            "crate" => vec![],
            "self" | "super" => self.module.clone(),
            first if self.files.contains_key(&self.child(first)) => self.child(first),
            _ => return,
        };
        if first == "super" {
            parts.pop();
        }
        for part in rest {
            if part == "super" {
                parts.pop();
            } else if part != "self" {
                parts.push(part.clone());
            }
        }
        while !self.files.contains_key(&parts) {
            if parts.pop().is_none() {
                return;
            }
        }
        if !parts.starts_with(self.module) && !self.module.starts_with(&parts) {
            self.found.insert(parts);
        }
    }

    fn child(&self, name: &str) -> Module {
        self.module.iter().cloned().chain([name.to_owned()]).collect()
    }

    fn tree(&mut self, tree: &UseTree, before: &mut Module) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.tree(&path.tree, before);
                before.pop();
            }
            UseTree::Group(group) => group.items.iter().for_each(|item| self.tree(item, before)),
            UseTree::Name(name) => self.leaf(&name.ident, before),
            UseTree::Rename(rename) => self.leaf(&rename.ident, before),
            UseTree::Glob(_) => self.note(before),
        }
    }

    fn leaf(&mut self, name: &Ident, before: &mut Module) {
        before.push(name.to_string());
        self.note(before);
        before.pop();
    }
}

impl<'ast> Visit<'ast> for Imports<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes: &[Attribute] = match item {
            Item::Mod(ItemMod { attrs, .. }) | Item::Use(ItemUse { attrs, .. }) => attrs,
            _ => &[],
        };
        // Those of tests may be imported by what they test.
        if !attributes.iter().any(|attribute| attribute.path().is_ident("cfg")) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.tree(&item.tree, &mut vec![]);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Module = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if parts.len() > 1 {
            self.note(&parts);
        }
        syn::visit::visit_path(self, path);
    }
}
