//! Objects that a server creates on the tables, for the random walk: count triggers, search triggers, those of rollups, and the indexes of
//! deleted records and of custom fields. A migration must drop those that its change makes invalid.

use charter_codegen::migration::table::Table;
use charter_codegen::snapshot::Snapshot;

use crate::database::Database;

/// Creates them on every table of a snapshot. The triggers do nothing useful, but name the columns that real ones name.
pub async fn create(database: &Database, snapshot: &Snapshot) {
    if database.is_postgres() {
        let function = "CREATE OR REPLACE FUNCTION charter_count_nothing() RETURNS trigger LANGUAGE plpgsql \
                       AS 'BEGIN RETURN NULL; END'";
        database.run(function).await.unwrap();
    }
    for (number, resource) in snapshot.resources.values().enumerate() {
        let (table, soft) = (Table::of(snapshot, resource).name, resource.soft_delete);
        let mut statements = match database.is_postgres() {
            true => vec![format!(
                "CREATE TRIGGER charter_count_update AFTER UPDATE ON \"{table}\" REFERENCING OLD TABLE AS old_rows \
                 NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION charter_count_nothing()"
            )],
            false => {
                let counted = if soft { "(NEW.\"deleted_at\" IS NULL)" } else { "1" };
                let texts = resource.search.iter().map(|name| ("search", format!("coalesce(NEW.\"{name}\", '')")));
                let triggers = std::iter::once(("count", counted.to_owned())).chain(texts).enumerate();
                let trigger = |(place, (what, value)): (usize, (&str, String))| {
                    format!(
                        "CREATE TRIGGER \"charter_{what}_{table}_{place}\" AFTER UPDATE ON \"{table}\" WHEN TRUE BEGIN \
                         UPDATE \"users\" SET \"name\" = {value} WHERE \"id\" = 1; END"
                    )
                };
                triggers.map(trigger).collect()
            }
        };
        if soft {
            let over = format!("ON \"{table}\" (\"id\", \"deleted_at\") WHERE \"deleted_at\" IS NOT NULL");
            statements.push(format!("CREATE INDEX \"deleted_of_{table}_00000000\" {over}"));
        }
        if resource.fields.contains_key("custom_fields") {
            let over = match (database.is_postgres(), soft) {
                (true, _) => "((\"custom_fields\" ->> 'size'))",
                (false, true) => "(json_extract(\"custom_fields\", '$.size')) WHERE \"deleted_at\" IS NULL",
                (false, false) => "(json_extract(\"custom_fields\", '$.size'))",
            };
            statements.push(format!("CREATE INDEX cf_{number}_a_00000000 ON \"{table}\" {over}"));
        }
        for statement in statements {
            database.run(&statement).await.unwrap_or_else(|problem| panic!("{statement}: {problem}"));
        }
    }
    create_rollups(database, snapshot).await;
}

/// Creates a trigger of a rollup on each table, which names a column of it and one of the next table.
async fn create_rollups(database: &Database, snapshot: &Snapshot) {
    let tables: Vec<Table> = snapshot.resources.values().map(|resource| Table::of(snapshot, resource)).collect();
    for (number, table) in tables.iter().enumerate() {
        let parent = &tables[(number + 1) % tables.len()];
        let (Some(by), Some(column)) = (table.columns.get(1), parent.columns.last()) else { continue };
        let (name, column) = (format!("charter_rollup_{number}_update"), &column.name);
        let set = format!("UPDATE \"{}\" SET \"{column}\" = \"{column}\"", parent.name);
        let statements = match database.is_postgres() {
            true => vec![
                format!(
                    "CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                     -- The tables form a circle, and a statement without rows runs triggers too.
                     IF EXISTS (SELECT r.\"{}\" FROM \"new_rows\" AS r WHERE FALSE) THEN {set}; END IF; RETURN NULL; END $$",
                    by.name
                ),
                format!(
                    "CREATE TRIGGER {name} AFTER UPDATE ON \"{}\" REFERENCING NEW TABLE AS \"new_rows\"
                     FOR EACH STATEMENT EXECUTE FUNCTION {name}()",
                    table.name
                ),
            ],
            false => vec![format!(
                "CREATE TRIGGER \"{name}\" AFTER UPDATE ON \"{}\" WHEN NEW.\"{}\" IS NULL AND FALSE BEGIN {set} WHERE FALSE; END",
                table.name, by.name
            )],
        };
        for statement in statements {
            database.run(&statement).await.unwrap_or_else(|problem| panic!("{statement}: {problem}"));
        }
    }
}

/// Drops the remaining ones.
pub async fn drop_all(database: &Database) {
    let drops = match database.is_postgres() {
        true => {
            "SELECT format('DROP TRIGGER %I ON %s', tgname, tgrelid::regclass) FROM pg_trigger WHERE NOT tgisinternal
             UNION ALL SELECT format('DROP INDEX %I', indexname) FROM pg_indexes
                 WHERE schemaname = 'public' AND indexname LIKE '%\\_00000000'"
        }
        false => {
            "SELECT 'DROP ' || type || ' \"' || name || '\"' FROM sqlite_schema
             WHERE type = 'trigger' OR type = 'index' AND name LIKE '%\\_00000000' ESCAPE '\\'"
        }
    };
    for statement in database.texts(drops).await {
        database.run(&statement).await.unwrap();
    }
}

/// Removes their lines from a list of [`Database::tables`].
pub fn without_server_objects(tables: Vec<String>) -> Vec<String> {
    tables.into_iter().filter(|line| !line.contains("_00000000")).collect()
}
