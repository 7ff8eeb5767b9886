//! Generated migrations, as Rust and as SQL.
//!
//! The other files of `migrations/tests/generated` are those from its `before.yaml` to its `after.yaml`; `UPDATE=1` writes
//! the differences. The tests of `charter-migrations` compile and run them.

mod compare;

use std::fs;
use std::path::{Path, PathBuf};

use charter_codegen::migration::checks::checks;
use charter_codegen::migration::sql::{Dialect, statements};
use charter_codegen::migration::table::Table;
use charter_codegen::migration::{Plan, Step, rust};
use charter_codegen::snapshot::Snapshot;
use charter_codegen::{Sources, snapshot};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../migrations/tests/generated")
}

fn taken(yaml: &str) -> Snapshot {
    snapshot(Sources::from_example(yaml)).unwrap_or_else(|report| panic!("{}", report.render()))
}

fn read(name: &str) -> Snapshot {
    taken(&fs::read_to_string(folder().join(name)).unwrap())
}

/// The reasons why a migration cannot be generated, without places.
fn refused(before: &Snapshot, after: &Snapshot) -> Vec<String> {
    Plan::between(before, after).unsupported.into_iter().map(|refusal| refusal.message).collect()
}

fn sql(plan: &Plan, dialect: Dialect) -> String {
    let parts = [(&plan.whole, false), (&plan.online, true)];
    let steps = parts.into_iter().flat_map(|(steps, online)| steps.iter().map(move |step| (step, online)));
    let lines = steps.flat_map(|(step, online)| {
        let checks = checks(step, dialect).into_iter().map(|check| format!("-- {check}"));
        checks.chain(statements(step, dialect, online)).collect::<Vec<_>>()
    });
    lines.map(|line| format!("{line};\n")).collect()
}

#[test]
fn generated_files_match_the_folder() {
    let (before, after) = (read("before.yaml"), read("after.yaml"));
    let begin = Plan::between(&Snapshot::default(), &before);
    let plan = Plan::between(&before.kept(), &after);
    assert!(plan.unsupported.is_empty() && begin.online.is_empty() && begin.lost.is_empty());
    assert_eq!(plan.lost, ["thing.old: the column `old` and its values", "gone: the table `gones` and all its rows"]);
    let file = |title, steps: &[Step], online| rust::formatted(&rust::file(title, steps, online), &folder());
    let files = [
        ("m20261121_000001_begin.rs", file("Begin.", &begin.whole, false)),
        ("m20261121_000002_change.rs", file("Change.", &plan.whole, false)),
        ("m20261121_000003_change_online.rs", file("Change.", &plan.online, true)),
        ("sqlite.sql", sql(&plan, Dialect::Sqlite)),
        ("postgres.sql", sql(&plan, Dialect::Postgres)),
    ];
    let differences: Vec<String> =
        files.iter().filter_map(|(name, text)| compare::with_file(&folder().join(name), text)).collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn every_generated_file_is_valid_rust() {
    let (before, after) = (read("before.yaml"), read("after.yaml"));
    for (then, now) in [(&before, &after), (&after, &before)] {
        let plan = Plan::between(&then.kept(), now);
        for (steps, online) in [(&plan.whole, false), (&plan.online, true)] {
            let text = rust::file("Change.", steps, online);
            syn::parse_file(&text).unwrap_or_else(|problem| panic!("{problem}\n{text}"));
        }
    }
}

/// A variable with such a name would shadow a function that the next line calls.
#[test]
fn table_variables_do_not_shadow_functions() {
    let library = include_str!("../../migrations/src/lib.rs");
    assert!(library.contains("pub use crate::column::*;") && library.contains("pub use crate::order_index::by;"));
    let columns = include_str!("../../migrations/src/column.rs");
    let words = columns.lines().filter_map(|line| line.strip_prefix("pub fn ")?.split('(').next());
    let words: Vec<&str> = words.chain(["by", "manager", "type", "string_table"]).collect();
    assert!(words.contains(&"string"), "{words:?}");
    let after =
        taken("# resources/string_table.yaml\nresource: string_table\nfields:\n  a: { type: text, nullable: true }\n");
    let made = Plan::between(&Snapshot::default(), &after).whole;
    for word in words {
        let Some(Step::Create(table)) = made.first() else { panic!("{made:?}") };
        let text = rust::file("Begin.", &[Step::Create(Table { name: word.to_owned(), ..table.clone() })], false);
        assert!(text.contains(&format!("let {word}_table = Table::on(manager, \"{word}\")")), "{text}");
    }
}

#[test]
fn changes_without_a_value_for_existing_rows_are_unsupported() {
    let before = taken(
        "# resources/a.yaml\nresource: a\nfields:\n  b: { type: text, nullable: true }\n  c: { type: text, nullable: true }\n",
    );
    let refused =
        |fields: &str| refused(&before, &taken(&format!("# resources/a.yaml\nresource: a\nfields:\n{fields}")));
    let b = "  b: { type: text, nullable: true }\n";
    let required = refused(&format!("{b}  c: {{ type: text, required: true }}\n"));
    assert_eq!(required, ["a.c: rows where it is null need a value: add `backfill: <value>`, or a literal `default`"]);
    let new = refused(&format!("{b}  c: {{ type: text, nullable: true }}\n  d: {{ type: text, required: true }}\n"));
    assert_eq!(
        new,
        ["a.d: existing rows need a value: add `backfill: <value>`, a literal `default` or `nullable: true`"]
    );
    assert!(refused(&format!("{b}  c: {{ type: text, required: true, backfill: none }}\n")).is_empty());
    // One value cannot fill all rows: they are filled earlier, or the migration counts the rows without a value.
    let unique = refused(&format!(
        "{b}  c: {{ type: text, nullable: true }}\n  d: {{ type: uuid, default: hook }}\nhooks: [before_save]\n"
    ));
    let help = "add `nullable: true`, fill the rows, and require it in the next migration";
    assert_eq!(unique, [format!("a.d: existing rows need a value: {help}")]);
    let before = taken(
        "# resources/a.yaml\nresource: a\nfields:\n  b: { type: uuid, nullable: true }\n  c: { type: ref(a | user), nullable: true }\n",
    );
    let after = taken(
        "# resources/a.yaml\nresource: a\nfields:\n  b: { type: uuid, default: hook }\n  c: { type: ref(a | user), required: true }\nhooks: [before_save]\n",
    );
    let plan = Plan::between(&before, &after);
    assert!(plan.unsupported.is_empty(), "{:?}", plan.unsupported);
    assert!(plan.online.iter().all(|step| matches!(step, Step::Require { .. })) && plan.online.len() == 3, "{plan:?}");
}

#[test]
fn the_help_for_a_missing_value_depends_on_the_type() {
    let before = "# resources/cat.yaml\nresource: cat\n# resources/a.yaml\nresource: a\n";
    let refused = |before: &str, after: &str| {
        let mut refused = refused(&taken(before).kept(), &taken(after));
        assert_eq!(refused.len(), 1, "{refused:?}");
        refused.remove(0)
    };
    let new = |field: &str| refused(before, &format!("{before}fields:\n  f: {{ {field} }}\n"));
    let told = |help: &str| format!("a.f: existing rows need a value: add {help} or `nullable: true`");
    assert_eq!(new("type: ref(cat), required: true"), told("`backfill: <id>`"));
    assert_eq!(new("type: ref(user), default: caller"), told("`backfill: <id>`"));
    assert_eq!(new("type: timestamp, default: now"), told("`backfill: now`"));
    assert_eq!(new("type: date, required: true"), told("`backfill: now`"));
    assert_eq!(new("type: boolean, required: true"), told("`backfill: <value>`, a literal `default`"));
    let tightened = |field: &str| {
        let with = |end: &str| format!("{before}fields:\n  f: {{ type: {field}, {end}: true }}\n");
        refused(&with("nullable"), &with("required"))
    };
    assert_eq!(tightened("date"), "a.f: rows where it is null need a value: add `backfill: now`");
    // The field of `under` takes no options.
    let under = format!("{before}under: cat\n");
    let help = "declare `cat_id: { type: ref(cat), nullable: true }` without `under` first, fill it, then add `under`";
    assert_eq!(refused(before, &under), format!("a.cat_id: existing rows need a value: {help}"));
    let declared = |end: &str| format!("{before}fields:\n  cat_id: {{ type: ref(cat), {end}: true }}\n");
    for filled in ["nullable", "required"] {
        assert!(Plan::between(&taken(&declared(filled)).kept(), &taken(&under)).unsupported.is_empty(), "{filled}");
    }
}

/// The report describes a type that has no word in YAML.
#[test]
fn a_polymorphic_reference_is_reported_as_one() {
    let with =
        |kind: &str| format!("# resources/a.yaml\nresource: a\nfields:\n  of_id: {{ type: {kind}, required: true }}\n");
    let (one, several) = (taken(&with("uuid")), taken(&with("ref(a | user)").replace("of_id", "of")));
    let told = refused(&one.kept(), &several).join("\n");
    assert!(told.contains("was `uuid` and is the id of a `ref` to several resources"), "{told}");
}

#[test]
fn an_unknown_former_name_is_unsupported() {
    let before = "# resources/thing.yaml\nresource: thing\nfields:\n  a: { type: text, nullable: true }\n  \
                  b: { type: text, nullable: true }\n# resources/place.yaml\nresource: place\n";
    let refused = |changes: &[(&str, &str)]| {
        let after = changes.iter().fold(before.to_owned(), |text, (from, to)| text.replace(from, to));
        self::refused(&taken(before).kept(), &taken(&after))
    };
    let (a, b) = ("  a: { type: text, nullable: true }\n", "  b: { type: text, nullable: true }\n");
    let renamed = |from: &str| format!("  b: {{ type: text, nullable: true, renamed_from: {from} }}\n");
    let again = "`a` cannot take the name of another field in the migration that removes it";
    let first = |changes: &[(&str, &str)], expected: &str| {
        let refused = refused(changes);
        assert!(refused.len() == 1 && refused[0].starts_with(expected), "{refused:?}");
    };
    first(&[(a, ""), (b, &renamed("a"))], &format!("thing.b: {again}"));
    let new = |from: &str| format!("  name: {{ type: text, nullable: true, renamed_from: {from} }}\n");
    let none = "thing.name: the last migration has no field `aa` to rename: did you mean `a`?";
    first(&[(a, &new("aa"))], none);
    let none = "thing.name: the last migration has no field `colour` to rename: remove the key for a new field";
    first(&[(a, &new("colour"))], none);
    let item = |from: &str| format!("resource: item\nrenamed_from: {from}\n");
    let things = ("# resources/thing.yaml", "# resources/item.yaml");
    first(&[things, ("resource: thing\n", &item("thin"))], "item: the last migration has no resource `thin`");
    let another = ("# resources/place.yaml\nresource: place\n", "");
    let placed = ("resource: thing\n", "resource: place\nrenamed_from: thing\n");
    first(
        &[another, ("# resources/thing.yaml", "# resources/place.yaml"), placed],
        "place: `thing` cannot take the name",
    );
    // Renames that are done already, and former names that are unchanged.
    assert!(refused(&[(b, &renamed("c"))]).is_empty());
    assert!(refused(&[(a, &new("a"))]).is_empty());
    assert!(refused(&[things, ("resource: thing\n", &item("thing"))]).is_empty());
}

#[test]
fn the_parent_field_follows_a_renamed_parent() {
    let part = "# resources/part.yaml\nresource: part\nfields:\n  name: { type: string(9), required: true }\nindexes: [[whole_id, name]]\n";
    let before = taken(&format!(
        "# resources/whole.yaml\nresource: whole\n{}",
        part.replace("fields:", "under: whole\nfields:")
    ));
    let renamed = "# resources/sum.yaml\nresource: sum\nrenamed_from: whole\n";
    let part = part.replace("fields:", "under: sum\nfields:").replace("whole_id", "sum_id");
    let after = taken(&format!("{renamed}{part}"));
    let plan = Plan::between(&before.kept(), &after);
    assert!(plan.unsupported.is_empty() && plan.lost.is_empty(), "{plan:?}");
    let lines = plan.lines();
    assert!(lines.contains(&"parts.rename_column(\"whole_id\", \"sum_id\")".to_owned()), "{lines:?}");
    assert!(Plan::between(&after.kept(), &after).is_empty());
    // A resource with a new `under` gets a new field.
    let apart = taken(&format!("{renamed}# resources/part.yaml\nresource: part\n"));
    let nested = taken(&format!("{renamed}# resources/part.yaml\nresource: part\nunder: sum\n"));
    let refused = refused(&apart.kept(), &nested);
    assert!(refused.len() == 1 && refused[0].starts_with("part.sum_id: existing rows need a value"), "{refused:?}");
}

/// The constraint is replaced and then validated without locking out writers.
#[test]
fn a_foreign_key_is_replaced_while_clients_write() {
    let yaml = "# resources/whole.yaml\nresource: whole\n# resources/part.yaml\nresource: part\noperations: []\nfields:\n  \
                whole_id: { type: ref(whole), required: true }\n";
    let parts = yaml.replace("resource: whole\n", "resource: whole\ndetail:\n  parts: { many: part }\n");
    let plan = Plan::between(&taken(yaml).kept(), &taken(&parts));
    assert!(plan.whole.is_empty(), "{plan:?}");
    let change = "change(reference(\"whole_id\", \"wholes\"), reference(\"whole_id\", \"wholes\").cascade())";
    // The reference gets an index.
    assert_eq!(plan.lines(), [format!("parts.{change}"), "parts.order(by(\"whole_id\"))".to_owned()]);
}

#[test]
fn undoing_a_rename_restores_the_index_name() {
    let yaml = "# resources/a.yaml\nresource: a\nfields:\n  b: { type: integer, required: true }\nindexes: [[b]]\n";
    let renamed =
        yaml.replace("  b: { type: integer,", "  c: { type: integer, renamed_from: b,").replace("[[b]]", "[[c]]");
    let down = Plan::undo(&Plan::between(&taken(yaml).kept(), &taken(&renamed)).whole);
    let sql: Vec<String> = down.iter().flat_map(|step| statements(step, Dialect::Sqlite, false)).collect();
    assert_eq!(sql[..2], ["DROP INDEX \"as_c_idx\"", "CREATE INDEX \"as_b_idx\" ON \"as\" (\"c\")"]);
}

/// The marks are dropped last: until then, rows that repeat a unique value are counted without the deleted ones.
#[test]
fn deletion_marks_are_dropped_after_unique_checks() {
    let yaml = "# resources/a.yaml\nresource: a\ndelete: soft\nfields:\n  b: { type: integer, required: true, unique: true }\n  \
                c: { type: integer, required: true }\nindexes: [[c]]\n";
    let plan = Plan::between(&taken(yaml).kept(), &taken(&yaml.replace("delete: soft", "table: others")));
    // All rows count, because deleted ones reappear.
    assert_eq!(rust::lines(&plan.whole)[0], "as_table.check_unique(set(&[\"b\"]))");
    assert_eq!(rust::lines(&plan.whole)[4..], ["others.unique(&[\"b\"])", "others.remove(\"deleted_at\")"]);
    assert_eq!(rust::lines(&plan.online), ["others.index(&[\"c\"])"]);
    assert_eq!(plan.lost, ["a.deleted_at: the deletion marks; deleted records reappear"]);
    let down = rust::lines(&Plan::undo(&plan.whole));
    assert!(down[0].starts_with("others.add(timestamp(\"deleted_at\")"), "{down:?}");
}

#[test]
fn tables_that_refer_to_each_other_are_created_and_dropped() {
    let yaml = "# resources/a.yaml\nresource: a\nfields:\n  b_id: { type: ref(b), nullable: true }\n\
                # resources/b.yaml\nresource: b\nfields:\n  a_id: { type: ref(a), nullable: true }\n";
    let both = taken(yaml);
    let made = Plan::between(&Snapshot::default(), &both);
    let kinds = |plan: &Plan| plan.whole.iter().map(|step| matches!(step, Step::Change { .. })).collect::<Vec<_>>();
    assert_eq!(kinds(&made), [false, false, true]);
    assert_eq!(kinds(&Plan::between(&both, &Snapshot::default())), [true, false, false]);
}

/// Lists have an index at every moment.
#[test]
fn a_changed_index_is_created_before_the_old_one_is_dropped() {
    let yaml = |code: &str, indexes: &str| {
        let fields = format!(
            "fields:\n  name: {{ type: string(9), required: true }}\n  code: {{ type: {code}, required: true }}\n"
        );
        taken(&format!("# resources/lamp.yaml\nresource: lamp\nindexes: {indexes}\n{fields}"))
    };
    let before = yaml("integer", "[[name, code]]");
    let plan = |after| {
        let plan = Plan::between(&before.kept(), &after);
        (rust::lines(&plan.whole), rust::lines(&plan.online))
    };
    let (whole, online) = plan(yaml("integer", "[[code, name]]"));
    assert_eq!(whole, [""; 0]);
    let [made, dropped] = online.as_slice() else { panic!("{online:?}") };
    assert!(made.contains("index(&[\"code\", \"name\"])"), "{made}");
    assert!(dropped.contains("drop_index(\"lamps_name_code_idx\")"), "{dropped}");
    // An index without a replacement is dropped first, and so is one whose column changes its type.
    assert!(plan(yaml("integer", "[]")).0[0].contains("drop_index"));
    // An index with a condition on the deletion mark is dropped first too.
    let deleted = yaml("integer", "[[name, code]]\ndelete: soft");
    let hard = Plan::between(&deleted.kept(), &yaml("integer", "[[code, name]]"));
    assert!(!rust::lines(&hard.online).concat().contains("drop_index"), "{hard:?}");
    let (whole, online) = plan(yaml("date", "[[code, name]]"));
    assert!(whole[0].contains("drop_index") && !online.concat().contains("drop_index"), "{whole:?} {online:?}");
}

/// `cargo charter migration` must be run after a change of resources.
#[test]
fn the_snapshots_of_this_repository_match_its_resources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (resources, migrations) in [
        ("resources", "migrations/src/service"),
        ("examples/helpdesk/resources", "examples/helpdesk/migrations"),
        ("examples/lending/resources", "examples/lending/migrations"),
    ] {
        let now = snapshot(Sources::load(&root.join(resources))).unwrap_or_else(|report| panic!("{}", report.render()));
        let kept = Snapshot::read(&root.join(migrations).join("snapshot")).unwrap();
        let difference = Plan::between(&kept, &now).lines().join("\n");
        let help = "`cargo charter migration new`, or `snapshot` where the migration was written by hand";
        assert!(kept == now.kept(), "the snapshot of {resources} is stale: {help}\n{difference}");
    }
}
