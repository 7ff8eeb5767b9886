//! The migrated tables are those of the model, on SQLite and PostgreSQL.

use charter_runtime::db::Dialect;
use charter_testing::{Database, Folder, on_both, tables};
use sea_orm::ConnectionTrait;

on_both!(the_migrated_tables_are_those_of_the_model, changed_tables_are_reported);

async fn the_migrated_tables_are_those_of_the_model(database: Database) {
    let folder = Folder::create();
    let state = tables::open(&charter::app(), database, &folder).await;
    let differences = tables::differences(&state).await;
    assert!(differences.is_empty(), "on {:?}:\n{}", state.db.dialect(), differences.join("\n"));
}

/// Each statement causes the difference that follows it.
async fn changed_tables_are_reported(database: Database) {
    const BOTH: &[(&str, &str)] = &[
        ("CREATE TABLE stray (id integer)", "stray: the table belongs to no resource"),
        ("DROP TABLE settings", "settings: the table is missing"),
        ("ALTER TABLE members ADD COLUMN nickname text", "members.nickname is not in the model"),
        ("ALTER TABLE members DROP COLUMN membership_type", "members.membership_type is missing"),
        ("DROP INDEX tax_classes_name_key", "tax_classes: no index makes name unique"),
        ("DROP INDEX products_barcode_idx", "products: no index begins with barcode"),
    ];
    const POSTGRES: &[(&str, &str)] = &[
        (
            "ALTER TABLE products ALTER COLUMN weight TYPE numeric(10, 2)",
            "products.weight is `numeric(10,2)`, and the model says `numeric(12,4)`",
        ),
        (
            "ALTER TABLE products ALTER COLUMN description SET NOT NULL",
            "products.description is not null, and the model says nullable",
        ),
        (
            "ALTER TABLE products ALTER COLUMN product_type SET DEFAULT 'sale'",
            "products.product_type has the default Some(\"sale\"), and the model says `rental`",
        ),
        (
            "ALTER TABLE products DROP CONSTRAINT products_tax_class_id_fkey",
            "products.tax_class_id does not refer to tax_classes",
        ),
        (
            "ALTER TABLE products ALTER COLUMN name TYPE varchar(255) COLLATE \"POSIX\"",
            "products.name is `character varying(255) COLLATE POSIX`, and the model says `character varying(255) COLLATE C`",
        ),
        ("DROP INDEX products_name_trgm", "products: no index finds substrings of name"),
    ];
    let folder = Folder::create();
    let state = tables::open(&charter::app(), database, &folder).await;
    let more = if state.db.dialect() == Dialect::Postgres { POSTGRES } else { &[] };
    let mut expected = Vec::new();
    for (statement, difference) in BOTH.iter().chain(more) {
        state.db.writer().execute_unprepared(statement).await.unwrap();
        expected.push(difference.to_string());
    }
    let mut found = tables::differences(&state).await;
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}
