//! The lists of the packages in an archive: licences and the bill of materials.

use std::collections::HashSet;

use xtask_dist::{licences, packages, release::Release, sbom};

fn release() -> Release {
    let mut release = Release::of_repository(Some("x86_64-unknown-linux-musl".to_owned())).unwrap();
    release.time = 1_000_000_000;
    release
}

#[test]
fn only_what_is_linked_is_listed() {
    let linked = packages::linked(&release()).unwrap();
    let names: Vec<_> = linked.iter().map(|linked| linked.package.name.as_str()).collect();
    for name in ["ragmaker", "ragmaker-read-file", "serde_json", "ring"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    // Of tests, of builds, of other systems.
    for name in ["proptest", "cc", "windows-sys", "ragmaker-testkit"] {
        assert!(!names.contains(&name), "{name}");
    }
}

#[test]
fn every_dependency_has_its_licence() {
    let linked = packages::linked(&release()).unwrap();
    let text = licences::text(&linked).unwrap();
    for linked in linked.iter().filter(|linked| linked.package.source.is_some()) {
        let line = format!("{} {}: ", linked.package.name, linked.package.version);
        assert!(text.contains(&line), "{line}");
    }
    for part in ["Permission is hereby granted, free of charge", "Apache License", "Mozilla Public License"] {
        assert!(text.contains(part), "{part}");
    }
}

#[test]
fn the_bill_of_materials_is_closed_and_names_no_path_of_this_machine() {
    let release = release();
    let linked = packages::linked(&release).unwrap();
    let bill = sbom::of(&release, &linked);
    assert_eq!(bill, sbom::of(&release, &packages::linked(&release).unwrap()));
    assert_eq!((&bill["bomFormat"], &bill["specVersion"]), (&"CycloneDX".into(), &"1.6".into()));
    assert_eq!(bill["metadata"]["timestamp"], "2001-09-09T01:46:40Z");
    assert_eq!(bill["metadata"]["component"]["name"], "ragmaker");
    let components = bill["components"].as_array().unwrap();
    assert_eq!(components.len() + 1, linked.len());
    let references: HashSet<_> = components.iter().map(|component| component["bom-ref"].as_str().unwrap()).collect();
    assert_eq!(references.len(), components.len());
    for dependency in bill["dependencies"].as_array().unwrap() {
        for name in dependency["dependsOn"].as_array().unwrap() {
            assert!(references.contains(name.as_str().unwrap()), "{name}");
        }
    }
    assert!(!bill.to_string().contains(&*release.root.to_string_lossy()));
}
