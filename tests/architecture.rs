//! The invariants of `docs/architecture.md`: dependencies of crates, imports of modules, and the form of files.

mod workspace;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use workspace::{Package, Packages, Source, root, sources};

/// The packages of this workspace without the examples.
const OURS: &[&str] = &[
    "charter",
    "charter-codegen",
    "charter-core",
    "charter-macros",
    "charter-migrations",
    "charter-model",
    "charter-platform",
    "charter-runtime",
    "charter-testing",
];
/// The folders of their code.
const FOLDERS: &[&str] = &[
    "src",
    "codegen/src",
    "macros/src",
    "migrations/src",
    "runtime/model/src",
    "runtime/core/src",
    "runtime/platform/src",
    "runtime/src",
    "runtime/testing/src",
];
/// The folders of the runtime's crates.
const RUNTIME: &[&str] = &["runtime/core/src", "runtime/platform/src", "runtime/src"];
/// The modules of the core in their layers: each names only those before it.
const CORE_ORDER: &[&str] = &[
    "error",
    "number",
    "decimal",
    "meta",
    "clock",
    "calendar",
    "network",
    "hash",
    "suggest",
    "json_scan",
    "crypto",
    "trace",
    "metrics",
    "tasks",
    "memo",
    "ttl_cache",
    "versioned_cache",
    "header",
    "stale_reference",
    "ability",
    "principal",
    "client",
    "fair_queue",
    "db",
    "field_type",
    "expression",
    "resource",
    "record",
    "catalog",
    "counts",
    "rollups",
    "custom_field",
    "query",
    "trigram",
    "online_indexes",
    "ops",
    "generated",
];
/// The modules of the server crate in their layers.
const SERVER_ORDER: &[&str] =
    &["process", "config", "log", "language", "server", "openapi", "mcp", "panel", "seed", "app", "command"];
/// The crate for tests, as code names it.
const TESTING: &str = "charter_testing";
/// The package that codegen, the macros and the runtime share.
const MODEL: &str = "charter-model";

/// Asserts that nothing was found. The message lists all findings.
fn none(found: Vec<String>) {
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

/// The files below a folder that name one of these paths.
fn naming(folder: &str, paths: &[&str]) -> Vec<String> {
    let naming = |source: Source| {
        let named: Vec<&str> = paths.iter().copied().filter(|path| source.uses(path)).collect();
        (!named.is_empty()).then(|| format!("{} names {}", source.path, named.join(", ")))
    };
    sources(folder).into_iter().filter_map(naming).collect()
}

#[test]
fn the_vocabulary_depends_on_nothing() {
    let packages = Packages::read();
    assert!(packages.linked(packages.member(MODEL)).is_empty());
}

#[test]
fn codegen_is_linked_with_the_vocabulary_and_neither_with_seaorm_nor_with_salvo() {
    let packages = Packages::read();
    let linked = packages.linked(packages.member("charter-codegen"));
    let is_other = |name: &str| OURS.contains(&name) && name != MODEL;
    let wrong = |name: &&str| is_other(name) || ["sea-", "salvo", "sqlx"].iter().any(|start| name.starts_with(start));
    assert_eq!(linked.into_iter().filter(wrong).collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn the_macros_are_linked_with_the_vocabulary_and_look_at_nothing_but_their_tokens() {
    let packages = Packages::read();
    let linked = packages.linked(packages.member("charter-macros"));
    assert!(OURS.iter().all(|name| !linked.contains(name) || *name == MODEL), "{linked:?}");
    none(naming("macros/src", &["std::fs", "std::env", "std::net", "std::process"]));
}

#[test]
fn the_runtime_is_not_linked_with_codegen_or_the_migrations() {
    let packages = Packages::read();
    let linked = packages.linked(packages.member("charter-runtime"));
    let ours: Vec<&&str> = OURS.iter().filter(|name| linked.contains(*name)).collect();
    assert_eq!(ours, [&"charter-core", &"charter-macros", &MODEL, &"charter-platform"]);
}

#[test]
fn http_servers_and_clients_are_linked_in_the_layers_that_use_them() {
    let packages = Packages::read();
    let core = packages.linked(packages.member("charter-core"));
    let platform = packages.linked(packages.member("charter-platform"));
    for package in ["salvo", "maud", "clap", "charter-runtime"] {
        assert!(!core.contains(package) && !platform.contains(package), "{package}");
    }
    assert!(!core.contains("reqwest") && !core.contains("charter-platform"));
}

/// The modules of `folder` that a file names, its own left out.
fn modules_named(source: &Source, folder: &str) -> (String, BTreeSet<String>) {
    let own = source.path.strip_prefix(folder).unwrap_or_default().trim_start_matches('/');
    let own = own.split('/').next().unwrap_or_default().trim_end_matches(".rs").to_string();
    let module = |path: &String| Some(path.strip_prefix("crate::")?.split("::").next()?.to_string());
    let named = source.names().iter().filter_map(module).filter(|name| *name != own).collect();
    (own, named)
}

#[test]
fn modules_name_no_module_of_a_later_layer() {
    let mut found = Vec::new();
    for (folder, order) in [("runtime/core/src", CORE_ORDER), ("runtime/src", SERVER_ORDER)] {
        let position = |name: &str| order.iter().position(|known| *known == name);
        for source in sources(folder) {
            let (own, named) = modules_named(&source, folder);
            if own == "lib" {
                continue;
            }
            let Some(at) = position(&own) else {
                found.push(format!("`{own}` has no layer in tests/architecture.rs"));
                continue;
            };
            // The macro `route!` writes `$crate::generated` into applications.
            let named = named.iter().filter(|name| *name != "generated");
            let later = named.filter(|name| position(name).is_some_and(|other| other > at));
            found.extend(later.map(|name| format!("{} names {name}", source.path)));
        }
    }
    none(found);
}

#[test]
fn migrations_depend_on_seaorms_migrations_and_the_log_alone_and_read_no_yaml() {
    let packages = Packages::read();
    let declared = packages.member("charter-migrations").declares("normal");
    assert_eq!(declared.into_iter().collect::<Vec<_>>(), ["sea_orm_migration", "tracing"]);
    // The only included file is the generated list of its own migrations.
    let list = r#"include!(concat!(env!("OUT_DIR"), "/migrations.rs"))"#;
    let read = |source: &Source| {
        let code = source.code().replace(list, "");
        ["include_str!", "include!", "std::fs", "yaml"].iter().any(|word| code.contains(word))
    };
    none(sources("migrations/src").into_iter().filter(read).map(|source| source.path).collect());
}

#[test]
fn only_tests_are_linked_with_the_crate_for_tests() {
    let packages = Packages::read();
    let uses = |package: &&Package| ["normal", "build"].iter().any(|kind| package.declares(kind).contains(TESTING));
    none(packages.members().filter(uses).map(|package| package.name.clone()).collect());
    for name in ["charter", "helpdesk", "lending"] {
        assert!(packages.member(name).declares("dev").contains(TESTING), "{name}");
    }
}

/// The folder of the package that a source file belongs to.
fn package_of(file: &Path) -> &Path {
    file.ancestors().skip(1).find(|folder| folder.join("Cargo.toml").is_file()).expect("a file belongs to a package")
}

#[test]
fn no_module_is_a_file_of_another_package() {
    let mut found = Vec::new();
    for source in sources("") {
        let file = root().join(&source.path).canonicalize().unwrap();
        for path in source.text.split("#[path = \"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let module = file.with_file_name(path).canonicalize();
            if !module.is_ok_and(|module| package_of(&module) == package_of(&file)) {
                found.push(format!("{} includes {path}", source.path));
            }
        }
    }
    none(found);
}

#[test]
fn an_application_depends_on_the_runtime_and_its_migrations_and_is_built_by_codegen() {
    let packages = Packages::read();
    for name in ["charter", "helpdesk", "lending"] {
        let package = packages.member(name);
        let ours =
            |kind| package.declares(kind).into_iter().filter(|name| name.starts_with("charter_")).collect::<Vec<_>>();
        assert_eq!(ours("normal"), ["charter_migrations", "charter_runtime"], "{name}");
        assert_eq!(ours("build"), ["charter_codegen"], "{name}");
    }
}

/// The names of the service's resources are those of its YAML files. Words of the platform, such as `caller` and
/// `setting`, belong to the runtime.
#[test]
fn the_runtime_names_no_resource_of_a_domain() {
    let mut names: BTreeSet<String> = BTreeSet::new();
    for folder in ["resources", "examples/lending/resources"] {
        for file in fs::read_dir(root().join(folder)).unwrap().map(Result::unwrap) {
            let file = file.file_name().to_string_lossy().into_owned();
            let name = file.split('.').next().unwrap_or_default().to_string();
            if name != "settings" && !file.ends_with(".language.yaml") {
                names.extend([
                    format!("{name}s"),
                    name.strip_suffix('y').map(|stem| format!("{stem}ies")).unwrap_or_default(),
                    name,
                ]);
            }
        }
    }
    names.remove("");
    let mut found = Vec::new();
    for source in RUNTIME.iter().flat_map(|folder| sources(folder)) {
        let words = source.words();
        found.extend(names.intersection(&words).map(|name| format!("{} says `{name}`", source.path)));
    }
    none(found);
}

/// Files that `build.rs` generated for the records service.
fn generated() -> Vec<(String, String)> {
    let files = fs::read_dir(env!("OUT_DIR")).unwrap().map(|entry| entry.unwrap().path());
    let rust = files.filter(|path| path.extension().is_some_and(|end| end == "rs"));
    rust.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(&path).unwrap()))
        .collect()
}

#[test]
fn generated_code_names_the_runtime_by_its_generated_module_alone() {
    let mut found = Vec::new();
    for (name, text) in generated() {
        let source = Source { path: format!("src/{name}"), text };
        let of_runtime =
            |path: &&String| path.starts_with("charter_runtime") && !path.starts_with("charter_runtime::generated");
        found.extend(source.names().iter().filter(of_runtime).map(|path| format!("{name} names {path}")));
        let outer = ["sea_orm", "salvo", "charter_migrations", "charter_codegen", "serde_json", "std", "crate"];
        found.extend(outer.iter().filter(|outer| source.uses(outer)).map(|outer| format!("{name} names {outer}")));
    }
    none(found);
}

#[test]
fn generated_code_has_at_most_150_lines_a_resource_and_no_behaviour() {
    let files = generated();
    assert!(files.len() > 7, "there are {} generated files", files.len());
    let mut found = Vec::new();
    for (name, text) in files {
        let lines = text.lines().count();
        if lines > 150 {
            found.push(format!("{name} has {lines} lines"));
        }
        // The `impl Future` in the signature of a behaviour does not count.
        let text = text.replace("impl Future", "Future");
        let words = Source { path: name.clone(), text }.words_outside_texts();
        let deciding = ["if", "match", "for", "while", "loop", "let", "impl"];
        found.extend(deciding.iter().filter(|word| words.contains(**word)).map(|word| format!("{name} has `{word}`")));
    }
    none(found);
}

#[test]
fn parsing_a_query_sees_no_metadata() {
    let parsers = ["runtime/core/src/query/parse.rs", "runtime/core/src/query/request.rs"];
    let found: Vec<String> = naming("runtime/core/src/query", &["crate::meta", "crate::catalog", "sea_orm"]);
    none(found.into_iter().filter(|line| parsers.iter().any(|parser| line.starts_with(parser))).collect());
}

#[test]
fn only_the_connection_module_begins_transactions() {
    let found: Vec<String> = RUNTIME.iter().flat_map(|folder| naming(folder, &["sea_orm::TransactionTrait"])).collect();
    assert!(!found.is_empty(), "the scan sees too little");
    none(found.into_iter().filter(|line| !line.starts_with("runtime/core/src/db/connection.rs")).collect());
}

#[test]
fn modules_of_the_platform_do_not_name_each_other() {
    let mut found = Vec::new();
    for source in sources("runtime/platform/src") {
        let (own, named) = modules_named(&source, "runtime/platform/src");
        // The clients of other servers are the ground of webhooks, attachments and accounts, leases that of workers.
        // The files of imports lie in the storage of attachments, and arrive by the same form.
        let is_storage = |name: &str| own == "import" && name == "attachment";
        let others =
            named.iter().filter(|name| own != "lib" && !["http_client", "mail", "lease"].contains(&name.as_str()));
        let others = others.filter(|name| !is_storage(name));
        found.extend(others.map(|name| format!("{} names {name}", source.path)));
    }
    none(found);
}

#[test]
fn emit_takes_a_checked_schema_and_reports_nothing() {
    let index = fs::read_to_string(root().join("codegen/src/emit/mod.rs")).unwrap();
    assert!(index.contains("pub fn emit(schema: &Checked<Schema>)"));
    none(naming("codegen/src/emit", &["crate::diagnostic", "crate::syntax", "crate::lower", "crate::source"]));
    let checking =
        |source: &Source| source.names().iter().any(|n| n.starts_with("crate::check") && n != "crate::check::Checked");
    none(sources("codegen/src/emit").into_iter().filter(checking).map(|source| source.path).collect());
}

/// All files that are not generated, tests and benchmarks included.
fn everything() -> Vec<Source> {
    let more = ["build.rs", "codegen/tests", "macros/tests", "migrations/tests", "tests", "examples", "benches"];
    FOLDERS.iter().chain(&more).flat_map(|folder| sources(folder)).collect()
}

/// A file that no module names is not compiled, and its tests never fail.
#[test]
fn every_file_of_the_tests_is_a_module_or_a_target() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("a manifest");
    let files = sources("tests");
    let is_reached = |path: &str| {
        let (folder, file) = path.rsplit_once('/').expect("a path in a folder");
        let (folder, name) = match file.trim_end_matches(".rs") {
            "mod" => folder.rsplit_once('/').expect("a folder of the tests"),
            name => (folder, name),
        };
        let declares = |source: &Source| {
            let path = source.path.trim_end_matches(".rs");
            let main = path.strip_suffix("/main").filter(|folder| *folder != "tests");
            let parent = path.strip_suffix("/mod").or(main).unwrap_or(path);
            let is_parent = if folder == "tests" { !parent["tests/".len()..].contains('/') } else { parent == folder };
            is_parent && source.text.contains(&format!("mod {name};"))
        };
        let is_named = folder == "tests" && manifest.contains(&format!("name = \"{name}\""));
        is_named || manifest.contains(&format!("\"{path}\"")) || files.iter().any(declares)
    };
    none(files.iter().filter(|file| !is_reached(&file.path)).map(|file| file.path.clone()).collect());
}

#[test]
fn no_file_has_more_than_400_lines() {
    let long = everything().into_iter().map(|source| (source.text.lines().count(), source.path));
    none(long.filter(|(lines, _)| *lines > 400).map(|(lines, path)| format!("{path} has {lines} lines")).collect());
}

#[test]
fn every_file_opens_with_a_sentence_that_says_what_it_is_for() {
    let opens = |source: &Source| {
        let lines = source.text.lines().take_while(|line| line.starts_with("//!"));
        let opening: String =
            lines.map(|line| line.trim_start_matches("//!")).take_while(|line| !line.trim().is_empty()).collect();
        opening.trim_end().ends_with(['.', ':'])
    };
    none(everything().into_iter().filter(|source| !opens(source)).map(|source| source.path).collect());
}

/// `.ci/run` checks the types of these scripts with TypeScript.
#[test]
fn every_script_of_the_panel_has_its_types_checked() {
    let folder = root().join("runtime/src/panel/asset");
    let files = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let scripts = files.filter(|path| path.extension().is_some_and(|extension| extension == "js"));
    let is_checked = |path: &Path| fs::read_to_string(path).expect("a script").starts_with("// @ts-check\n");
    none(scripts.filter(|path| !is_checked(path)).map(|path| path.display().to_string()).collect());
}

#[test]
fn no_room_is_called_utils() {
    let names = ["util", "utils", "helper", "helpers", "common", "misc", "shared"];
    let stem = |part: &str| part.trim_end_matches(".rs").to_string();
    let vague = |source: &Source| source.path.split('/').any(|part| names.contains(&stem(part).as_str()));
    none(everything().into_iter().filter(vague).map(|source| source.path).collect());
}
