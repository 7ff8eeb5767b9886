//! Columns whose default is an expression, for existing rows: a new one, one that another names, one over another table, and one
//! that becomes not null, by the steps and by the SQL of `--dry-run`.

use charter_codegen::migration::Plan;
use charter_codegen::snapshot::Snapshot;
use charter_codegen::{Sources, snapshot};

use crate::computed_columns::apply;
use crate::database::{Database, on_both};

on_both! {
    existing_rows_get_the_default_of_a_new_column
    default_of_the_request_needs_a_backfill
}

fn parse(table: &str, fields: &[&str]) -> Snapshot {
    let room = format!(
        "# resources/room.yaml\nresource: room\ntable: rooms_of_{table}\nfields:\n  price: {{ type: integer, required: true, max: 1000, min: 0 }}\n"
    );
    let head = format!("# resources/stay.yaml\nresource: stay\ntable: {table}\nfields:\n");
    let fields: String = fields.iter().map(|field| format!("  {field}\n")).collect();
    let sources = Sources::from_example(&format!("{room}{head}{fields}"));
    snapshot(sources).unwrap_or_else(|report| panic!("{}", report.render()))
}

const ROOM: &str = "room_id: { type: ref(room), required: true }";
const STARTS: &str = "starts_on: { type: date, required: true }";
const NIGHTS: &str = "nights: { type: integer, required: true, max: 100, min: 0 }";

async fn existing_rows_get_the_default_of_a_new_column(database: Database) {
    for as_sql in [false, true] {
        let table = format!("stays_{as_sql}");
        let guests = "guests: { type: integer, nullable: true, max: 9, min: 0 }";
        let before = parse(&table, &[ROOM, STARTS, NIGHTS, guests]);
        apply(&database, &Plan::between(&Snapshot::default(), &before), false).await;
        let rows = [
            format!("INSERT INTO rooms_of_{table} (price, created_at, updated_at) VALUES (70, NOW, NOW)"),
            format!(
                "INSERT INTO {table} (room_id, starts_on, nights, guests, created_at, updated_at) \
                 SELECT id, '2026-03-01', 2, NULL, NOW, NOW FROM rooms_of_{table}"
            ),
            format!(
                "INSERT INTO {table} (room_id, starts_on, nights, guests, created_at, updated_at) \
                 SELECT id, '2026-04-01', 3, 5, NOW, NOW FROM rooms_of_{table}"
            ),
        ];
        for row in rows {
            database.run(&row).await.unwrap();
        }
        let after = parse(
            &table,
            &[
                ROOM,
                STARTS,
                NIGHTS,
                "guests: { type: integer, default: nights + 1, max: 101, min: 0 }",
                "a_total: { type: integer, default: price * nights }",
                "price: { type: integer, default: room.price, max: 1000, min: 0 }",
                "ends_on: { type: date, default: starts_on + 7 days }",
                "note: { type: text, nullable: true, default: { value: \"if(nights > 2, 'long', null)\" } }",
            ],
        );
        apply(&database, &Plan::between(&before, &after), as_sql).await;
        let columns =
            "guests || ' ' || price || ' ' || a_total || ' ' || CAST(ends_on AS text) || ' ' || coalesce(note, '-')";
        let found = database.texts(&format!("SELECT {columns} FROM {table} ORDER BY id")).await;
        assert_eq!(found, ["3 70 140 2026-03-08 -", "5 70 210 2026-04-08 long"], "as SQL: {as_sql}");
        let refused = database.run(&format!("UPDATE {table} SET price = NULL")).await;
        assert!(refused.is_err(), "the column is not null");
        assert!(Plan::between(&after.kept(), &after).is_empty());
    }
}

async fn default_of_the_request_needs_a_backfill(_: Database) {
    let before = parse("stays", &[ROOM, STARTS]);
    let plan = |field: &str| Plan::between(&before, &parse("stays", &[ROOM, STARTS, field]));
    let refused = plan("paid_on: { type: date, default: today + 1 day }");
    assert_eq!(refused.unsupported.len(), 1);
    assert!(refused.unsupported[0].message.starts_with("stay.paid_on: existing rows need a value"));
    assert!(plan("paid_on: { type: date, default: today + 1 day, backfill: now }").unsupported.is_empty());
    assert!(plan("paid_on: { type: date, nullable: true, default: today + 1 day }").unsupported.is_empty());
}
