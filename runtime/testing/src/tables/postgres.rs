//! Reads the tables of PostgreSQL from its catalog.

use charter_runtime::db::Connection;

use super::{Column, Index, Tables, plain_default, rows, text};

const NAMES: &str =
    "SELECT relname::text AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace";

const COLUMNS: &str = "
    SELECT c.relname::text AS \"table\", a.attname::text AS name, format_type(a.atttypid, a.atttypmod) AS type,
           a.attnotnull AS required, coalesce(l.collname, '')::text AS collation, pg_get_expr(d.adbin, d.adrelid) AS \"default\"
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid LEFT JOIN pg_collation l ON l.oid = a.attcollation
         LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped";

const REFERENCES: &str = "
    SELECT c.relname::text AS \"table\", a.attname::text AS name, f.relname::text AS target, k.confdeltype = 'c' AS cascades
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class f ON f.oid = k.confrelid
         JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
    WHERE k.contype = 'f' AND c.relnamespace = 'public'::regnamespace";

const INDEXES: &str = "
    SELECT c.relname::text AS \"table\", i.indisunique AS \"unique\", pg_get_indexdef(i.indexrelid) AS definition,
           coalesce(pg_get_expr(i.indpred, i.indrelid), '') AS predicate,
           (SELECT string_agg(pg_get_indexdef(i.indexrelid, n, true), ';' ORDER BY n)
            FROM generate_series(1, i.indnkeyatts::int) AS n) AS keys
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid WHERE c.relnamespace = 'public'::regnamespace";

pub(super) async fn read(connection: &Connection) -> Tables {
    let mut tables = Tables::new();
    for row in rows(connection, NAMES).await {
        tables.insert(text(&row, "name"), Default::default());
    }
    for row in rows(connection, COLUMNS).await {
        let collation = match text(&row, "collation").as_str() {
            "" => String::new(),
            name => format!(" COLLATE {name}"),
        };
        let default: Option<String> = row.try_get("", "default").expect("a text or null");
        let column = Column {
            kind: format!("{}{collation}", text(&row, "type")),
            nullable: !row.try_get::<bool>("", "required").expect("a boolean"),
            default: default.map(|written| plain_default(&written)),
        };
        tables.entry(text(&row, "table")).or_default().columns.insert(text(&row, "name"), column);
    }
    for row in rows(connection, REFERENCES).await {
        let table = tables.entry(text(&row, "table")).or_default();
        table.references.insert(text(&row, "name"), text(&row, "target"));
        let cascades: bool = row.try_get("", "cascades").expect("a boolean");
        table.cascades.extend(cascades.then(|| text(&row, "name")));
    }
    for row in rows(connection, INDEXES).await {
        let index = Index {
            keys: text(&row, "keys").split(';').map(key).collect(),
            unique: row.try_get("", "unique").expect("a boolean"),
            partial: !text(&row, "predicate").is_empty(),
            live: text(&row, "predicate") == "(deleted_at IS NULL)",
            substrings: text(&row, "definition").contains("gin_trgm_ops"),
        };
        tables.entry(text(&row, "table")).or_default().indexes.push(index);
    }
    tables
}

/// `charter_fold(email::text)` becomes `folded email`.
fn key(written: &str) -> String {
    match written.strip_prefix("charter_fold(").and_then(|rest| rest.strip_suffix(')')) {
        Some(folded) => format!("folded {}", folded.split("::").next().unwrap_or(folded)),
        None => written.trim_matches('"').to_string(),
    }
}
