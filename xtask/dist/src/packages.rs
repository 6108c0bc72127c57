//! The packages that are linked into the executable.

use std::collections::BTreeMap;

use anyhow::Context;
use cargo_metadata::{DependencyKind, MetadataCommand, Package, PackageId};

use crate::release::Release;

/// A package, and those that it depends on.
pub struct Linked {
    /// The package.
    pub package: Package,
    /// Its own dependencies, without those of its build and its tests.
    pub dependencies: Vec<PackageId>,
}

/// The packages of the executable `ragmaker`, itself among them, in the order of their names and versions.
///
/// # Errors
///
/// Cargo fails.
pub fn linked(release: &Release) -> anyhow::Result<Vec<Linked>> {
    let options = ["--locked", "--filter-platform", &release.target].map(str::to_owned);
    let mut command = MetadataCommand::new();
    command.manifest_path(release.root.join("tools/ragmaker/Cargo.toml")).other_options(options);
    let metadata = command.exec()?;
    let resolve = metadata.resolve.context("cargo resolved no dependencies")?;
    let mut packages: BTreeMap<_, _> =
        metadata.packages.into_iter().map(|package| (package.id.clone(), package)).collect();
    let nodes: BTreeMap<_, _> = resolve.nodes.iter().map(|node| (&node.id, node)).collect();
    let mut left = vec![resolve.root.context("cargo resolved no root")?];
    let mut linked = vec![];
    while let Some(id) = left.pop() {
        // Found before.
        let Some(package) = packages.remove(&id) else { continue };
        let is_linked =
            |kinds: &[cargo_metadata::DepKindInfo]| kinds.iter().any(|info| info.kind == DependencyKind::Normal);
        let node = nodes.get(&id).with_context(|| format!("cargo did not resolve {id}"))?;
        let normal = node.deps.iter().filter(|dependency| is_linked(&dependency.dep_kinds));
        let mut dependencies: Vec<_> = normal.map(|dependency| dependency.pkg.clone()).collect();
        dependencies.sort();
        left.extend(dependencies.iter().cloned());
        linked.push(Linked { package, dependencies });
    }
    linked.sort_by(|a, b| (&a.package.name, &a.package.version).cmp(&(&b.package.name, &b.package.version)));
    Ok(linked)
}
