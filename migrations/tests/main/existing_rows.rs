//! Rows that are older than a rule: the migration warns of those that break it, and stops if a unique set repeats.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use charter_codegen::migration::Plan;
use charter_codegen::snapshot::Snapshot;
use charter_codegen::{Sources, snapshot};
use charter_migrations::prelude::*;

use crate::database::{Database, on_both};
use crate::steps;

on_both! {
    rows_that_break_a_new_rule_are_counted_and_stay
    a_rule_over_converted_and_renamed_columns_is_verified_after_the_change
    a_repeated_value_stops_the_migration_before_any_change
    a_repeated_value_that_the_migration_makes_is_found_at_the_index
}

fn parse(yaml: &str) -> Snapshot {
    snapshot(Sources::from_example(yaml)).unwrap_or_else(|report| panic!("{}", report.render()))
}

/// The log of a test.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Applies a plan, and returns the warnings of broken rules: `rule`, number of rows, lowest id.
async fn warnings(database: &Database, plan: &Plan) -> Vec<String> {
    assert!(plan.unsupported.is_empty(), "{:?}", plan.unsupported);
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    let guard = tracing::subscriber::set_default(subscriber);
    steps::up(&SchemaManager::new(&database.connection), plan).await.unwrap();
    drop(guard);
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let lines = text.lines().filter_map(|line| {
        let (before, after) =
            line.split_once("rows break a new rule; they stay as they are until they are written ")?;
        assert!(before.contains("WARN"), "{line}");
        Some(after.to_owned())
    });
    lines.collect()
}

const MAKERS: &str = "# resources/maker.yaml\nresource: maker\nfields:\n  open: { type: boolean, required: true }\n";

/// The fields of `part`, with the rules that each case adds.
fn part(rules: &[(&str, &str)], checks: &str) -> Snapshot {
    let fields = [
        ("size", "type: integer, nullable: true"),
        ("price", "type: 'decimal(8, 2)', nullable: true, max: 100"),
        ("code", "type: string(9), nullable: true"),
        ("other", "type: string(9), nullable: true"),
        ("made_on", "type: date, nullable: true"),
        ("sold_on", "type: date, nullable: true"),
        ("maker_id", "type: ref(maker), nullable: true"),
    ];
    let fields = fields.map(|(name, kind)| {
        let rules: String = rules.iter().filter(|(of, _)| *of == name).map(|(_, rule)| format!(", {rule}")).collect();
        // A bound replaces the one of the field.
        let kind = if rules.contains("max:") { kind.replace(", max: 100", "") } else { kind.to_owned() };
        format!("  {name}: {{ {kind}{rules} }}\n")
    });
    parse(&format!("{MAKERS}# resources/part.yaml\nresource: part\ndelete: soft\nfields:\n{}{checks}", fields.concat()))
}

/// Rules with the number of rows that break them, and the lowest id of these.
const RULES: &[((&str, &str), &str, i64, i64)] = &[
    (("size", "min: 5"), "size min: 5", 2, 1),
    (("size", "above: 4"), "size above: 4", 2, 1),
    (("size", "below: 9"), "size below: 9", 1, 3),
    (("price", "max: 1.50"), "price max: 1.50", 1, 2),
    (("code", "min_length: 2"), "code min_length: 2", 1, 1),
    (("code", "differs_from: other"), "code differs_from: other", 1, 1),
    (("code", "matches_field: other"), "code matches_field: other", 2, 2),
    (("sold_on", "after: made_on"), "sold_on after: made_on", 2, 1),
    (("sold_on", "not_before: made_on"), "sold_on not_before: made_on", 1, 2),
    (("sold_on", "required_when: size > 2"), "sold_on required_when: size > 2", 1, 3),
    (("maker_id", "where: open"), "maker_id where: open", 2, 2),
];

async fn rows_that_break_a_new_rule_are_counted_and_stay(database: Database) {
    let before = part(&[], "");
    let manager = SchemaManager::new(&database.connection);
    steps::up(&manager, &Plan::between(&Snapshot::default(), &before)).await.unwrap();
    for open in ["TRUE", "FALSE"] {
        database
            .run(&format!("INSERT INTO makers (open, created_at, updated_at) VALUES ({open}, NOW, NOW)"))
            .await
            .unwrap();
    }
    let (low, high) = if database.is_postgres() { ("1.50", "1.51") } else { ("150", "151") };
    let rows = [
        format!("1, {low}, 'a', 'a', '2026-03-02', '2026-03-02', 1, NULL"),
        format!("4, {high}, 'ab', 'c', '2026-03-02', '2026-03-01', 2, NULL"),
        "9, NULL, 'abc', NULL, NULL, NULL, 2, NULL".to_owned(),
        // Nulls break no rule, and deleted rows do not count.
        "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL".to_owned(),
        format!("1, {high}, 'a', 'a', '2026-03-02', '2026-03-01', 2, NOW"),
    ];
    for row in rows {
        let columns = "size, price, code, other, made_on, sold_on, maker_id, deleted_at, created_at, updated_at";
        database.run(&format!("INSERT INTO parts ({columns}) VALUES ({row}, NOW, NOW)")).await.unwrap();
    }
    let content = "SELECT CAST(count(*) AS text) || coalesce(CAST(sum(price) AS text), '') FROM parts";
    let content = (content, database.text(content).await);
    for (added, rule, rows, id) in RULES {
        let after = part(&[*added], "");
        let plan = Plan::between(&before.kept(), &after);
        let expected = [format!("table=\"parts\" rule=\"{rule}\" rows={rows} example_id={id}")];
        assert_eq!(warnings(&database, &plan).await, expected);
        assert!(Plan::between(&after.kept(), &after).is_empty());
        steps::down(&manager, &plan).await.unwrap();
    }
    let checked = part(&[], "checks: [{ that: size < 9 and code != 'ab' }]\n");
    let plan = Plan::between(&before.kept(), &checked);
    let rule = "checks: size < 9 and code != 'ab'";
    let expected = [format!("table=\"parts\" rule=\"{rule}\" rows=2 example_id=2")];
    assert_eq!(warnings(&database, &plan).await, expected);
    // Nothing to warn of: the rule holds for all rows.
    assert_eq!(warnings(&database, &Plan::between(&before.kept(), &part(&[("size", "max: 9")], ""))).await, [""; 0]);
    assert_eq!(database.text(content.0).await, content.1);
}

async fn a_rule_over_converted_and_renamed_columns_is_verified_after_the_change(database: Database) {
    let thing = |name: &str, fields: &str| parse(&format!("# resources/{name}.yaml\nresource: {name}\n{fields}"));
    let before = thing("thing", "fields:\n  size: { type: integer, default: 3 }\n");
    let after = thing(
        "item",
        "renamed_from: thing\nfields:\n  width: { type: 'decimal(6, 2)', default: 3, renamed_from: size, min: 2.5 }\n  \
         high: { type: integer, required: true, backfill: 1 }\nchecks: [{ that: high > width }]\n",
    );
    let manager = SchemaManager::new(&database.connection);
    steps::up(&manager, &Plan::between(&Snapshot::default(), &before)).await.unwrap();
    database
        .run("INSERT INTO things (size, created_at, updated_at) VALUES (2, NOW, NOW), (3, NOW, NOW)")
        .await
        .unwrap();
    let expected = [
        "table=\"items\" rule=\"checks: high > width\" rows=2 example_id=1",
        "table=\"items\" rule=\"width min: 2.5\" rows=1 example_id=1",
    ];
    assert_eq!(warnings(&database, &Plan::between(&before.kept(), &after)).await, expected);
}

/// `set` is the set that is added; a secret field shows that no value is in the message.
fn member(set: &str, more: &str) -> Snapshot {
    let fields = "fields:\n  pin: { type: string(9), nullable: true, access: secret }\n  \
                  team: { type: integer, default: 0 }\n  left_at: { type: timestamp, nullable: true }\n";
    parse(&format!("# resources/fellow.yaml\nresource: fellow\n{fields}{more}{set}"))
}

async fn a_repeated_value_stops_the_migration_before_any_change(database: Database) {
    let before = member("", "");
    let manager = SchemaManager::new(&database.connection);
    // `charter_fold`, by which PostgreSQL compares texts without regard to case.
    charter_migrations::platform()[0].up(&manager).await.unwrap();
    steps::up(&manager, &Plan::between(&Snapshot::default(), &before)).await.unwrap();
    let insert = "INSERT INTO fellows (pin, team, left_at, created_at, updated_at) VALUES";
    database
        .run(&format!("{insert} ('Abc', 1, NULL, NOW, NOW), ('ab', 1, NULL, NOW, NOW), (NULL, 1, NULL, NOW, NOW)"))
        .await
        .unwrap();
    database
        .run(&format!("{insert} ('aBC', 1, NULL, NOW, NOW), ('ab', 1, NOW, NOW, NOW), ('Abc', 2, NULL, NOW, NOW)"))
        .await
        .unwrap();
    let condition = " among the rows that meet the condition of the set";
    for (set, values, condition, ids) in [
        ("{ fields: [pin], ignore_case: true }", "pin: 2 values repeat", "", "1 and 6"),
        ("[team, pin]", "team, pin: 1 value repeats", "", "2 and 5"),
        (
            "{ fields: [pin], ignore_case: true, where: team = 1 and left_at is null }",
            "pin: 1 value repeats",
            condition,
            "1 and 4",
        ),
    ] {
        let unchanged = database.tables().await;
        let added = member(&format!("unique: [{set}]\n"), "  colour: { type: text, nullable: true }\n");
        let plan = Plan::between(&before.kept(), &added);
        let error = steps::up(&manager, &plan).await.unwrap_err().to_string();
        let expected = format!(
            "fellows: the rows cannot be unique by {values}{condition}, for example in the rows with the ids {ids}; change or delete one of each, and migrate again"
        );
        assert!(error.contains(&expected) && !error.contains("bc"), "{error}");
        assert_eq!(database.tables().await, unchanged, "{set}");
    }
    database.run("DELETE FROM fellows WHERE id IN (4, 5, 6)").await.unwrap();
    let added = member("unique: [{ fields: [pin], ignore_case: true, where: left_at is null }]\n", "");
    steps::up(&manager, &Plan::between(&before.kept(), &added)).await.unwrap();
    database.run(&format!("{insert} ('ABC', 1, NULL, NOW, NOW)")).await.unwrap_err();
}

/// The backfill makes the values equal, which the first step cannot know.
async fn a_repeated_value_that_the_migration_makes_is_found_at_the_index(database: Database) {
    let before = member("", "");
    let manager = SchemaManager::new(&database.connection);
    steps::up(&manager, &Plan::between(&Snapshot::default(), &before)).await.unwrap();
    database
        .run("INSERT INTO fellows (team, created_at, updated_at) VALUES (1, NOW, NOW), (1, NOW, NOW)")
        .await
        .unwrap();
    let filled = "  level: { type: integer, required: true, backfill: 7 }\n";
    let plan = Plan::between(&before.kept(), &member("unique: [[team, level]]\n", filled));
    assert!(!plan.lines().concat().contains("check_unique"), "{:?}", plan.lines());
    let error = steps::up(&manager, &plan).await.unwrap_err().to_string();
    assert!(
        error.contains("unique by team, level: 1 value repeats, for example in the rows with the ids 1 and 2"),
        "{error}"
    );
    database.run("DELETE FROM fellows WHERE id = 2").await.unwrap();
    steps::online(&manager, &plan).await.unwrap();
}
