//! Template of a new application: a package that generates, migrates, tests and serves its resources.

use std::path::{Path, PathBuf};

use charter_model::naming;

/// The minimum version of Rust, which Charter's manifest states.
const RUST_VERSION: &str = env!("CARGO_PKG_RUST_VERSION");

/// Folders of Charter's crates in a checkout.
const CRATES: [(&str, &str); 4] = [
    ("charter-codegen", "codegen"),
    ("charter-migrations", "migrations"),
    ("charter-runtime", "runtime"),
    ("charter-testing", "runtime/testing"),
];

/// The most folders that a relative path to a checkout climbs; a checkout farther away has an absolute path.
const MAX_CLIMB: usize = 4;

/// The place from which an application takes Charter's crates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CrateSource {
    /// A checkout on this machine.
    Path(PathBuf),
    /// A Git repository, at a commit or tag if one is given.
    Git { url: String, revision: Option<String> },
    /// The registry.
    Version(String),
}

impl CrateSource {
    /// The checkout in which this command was built, or, if it was built from a package, the version of the command.
    pub fn of_this_command() -> CrateSource {
        match checkout() {
            Some(checkout) => CrateSource::Path(checkout.to_owned()),
            None => CrateSource::Version(env!("CARGO_PKG_VERSION").to_owned()),
        }
    }

    /// The value of a dependency on a crate, in the manifest of an application in `folder`.
    fn dependency(&self, name: &str, folder: &Path) -> String {
        match self {
            CrateSource::Version(version) => format!("{version:?}"),
            CrateSource::Git { url, revision: None } => format!("{{ git = {url:?} }}"),
            CrateSource::Git { url, revision: Some(revision) } => format!("{{ git = {url:?}, rev = {revision:?} }}"),
            CrateSource::Path(checkout) => {
                let within = CRATES.iter().find(|(known, _)| *known == name).map_or(name, |(_, within)| within);
                format!("{{ path = {:?} }}", relative(folder, checkout).join(within))
            }
        }
    }
}

/// The checkout of Charter in which this command was built. A package of the command has none around it.
pub fn checkout() -> Option<&'static Path> {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    is_checkout(above).then_some(above)
}

/// True if a folder has all of Charter's crates.
pub fn is_checkout(folder: &Path) -> bool {
    CRATES.iter().all(|(_, within)| folder.join(within).join("Cargo.toml").is_file())
}

/// The path from a folder to another if they are near each other, or else the other path as it is.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let shared = from.components().zip(to.components()).take_while(|(one, other)| one == other).count();
    let climb = from.components().count() - shared;
    // The first component is the root, which any two folders share.
    if shared < 2 || climb > MAX_CLIMB {
        return to.to_owned();
    }
    std::iter::repeat_n("..".as_ref(), climb).chain(to.components().skip(shared).map(|part| part.as_os_str())).collect()
}

/// A package name made of the name of a folder: snake_case, and valid for cargo.
pub fn package_name(folder: &str) -> String {
    let lower = folder.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join("_");
    let is_free = |name: &str| {
        // Names of crates of Rust, and folders in which cargo builds.
        let taken = ["test", "core", "std", "alloc", "proc_macro", "build", "deps", "examples", "incremental"];
        !taken.contains(&name)
    };
    let begins_well = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if begins_well && is_free(&name) && syn::parse_str::<syn::Ident>(&name).is_ok() { name } else { "app".to_owned() }
}

/// Every file of an application with its path, but for the YAML of its first resource.
///
/// `folder`: the absolute path of the application.
pub fn files(name: &str, folder: &Path, resource: &str, source: &CrateSource) -> Vec<(String, String)> {
    let plural = naming::plural(resource);
    let fill = |text: &str| {
        text.replace("APPLICATION", name).replace("RESOURCES", &plural).replace("RUST_VERSION", RUST_VERSION)
    };
    let file = |path: &str, text: &str| (path.to_owned(), fill(text));
    // A resource named `table` would have the file of the other test.
    let records = if plural == "tables" { "tests/records.rs".to_owned() } else { format!("tests/{plural}.rs") };
    vec![
        ("Cargo.toml".to_owned(), fill(&manifest(folder, source))),
        file("build.rs", include_str!("template/build.rs")),
        file("src/main.rs", include_str!("template/main.rs")),
        file("src/lib.rs", include_str!("template/lib.rs")),
        file("src/resources/mod.rs", include_str!("template/resources.rs")),
        file("tests/tables.rs", include_str!("template/tables.rs")),
        file(&records, include_str!("template/records.rs")),
        file("README.md", include_str!("template/README.md")),
        file("Dockerfile", include_str!("template/Dockerfile")),
        file("rustfmt.toml", include_str!("template/rustfmt.toml")),
        file(".cargo/config.toml", include_str!("template/config.toml")),
        file(".github/workflows/ci.yml", include_str!("template/ci.yml")),
        file(".dockerignore", include_str!("template/dockerignore")),
        file(".gitignore", include_str!("template/gitignore")),
    ]
}

/// Packages that an application shares with Charter, with the value of their dependency.
pub fn shared_dependencies() -> Vec<(&'static str, &'static str)> {
    let is_versioned = |line: &&str| line.contains(" = { version = ");
    include_str!("template/manifest.toml")
        .lines()
        .filter(is_versioned)
        .filter_map(|line| line.split_once(" = "))
        .collect()
}

/// The line of cargo's configuration that sets the build flags of SQLite.
pub fn build_flags() -> &'static str {
    let config = include_str!("template/config.toml");
    config.lines().find(|line| line.starts_with("LIBSQLITE3_FLAGS")).unwrap_or_default()
}

/// The manifest, with a line for each crate that a line `CHARTER: ` of the template names.
fn manifest(folder: &Path, source: &CrateSource) -> String {
    let mut text = String::new();
    for line in include_str!("template/manifest.toml").lines() {
        match line.strip_prefix("CHARTER: ") {
            Some(names) => names.split(' ').for_each(|name| {
                text.push_str(&format!("{name} = {}\n", source.dependency(name, folder)));
            }),
            None => text.push_str(&format!("{line}\n")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_any_name_is_a_package() {
        let pairs = [
            ("suppliers", "suppliers"),
            ("My Shop-2", "my_shop_2"),
            ("2026", "app"),
            ("test", "app"),
            ("fn", "app"),
            ("Examples", "app"),
            ("incremental", "app"),
            ("ü", "app"),
            ("", "app"),
        ];
        for (folder, expected) in pairs {
            assert_eq!(package_name(folder), expected, "{folder}");
        }
    }

    #[test]
    fn files_are_valid_rust_and_no_placeholder_is_left() {
        let source = CrateSource::Version("0.1.0".into());
        for (path, text) in files("shop", Path::new("/home/ada/shop"), "tax_class", &source) {
            assert!(!path.ends_with(".rs") || syn::parse_file(&text).is_ok(), "{path}");
            let left =
                ["APPLICATION", "RESOURCES", "RUST_VERSION", "CHARTER:"].iter().find(|word| text.contains(*word));
            assert_eq!(left, None, "{path}");
        }
    }

    #[test]
    fn crates_come_from_a_checkout_a_repository_or_the_registry() {
        let of = |source: CrateSource| manifest(Path::new("/home/ada/code/shop"), &source);
        let path = of(CrateSource::Path("/home/ada/charter".into()));
        assert!(path.contains("charter-testing = { path = \"../../charter/runtime/testing\" }\n"), "{path}");
        let far = of(CrateSource::Path("/srv/charter".into()));
        assert!(far.contains("charter-runtime = { path = \"/srv/charter/runtime\" }\n"), "{far}");
        let url = "https://git.example/charter.git".to_owned();
        let git = of(CrateSource::Git { url, revision: Some("v0.1.0".into()) });
        let line = "charter-codegen = { git = \"https://git.example/charter.git\", rev = \"v0.1.0\" }\n";
        assert!(git.contains(line), "{git}");
        let registry = of(CrateSource::Version("0.1.0".into()));
        assert!(registry.contains("charter-migrations = \"0.1.0\"\n"), "{registry}");
    }

    #[test]
    fn relative_paths_climb_a_few_folders_at_most() {
        let pairs = [
            ("/a/b", "/a/charter", "../charter"),
            ("/a/charter/examples/shop", "/a/charter", "../.."),
            ("/a/b/c/d/e/f", "/a/charter", "/a/charter"),
            ("/home/ada/shop", "/srv/charter", "/srv/charter"),
        ];
        for (from, to, expected) in pairs {
            assert_eq!(relative(Path::new(from), Path::new(to)), Path::new(expected), "{from}");
        }
    }
}
