//! The software bill of materials, in `CycloneDX` 1.6.
//!
//! It is written from `cargo metadata`: a few members per package do not need a crate.

use std::time::{Duration, UNIX_EPOCH};

use cargo_metadata::Package;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{packages::Linked, release::Release};

/// The bill of materials of the executable.
pub fn of(release: &Release, linked: &[Linked]) -> Value {
    let is_root = |linked: &&Linked| linked.package.name == "ragmaker";
    let root = linked.iter().find(is_root).map(|linked| component(&linked.package, "application"));
    let components: Vec<Value> =
        linked.iter().filter(|linked| !is_root(linked)).map(|linked| component(&linked.package, "library")).collect();
    // Identifiers of cargo contain paths of this machine; those of the bill do not.
    let reference = |id| linked.iter().find(|linked| linked.package.id == id).map(|linked| purl(&linked.package));
    let dependencies: Vec<Value> = linked
        .iter()
        .map(|one| {
            let names: Vec<_> = one.dependencies.iter().filter_map(|id| reference(id.clone())).collect();
            json!({"ref": purl(&one.package), "dependsOn": names})
        })
        .collect();
    let time = UNIX_EPOCH + Duration::from_secs(release.time);
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": serial_number(release, &components),
        "version": 1,
        "metadata": {"timestamp": humantime::format_rfc3339_seconds(time).to_string(), "component": root},
        "components": components,
        "dependencies": dependencies,
    })
}

fn component(package: &Package, kind: &str) -> Value {
    let mut component = json!({
        "type": kind,
        "bom-ref": purl(package),
        "name": package.name.as_str(),
        "version": package.version.to_string(),
        "scope": "required",
        "purl": purl(package),
    });
    if let Some(description) = &package.description {
        component["description"] = description.trim().into();
    }
    if let Some(expression) = &package.license {
        // Old manifests separate alternatives with a slash.
        component["licenses"] = json!([{"expression": expression.replace('/', " OR ")}]);
    }
    if let Some(repository) = &package.repository {
        component["externalReferences"] = json!([{"type": "vcs", "url": repository}]);
    }
    component
}

/// The package URL, which names the package in every bill of materials.
fn purl(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version.to_string().replace('+', "%2B"))
}

/// A UUID that is the same for the same content.
fn serial_number(release: &Release, components: &[Value]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(release.name());
    for component in components {
        hasher.update(component.to_string());
    }
    let mut bytes = hasher.finalize();
    // Version 8, which is for values of one's own making, and the variant of RFC 9562.
    bytes[6] = (bytes[6] & 0x0f) | 0x80;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex = format!("{bytes:x}");
    format!("urn:uuid:{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..32])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linked(name: &str, version: &str, dependencies: &[&str]) -> Linked {
        let package = json!({
            "name": name, "version": version, "id": format!("path+file:///private/{name}"), "dependencies": [],
            "targets": [], "features": {}, "manifest_path": "/private/Cargo.toml", "license": "MIT/Apache-2.0",
            "description": " text\n",
        });
        let id = |name: &&str| serde_json::from_value(json!(format!("path+file:///private/{name}"))).unwrap();
        let package = serde_json::from_value(package).unwrap();
        Linked { package, dependencies: dependencies.iter().map(id).collect() }
    }

    fn release(time: u64) -> Release {
        let text = |text: &str| text.to_owned();
        Release { root: "/private".into(), version: text("1.0.0"), repository: text("r"), target: text("t"), time }
    }

    #[test]
    fn the_bill_names_each_package_and_no_path_of_the_machine() {
        let all = [linked("ragmaker", "1.0.0", &["a", "gone"]), linked("a", "2.0.0+b", &[])];
        let bill = of(&release(0), &all);
        assert_eq!(bill["metadata"]["component"]["purl"], "pkg:cargo/ragmaker@1.0.0");
        assert_eq!(bill["metadata"]["timestamp"], "1970-01-01T00:00:00Z");
        let [component] = &bill["components"].as_array().unwrap()[..] else { panic!("{bill}") };
        assert_eq!((&component["purl"], &component["type"]), (&json!("pkg:cargo/a@2.0.0%2Bb"), &json!("library")));
        assert_eq!(component["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(component["description"], "text");
        assert_eq!(bill["dependencies"][0]["dependsOn"], json!(["pkg:cargo/a@2.0.0%2Bb"]));
        assert!(!bill.to_string().contains("/private"), "{bill}");
    }

    #[test]
    fn the_serial_number_is_a_uuid_of_the_content() {
        let number = |packages: &[Linked]| of(&release(0), packages)["serialNumber"].as_str().unwrap().to_owned();
        let one = number(&[linked("a", "1.0.0", &[])]);
        assert_eq!(one, number(&[linked("a", "1.0.0", &[])]));
        assert_ne!(one, number(&[linked("a", "1.0.1", &[])]));
        let uuid = one.strip_prefix("urn:uuid:").unwrap();
        assert_eq!(uuid.split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
        assert!(
            uuid[14..].starts_with('8') && ['8', '9', 'a', 'b'].iter().any(|c| uuid[19..].starts_with(*c)),
            "{uuid}"
        );
    }
}
