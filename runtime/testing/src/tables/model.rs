//! The tables that the metadata requires, and every difference as a line of text.

use charter_runtime::catalog::{Catalog, Entry};
use charter_runtime::db::Dialect;
use charter_runtime::meta::{DefaultValue, FieldMeta, Kind, ResourceMeta, UniqueMeta};
use charter_runtime::number::{Scaled, scale};

use super::{Index, Table, Tables};

/// Tables of no resource: unattached files, the jobs of an application without jobs, the outbox, deliveries, idempotency
/// responses, record counts and applied migrations.
const OTHERS: &[&str] = &[
    "attachment_pending_deletions",
    "background_jobs",
    "events",
    "idempotency_keys",
    "record_blocks",
    "record_changes",
    "record_numbers",
    "record_totals",
    "user_identities",
    "user_invitations",
    "user_networks",
    "user_passkeys",
    "user_passwords",
    "user_preferences",
    "user_recovery_codes",
    "user_second_factors",
    "user_sessions",
    "webhook_deliveries",
    "seaql_migrations",
];

/// Every difference between the tables and the resources.
pub(super) fn differences(catalog: &Catalog, dialect: Dialect, tables: &Tables) -> Vec<String> {
    let mut found = Vec::new();
    for entry in catalog.entries() {
        match tables.get(entry.meta.table) {
            Some(table) => compare(catalog, entry, dialect, table, &mut found),
            None => found.push(format!("{}: the table is missing", entry.meta.table)),
        }
    }
    let known = |name: &str| OTHERS.contains(&name) || catalog.entries().iter().any(|entry| entry.meta.table == name);
    let unexpected = tables.keys().filter(|name| !known(name));
    found.extend(unexpected.map(|name| format!("{name}: the table belongs to no resource")));
    tables.iter().for_each(|(name, table)| compare_cascades(name, table, &mut found));
    found
}

/// Deleting a row deletes the rows that reference it with CASCADE. Without an index, this scans their table.
fn compare_cascades(name: &str, table: &Table, found: &mut Vec<String>) {
    for column in &table.cascades {
        if !table.indexes.iter().any(|index| !index.partial && covers(&index.keys, &[column])) {
            found.push(format!("{name}: no index finds the rows that are deleted with their {column}"));
        }
    }
}

fn compare(catalog: &Catalog, entry: &Entry, dialect: Dialect, table: &Table, found: &mut Vec<String>) {
    let meta = entry.meta;
    let columns = || meta.fields.iter().filter(|field| field.is_column());
    for field in columns() {
        compare_column(meta, field, dialect, table, found);
        if let Kind::Ref { resource } = field.kind {
            let target = catalog.get(resource).expect("it is linked").meta.table;
            if table.references.get(field.name).is_none_or(|other| other != target) {
                found.push(format!("{}.{} does not refer to {target}", meta.table, field.name));
            }
        }
    }
    for name in table.columns.keys().filter(|name| !columns().any(|field| field.name == *name)) {
        found.push(format!("{}.{name} is not in the model", meta.table));
    }
    compare_indexes(meta, dialect, table, found);
}

fn compare_column(meta: &ResourceMeta, field: &FieldMeta, dialect: Dialect, table: &Table, found: &mut Vec<String>) {
    let name = format!("{}.{}", meta.table, field.name);
    let Some(column) = table.columns.get(field.name) else {
        found.push(format!("{name} is missing"));
        return;
    };
    let kind = if field.name == "id" { key_type(dialect).to_string() } else { column_type(field.kind, dialect) };
    if column.kind != kind {
        found.push(format!("{name} is `{}`, and the model says `{kind}`", column.kind));
    }
    if column.nullable != field.nullable {
        let word = |nullable| if nullable { "nullable" } else { "not null" };
        found.push(format!("{name} is {}, and the model says {}", word(column.nullable), word(field.nullable)));
    }
    if let Some(default) = default(field, dialect)
        && column.default.as_ref() != Some(&default)
    {
        found.push(format!("{name} has the default {:?}, and the model says `{default}`", column.default));
    }
}

fn compare_indexes(meta: &ResourceMeta, dialect: Dialect, table: &Table, found: &mut Vec<String>) {
    // A partial index on the rows that are not deleted also serves a resource with soft delete.
    let usable = |index: &&Index| meta.soft_delete || !index.live;
    for UniqueMeta { fields: set, rows, ignore_case } in meta.unique_sets() {
        let is_text = |name: &str| meta.fields.iter().any(|field| field.name == name && is_folded(field.kind));
        let key = |name: &&str| match ignore_case && is_text(name) {
            true => format!("folded {name}"),
            false => (*name).to_owned(),
        };
        let keys: Vec<String> = set.iter().map(key).collect();
        let has_rows = |index: &Index| match rows {
            Some(_) => index.partial && !index.live,
            None => index.live == meta.soft_delete && index.partial == index.live,
        };
        let same = |index: &&Index| {
            let has_keys = if ignore_case { index.keys == keys } else { covers(&index.keys, set) };
            index.unique && has_rows(index) && has_keys && index.keys.len() == set.len()
        };
        if !table.indexes.iter().any(|index| same(&index)) {
            let live = if meta.soft_delete { " among what is not deleted" } else { "" };
            found.push(format!("{}: no index makes {} unique{live}", meta.table, set.join(", ")));
        }
    }
    for set in meta.indexes {
        if !table.indexes.iter().filter(usable).any(|index| covers(&index.keys, set)) {
            found.push(format!("{}: no index begins with {}", meta.table, set.join(", ")));
        }
    }
    for name in meta.ordered {
        let text = meta.fields.iter().any(|field| field.name == *name && is_folded(field.kind));
        let keys = if text { vec![format!("folded {name}"), name.to_string()] } else { vec![name.to_string()] };
        let lists = |index: &&Index| index.keys.len() == keys.len() + 1 && index.keys.starts_with(&keys);
        let is_wanted = !text || dialect == Dialect::Postgres;
        let is_kept = table.indexes.iter().filter(usable).any(|index| lists(&index));
        if is_wanted && !is_kept {
            found.push(format!("{}: no index has the order of {name}", meta.table));
        }
    }
    for name in meta.search {
        let finds = |index: &Index| index.substrings && covers(&index.keys, &[name]);
        if dialect == Dialect::Postgres && !table.indexes.iter().any(finds) {
            found.push(format!("{}: no index finds substrings of {name}", meta.table));
        }
    }
}

/// True if lists sort its values by the case-folded text.
fn is_folded(kind: Kind) -> bool {
    matches!(kind, Kind::String { .. } | Kind::Text | Kind::Enum { .. } | Kind::PolymorphicType { .. })
}

/// True if the keys of an index begin with these columns, case-folded or not.
fn covers(keys: &[String], columns: &[&str]) -> bool {
    let is = |key: &String, column: &str| key.strip_prefix("folded ").unwrap_or(key) == column;
    keys.len() >= columns.len() && keys.iter().zip(columns).all(|(key, column)| is(key, column))
}

fn key_type(dialect: Dialect) -> &'static str {
    if dialect == Dialect::Sqlite { "integer" } else { "bigint" }
}

/// The storage type of each kind, as in `migrations/src/column.rs`.
fn column_type(kind: Kind, dialect: Dialect) -> String {
    let (sqlite, postgres) = match kind {
        Kind::String { max } => (format!("varchar({max})"), format!("character varying({max}) COLLATE C")),
        Kind::Text => ("text".into(), "text COLLATE C".into()),
        Kind::Enum { .. } | Kind::PolymorphicType { .. } => {
            ("varchar(64)".into(), "character varying(64) COLLATE C".into())
        }
        Kind::Integer | Kind::Code { .. } => ("integer".into(), "integer".into()),
        Kind::BigInt | Kind::Ref { .. } | Kind::PolymorphicRef { .. } => ("bigint".into(), "bigint".into()),
        Kind::Boolean => ("boolean".into(), "boolean".into()),
        Kind::Decimal { precision, places } => ("bigint".into(), format!("numeric({precision},{places})")),
        Kind::Timestamp { .. } => ("timestamp_with_timezone_text".into(), "timestamp with time zone".into()),
        Kind::Date => ("date_text".into(), "date".into()),
        Kind::Time => ("time_text".into(), "time without time zone".into()),
        Kind::Uuid => ("uuid_text".into(), "uuid".into()),
        Kind::StringList { .. } | Kind::RefList { .. } | Kind::Json | Kind::CustomFields => {
            ("jsonb_text".into(), "jsonb".into())
        }
        Kind::Derived { .. } | Kind::Embedded { .. } | Kind::Links { .. } | Kind::Computed { .. } => {
            ("no column".into(), "no column".into())
        }
    };
    if dialect == Dialect::Sqlite { sqlite } else { postgres }
}

/// The default of the column of a field that has a literal one.
fn default(field: &FieldMeta, dialect: Dialect) -> Option<String> {
    let DefaultValue::Literal(text) = field.default else { return None };
    Some(match (field.kind, dialect) {
        (Kind::Decimal { places, .. }, Dialect::Sqlite) => match scale(text, u32::from(places)) {
            Some(Scaled::Exact(scaled)) => scaled.to_string(),
            _ => text.to_string(),
        },
        _ => text.to_lowercase(),
    })
}
