//! Packages of the workspace and their dependencies, from `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Every package of the dependency graph, by its id.
pub struct Packages {
    all: BTreeMap<String, Package>,
    members: Vec<String>,
}

#[derive(Debug)]
pub struct Package {
    pub name: String,
    pub version: String,
    pub license: String,
    /// The folder of its manifest.
    pub folder: String,
    /// Declared dependencies: the name in code, and the kind (`normal`, `dev` or `build`).
    pub declared: Vec<(String, &'static str)>,
    /// Ids of its normal dependencies (`true`) and build dependencies (`false`).
    dependencies: Vec<(String, bool)>,
}

impl Packages {
    pub fn read() -> Packages {
        // Without a platform, cargo requires the dependencies of other systems, which are not downloaded.
        let told = Command::new(env!("CARGO")).arg("-vV").output().expect("cargo runs").stdout;
        let told = String::from_utf8_lossy(&told);
        let host = told.lines().find_map(|line| line.strip_prefix("host: ")).expect("cargo tells its host");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["metadata", "--format-version", "1", "--offline", "--filter-platform", host]);
        cargo.current_dir(super::root());
        let output = cargo.output().expect("cargo runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
        let mut all: BTreeMap<String, Package> =
            list(&metadata["packages"]).iter().map(|package| (text(&package["id"]), read_package(package))).collect();
        for node in list(&metadata["resolve"]["nodes"]) {
            let of_build = |dependency: &Value| {
                let kinds = list(&dependency["dep_kinds"]);
                let normal = kinds.iter().any(|kind| kind["kind"].is_null());
                let used = normal || kinds.iter().any(|kind| kind["kind"] == "build");
                used.then(|| (text(&dependency["pkg"]), normal))
            };
            let package = all.get_mut(&text(&node["id"])).expect("a node is a package");
            package.dependencies = list(&node["deps"]).iter().filter_map(of_build).collect();
        }
        Packages { all, members: list(&metadata["workspace_members"]).iter().map(text).collect() }
    }

    pub fn members(&self) -> impl Iterator<Item = &Package> {
        self.members.iter().map(|id| &self.all[id])
    }

    pub fn member(&self, name: &str) -> &Package {
        self.members().find(|package| package.name == name).unwrap_or_else(|| panic!("there is no package {name}"))
    }

    /// The packages that this one is linked with: its normal dependencies and, transitively, theirs.
    pub fn linked(&self, package: &Package) -> BTreeSet<&str> {
        self.reached(package, |normal| normal).into_iter().map(|package| package.name.as_str()).collect()
    }

    /// The packages that are built for a workspace member, without those only for its tests.
    pub fn built(&self) -> Vec<&Package> {
        let mut found: BTreeMap<(&str, &str), &Package> = BTreeMap::new();
        for package in self.members().flat_map(|member| self.reached(member, |_| true)) {
            found.insert((&package.name, &package.version), package);
        }
        found.into_values().collect()
    }

    fn reached(&self, package: &Package, follow: impl Fn(bool) -> bool) -> Vec<&Package> {
        let ids = |package: &Package| -> Vec<String> {
            package.dependencies.iter().filter(|(_, normal)| follow(*normal)).map(|(id, _)| id.clone()).collect()
        };
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut waiting = ids(package);
        while let Some(id) = waiting.pop() {
            if seen.insert(id.clone()) {
                waiting.extend(ids(&self.all[&id]));
            }
        }
        seen.iter().map(|id| &self.all[id]).collect()
    }
}

impl Package {
    /// Declared dependencies of a kind, by their names in code.
    pub fn declares(&self, kind: &str) -> BTreeSet<&str> {
        self.declared.iter().filter(|(_, other)| *other == kind).map(|(name, _)| name.as_str()).collect()
    }
}

fn read_package(package: &Value) -> Package {
    let declared = list(&package["dependencies"]).iter().map(|dependency| {
        let name = dependency["rename"].as_str().map_or_else(|| text(&dependency["name"]), String::from);
        let kind = match dependency["kind"].as_str() {
            Some("dev") => "dev",
            Some("build") => "build",
            _ => "normal",
        };
        (name.replace('-', "_"), kind)
    });
    let manifest = text(&package["manifest_path"]);
    Package {
        name: text(&package["name"]),
        version: text(&package["version"]),
        license: package["license"].as_str().unwrap_or_default().to_string(),
        folder: manifest.trim_end_matches("/Cargo.toml").to_string(),
        declared: declared.collect(),
        dependencies: Vec::new(),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}
