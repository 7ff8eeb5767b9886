//! Dependencies of the workspace: permitted licences, none unused, heavy crates in one version.

mod workspace;

use std::fs;
use std::path::Path;

use workspace::{Package, Packages, sources};

/// Licences whose terms a binary meets by naming its authors. `CDLA-Permissive-2.0` covers data: the root certificates.
const ALLOWED: &[&str] = &[
    "0BSD",
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Crates that take long to build, and of which two versions would not fit together.
const ONCE: &[&str] = &[
    "chrono",
    "http",
    "hyper",
    "rust_decimal",
    "salvo",
    "salvo_core",
    "sea-orm",
    "sea-query",
    "serde",
    "sqlx",
    "sqlx-core",
    "tokio",
];

/// Dependencies that are declared for a feature or for generated code.
const NOT_NAMED: &[(&str, &str)] = &[
    // `DeriveMigrationName` expands to its path.
    ("helpdesk", "sea_orm_migration"),
    ("lending", "sea_orm_migration"),
    // Its feature `matched-path` adds the matched route to requests. The same feature of salvo requires OpenTelemetry.
    ("charter-runtime", "salvo_core"),
];

/// True if an SPDX expression is permitted: one side of an OR, both sides of an AND. A slash is the old form of OR.
fn is_allowed(license: &str) -> bool {
    let plain = license.replace(" / ", " OR ").replace('/', " OR ");
    let any = |part: &str| part.split(" OR ").any(|name| ALLOWED.contains(&name.trim()));
    plain.split(" AND ").all(|part| any(part.trim().trim_matches(['(', ')'])))
}

#[test]
fn every_licence_may_be_passed_on() {
    let packages = Packages::read();
    let built = packages.built();
    assert!(built.len() > 100, "cargo tells of {} packages", built.len());
    let refused = built.iter().filter(|package| !is_allowed(&package.license));
    let refused: Vec<String> = refused.map(|p| format!("{} {}: {:?}", p.name, p.version, p.license)).collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn an_expression_of_licences_is_read() {
    for allowed in ["MIT", "MIT/Apache-2.0", "GPL-3.0 OR MIT", "(MIT OR GPL-3.0) AND Unicode-3.0", "Apache-2.0 / MIT"] {
        assert!(is_allowed(allowed), "{allowed}");
    }
    for refused in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Apache-2.0) AND LGPL-2.1"] {
        assert!(!is_allowed(refused), "{refused}");
    }
}

#[test]
fn the_heavy_crates_are_there_once() {
    let packages = Packages::read();
    let built = packages.built();
    for name in ONCE {
        let versions: Vec<&str> = built.iter().filter(|p| p.name == *name).map(|p| p.version.as_str()).collect();
        assert_eq!(versions.len(), 1, "{name}: {versions:?}");
    }
}

/// The code that uses a dependency depends on its kind: `src` for a normal one, `build.rs` for a build dependency, and
/// `tests` or `src` for a dev-dependency.
#[test]
fn every_declared_dependency_is_used() {
    let packages = Packages::read();
    let mut unused = Vec::new();
    for package in packages.members() {
        for (name, kind) in &package.declared {
            let excused = NOT_NAMED.contains(&(package.name.as_str(), name));
            if !excused && !is_named(package, name, kind) {
                unused.push(format!("{} declares {name} ({kind}) and does not use it", package.name));
            }
        }
    }
    assert!(unused.is_empty(), "{}", unused.join("\n"));
}

fn is_named(package: &Package, name: &str, kind: &str) -> bool {
    let inside = Path::new(&package.folder).strip_prefix(workspace::root()).expect("a member stands in the workspace");
    let below = |folder: &str| sources(&inside.join(folder).display().to_string());
    let named = |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
    match kind {
        "normal" => {
            below("src").iter().any(|source| named(&source.code()))
                || below("migrations").iter().any(|s| named(&s.code()))
        }
        "build" => fs::read_to_string(Path::new(&package.folder).join("build.rs")).is_ok_and(|text| named(&text)),
        _ => below("src").iter().chain(&below("tests")).any(|source| named(&source.text)),
    }
}

#[test]
fn every_workspace_dependency_is_declared_by_a_member() {
    let read = |folder: &Path| fs::read_to_string(folder.join("Cargo.toml")).expect("a package has a manifest");
    let members: Vec<String> = Packages::read().members().map(|package| read(Path::new(&package.folder))).collect();
    let text = read(workspace::root());
    let (_, shared) = text.split_once("[workspace.dependencies]").expect("the workspace shares dependencies");
    let shared = shared.split("\n[").next().unwrap_or_default();
    let names = shared.lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name);
    let declares = |manifest: &String, name: &str| {
        let forms = [format!("\n{name}.workspace = true"), format!("\n{name} = {{ workspace = true")];
        forms.iter().any(|form| manifest.contains(form))
    };
    let declared = |name: &str| members.iter().any(|manifest| declares(manifest, name));
    let unused: Vec<&str> = names.filter(|name| !declared(name)).collect();
    assert!(unused.is_empty(), "no member declares {}", unused.join(", "));
}
