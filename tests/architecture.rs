//! The invariants of `docs/architecture.md`: what depends on what, what names what, and how files are kept.

mod workspace;

use std::collections::BTreeSet;
use std::fs;

use workspace::{Packages, Source, root, sources};

/// The packages of this workspace, the examples left out.
const OURS: &[&str] =
    &["charter", "charter-codegen", "charter-macros", "charter-migrations", "charter-model", "charter-runtime"];
/// The folders of their code.
const FOLDERS: &[&str] = &["src", "codegen/src", "macros/src", "migrations/src", "runtime/model/src", "runtime/src"];
/// The package that codegen, the macros and the runtime share.
const MODEL: &str = "charter-model";

/// Fails with every line, so that all is told at once.
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
    assert_eq!(ours, [&"charter-macros", &MODEL]);
}

#[test]
fn migrations_depend_on_seaorms_migrations_alone_and_read_no_yaml() {
    let packages = Packages::read();
    let declared = packages.member("charter-migrations").declares("normal");
    assert_eq!(declared.into_iter().collect::<Vec<_>>(), ["sea_orm_migration"]);
    // The list of the migrations in its own folder is all that the package includes.
    let list = r#"include!(concat!(env!("OUT_DIR"), "/migrations.rs"))"#;
    let read = |source: &Source| {
        let code = source.code().replace(list, "");
        ["include_str!", "include!", "std::fs", "yaml"].iter().any(|word| code.contains(word))
    };
    none(sources("migrations/src").into_iter().filter(read).map(|source| source.path).collect());
}

#[test]
fn an_application_depends_on_the_runtime_and_its_migrations_and_is_built_by_codegen() {
    let packages = Packages::read();
    for name in ["charter", "lending"] {
        let package = packages.member(name);
        let ours =
            |kind| package.declares(kind).into_iter().filter(|name| name.starts_with("charter_")).collect::<Vec<_>>();
        assert_eq!(ours("normal"), ["charter_migrations", "charter_runtime"], "{name}");
        assert_eq!(ours("build"), ["charter_codegen"], "{name}");
    }
}

/// The names of the service's resources are those of its YAML files. A caller, a setting and what else the platform has
/// are words of the runtime's own.
#[test]
fn the_runtime_names_no_resource_of_a_domain() {
    let mut names: BTreeSet<String> = BTreeSet::new();
    for folder in ["resources", "examples/lending/resources"] {
        for file in fs::read_dir(root().join(folder)).unwrap().map(Result::unwrap) {
            let name = file.file_name().to_string_lossy().split('.').next().unwrap_or_default().to_string();
            if name != "settings" {
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
    for source in sources("runtime/src") {
        let words = source.words();
        found.extend(names.intersection(&words).map(|name| format!("{} says `{name}`", source.path)));
    }
    none(found);
}

/// What `build.rs` wrote for the records service.
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
        // The signature of a behaviour has `impl Future`, which is none.
        let text = text.replace("impl Future", "Future");
        let words = Source { path: name.clone(), text }.words_outside_texts();
        let deciding = ["if", "match", "for", "while", "loop", "let", "impl"];
        found.extend(deciding.iter().filter(|word| words.contains(**word)).map(|word| format!("{name} has `{word}`")));
    }
    none(found);
}

#[test]
fn the_query_knows_neither_http_nor_writing_nor_who_asks() {
    let above =
        ["salvo", "crate::ops", "crate::auth", "crate::server", "crate::view", "crate::outbox", "crate::command"];
    none(naming("runtime/src/query", &above));
}

#[test]
fn parsing_a_query_sees_no_metadata() {
    let parsers = ["runtime/src/query/parse.rs", "runtime/src/query/request.rs"];
    let found: Vec<String> = naming("runtime/src/query", &["crate::meta", "crate::catalog", "sea_orm"]);
    none(found.into_iter().filter(|line| parsers.iter().any(|parser| line.starts_with(parser))).collect());
}

#[test]
fn salvo_is_known_where_http_is() {
    let rooms = [
        "runtime/src/server/",
        "runtime/src/panel/",
        "runtime/src/ops/resource_handler.rs",
        "runtime/src/auth/authenticate.rs",
        "runtime/src/error.rs",
    ];
    let found = naming("runtime/src", &["salvo"]);
    assert!(found.len() >= rooms.len(), "the scan sees too little: {found:?}");
    none(found.into_iter().filter(|line| !rooms.iter().any(|room| line.starts_with(room))).collect());
}

#[test]
fn a_transaction_of_the_pool_is_begun_where_nobody_can_leave_it_half_begun() {
    let found = naming("runtime/src", &["sea_orm::TransactionTrait"]);
    assert!(!found.is_empty(), "the scan sees too little");
    none(found.into_iter().filter(|line| !line.starts_with("runtime/src/db/connection.rs")).collect());
}

#[test]
fn the_ground_of_the_runtime_names_nothing_above_it() {
    let ground: &[(&str, &[&str])] = &[
        ("meta", &[]),
        ("number", &[]),
        ("error", &[]),
        ("decimal", &["number"]),
        ("resource", &["field_type", "meta"]),
        ("metrics", &[]),
        ("db", &["error", "metrics", "number"]),
        ("field_type", &["db", "decimal", "error", "meta"]),
        ("record", &["catalog", "db", "error", "field_type", "meta", "number", "resource"]),
    ];
    let mut found = Vec::new();
    for (room, allowed) in ground {
        for source in sources("runtime/src").into_iter().filter(|s| is_in(&s.path, &format!("runtime/src/{room}"))) {
            let other = |path: &String| {
                let module = path.strip_prefix("crate::")?.split("::").next()?.to_string();
                (module != *room && !allowed.contains(&module.as_str())).then_some(module)
            };
            let others: BTreeSet<String> = source.names().iter().filter_map(other).collect();
            found.extend(others.iter().map(|module| format!("{} names {module}", source.path)));
        }
    }
    none(found);
}

fn is_in(path: &str, room: &str) -> bool {
    path.strip_prefix(room).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

#[test]
fn the_platforms_rooms_do_not_know_each_other() {
    let rooms = ["view", "webhook", "attachment"];
    let mut found = Vec::new();
    for room in rooms {
        let others: Vec<String> =
            rooms.iter().filter(|other| **other != room).map(|other| format!("crate::{other}")).collect();
        let others: Vec<&str> = others.iter().map(String::as_str).collect();
        found.extend(naming(&format!("runtime/src/{room}"), &others));
    }
    none(found);
}

#[test]
fn what_is_emitted_was_checked_and_is_judged_no_more() {
    let index = fs::read_to_string(root().join("codegen/src/emit/mod.rs")).unwrap();
    assert!(index.contains("pub fn emit(schema: &Checked<Schema>)"));
    none(naming("codegen/src/emit", &["crate::diagnostic", "crate::syntax", "crate::lower", "crate::source"]));
    let checking =
        |source: &Source| source.names().iter().any(|n| n.starts_with("crate::check") && n != "crate::check::Checked");
    none(sources("codegen/src/emit").into_iter().filter(checking).map(|source| source.path).collect());
}

/// Everything that people write, tests and benchmarks included.
fn everything() -> Vec<Source> {
    let more = ["build.rs", "codegen/tests", "macros/tests", "migrations/tests", "tests", "examples", "benches"];
    FOLDERS.iter().chain(&more).flat_map(|folder| sources(folder)).collect()
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

#[test]
fn no_room_is_called_utils() {
    let names = ["util", "utils", "helper", "helpers", "common", "misc", "shared"];
    let stem = |part: &str| part.trim_end_matches(".rs").to_string();
    let vague = |source: &Source| source.path.split('/').any(|part| names.contains(&stem(part).as_str()));
    none(everything().into_iter().filter(vague).map(|source| source.path).collect());
}
