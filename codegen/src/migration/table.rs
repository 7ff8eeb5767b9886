//! Tables of a snapshot: columns, indexes and references.

use charter_model::{Storage, naming};

use super::sql::Dialect;
use crate::snapshot::{Default, Field, Kind, Resource, Rows, Snapshot};

/// One table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub name: String,
    pub columns: Vec<Column>,
    pub indexes: Vec<Index>,
}

/// One column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub name: String,
    pub storage: Storage,
    pub nullable: bool,
    /// A literal as in YAML.
    pub default: Option<String>,
    pub reference: Option<Reference>,
}

/// The table that a column refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    pub table: String,
    /// Deleting the referenced record deletes the row.
    pub cascade: bool,
}

/// An index over columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    pub kind: IndexKind,
    pub columns: Vec<String>,
    /// The columns whose texts are the same without regard to case.
    pub folded: Vec<String>,
    /// The condition of its rows, besides `live`.
    pub rows: Option<Rows>,
    /// It holds only rows that are not deleted.
    pub live: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexKind {
    Plain,
    Unique,
    /// For substrings, on PostgreSQL.
    Search,
    /// For sorted lists. Over text it exists on PostgreSQL alone.
    Order {
        text: bool,
        /// Rows without a value come first.
        nullable: bool,
    },
}

impl Table {
    /// The table of a resource.
    pub fn of(snapshot: &Snapshot, resource: &Resource) -> Table {
        let fields: Vec<&Field> = resource.ordered().into_iter().filter(|field| field.is_column()).collect();
        let live = resource.soft_delete;
        let index = |kind, columns: &[String], live| Index { live, ..Index::new(kind, columns) };
        let mut indexes = Vec::new();
        for field in fields.iter().filter(|field| field.rules.contains_key("unique")) {
            indexes.push(index(IndexKind::Unique, std::slice::from_ref(&field.name), live));
        }
        let is_text = |name: &&String| fields.iter().any(|field| field.name == **name && field.kind.facts().is_folded);
        indexes.extend(resource.unique.iter().map(|set| Index {
            folded: set.fields.iter().filter(|name| set.ignore_case && is_text(name)).cloned().collect(),
            rows: set.rows.clone(),
            ..index(IndexKind::Unique, &set.fields, live)
        }));
        indexes.extend(resource.indexes.iter().map(|set| index(IndexKind::Plain, set, live)));
        for name in &resource.ordered {
            let Some(field) = fields.iter().find(|field| field.name == *name) else { continue };
            let text = field.kind.facts().is_folded;
            indexes.push(index(IndexKind::Order { text, nullable: field.nullable }, std::slice::from_ref(name), live));
        }
        for name in &resource.search {
            indexes.push(index(IndexKind::Search, std::slice::from_ref(name), false));
        }
        // Equal indexes are created once.
        let mut distinct: Vec<Index> = Vec::new();
        for index in indexes {
            if !distinct.contains(&index) {
                distinct.push(index);
            }
        }
        let columns = fields.into_iter().map(|field| column(snapshot, resource, field)).collect();
        Table { name: resource.table.clone(), columns, indexes: distinct }
    }

    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// True if the column refers to a table.
    pub fn references(&self, column: &str) -> bool {
        self.column(column).is_some_and(|column| column.reference.is_some())
    }

    /// True if a column refers to the table.
    pub fn refers_to(&self, table: &str) -> bool {
        self.columns.iter().any(|column| column.refers_to(table))
    }
}

impl Column {
    pub fn refers_to(&self, table: &str) -> bool {
        self.reference.as_ref().is_some_and(|reference| reference.table == table)
    }

    /// The column without its reference: a plain number.
    pub fn released(&self) -> Column {
        Column { reference: None, ..self.clone() }
    }

    pub fn nullable(&self) -> Column {
        Column { nullable: true, ..self.clone() }
    }

    /// True if the column has a value in a row that gives none.
    pub fn fills_itself(&self) -> bool {
        self.nullable || self.default.is_some() || self.storage.empty_json().is_some()
    }
}

impl Index {
    pub fn new(kind: IndexKind, columns: &[String]) -> Index {
        Index { kind, columns: columns.to_vec(), folded: Vec::new(), rows: None, live: false }
    }

    /// The conditions of its rows, in the SQL of a database.
    pub fn conditions(&self, dialect: Dialect) -> Vec<String> {
        let live = self.live.then(|| "\"deleted_at\" IS NULL".to_owned());
        let rows = self.rows.as_ref().map(|rows| match dialect {
            Dialect::Sqlite => rows.sqlite.clone(),
            Dialect::Postgres => rows.postgres.clone(),
        });
        live.into_iter().chain(rows).collect()
    }

    /// True if a dropped index can serve until the new ones of its table exist: none of them has its name, its columns
    /// stay, and so does soft deletion, which its condition may name.
    pub fn is_replaced(&self, then: &Table, now: &Table) -> bool {
        let is_new = |other: &&Index| !then.indexes.contains(other);
        let storage = |table: &Table, name: &str| table.column(name).map(|column| column.storage);
        let stays = |name: &String| storage(now, name).is_some_and(|is| Some(is) == storage(then, name));
        let name = self.name(&then.name);
        then.name == now.name
            && then.column("deleted_at").is_some() == now.column("deleted_at").is_some()
            && self.columns.iter().all(stays)
            && now.indexes.iter().any(|other| is_new(&other))
            && now.indexes.iter().all(|other| other.name(&now.name) != name)
    }

    /// The name, which follows from its columns.
    pub fn name(&self, table: &str) -> String {
        let ending = match self.kind {
            IndexKind::Plain => "idx",
            IndexKind::Unique => "key",
            IndexKind::Search => "trgm",
            IndexKind::Order { .. } => "sort",
        };
        let columns: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        named(table, &columns, ending)
    }

    /// True if SQLite has it too.
    pub fn is_everywhere(&self) -> bool {
        matches!(self.kind, IndexKind::Plain | IndexKind::Unique | IndexKind::Order { text: false, .. })
    }
}

/// The length at which a name is cut, as in `charter_migrations::Table`.
const MAX_NAME_STEM: usize = 49;

fn named(table: &str, columns: &[&str], ending: &str) -> String {
    let name = format!("{table}_{}", columns.join("_"));
    match name.get(..MAX_NAME_STEM) {
        Some(beginning) => format!("{beginning}_{:08x}_{ending}", fingerprint(&name)),
        None => format!("{name}_{ending}"),
    }
}

/// The name of an object that belongs to a table, as in `charter_migrations::Table`.
pub fn owned(table: &str, ending: &str) -> String {
    format!("{}{ending}", table.get(..naming::MAX_NAME_LENGTH - ending.len()).unwrap_or(table))
}

/// The name of a foreign key.
pub fn foreign_key(table: &str, column: &str) -> String {
    named(table, &[column], "fkey")
}

/// FNV-1a, as in `charter_migrations`.
fn fingerprint(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

fn column(snapshot: &Snapshot, resource: &Resource, field: &Field) -> Column {
    let storage = match (field.name.as_str(), resource.singleton) {
        ("id", true) => Storage::SingletonId,
        ("id", false) => Storage::Id,
        // Embedded records have no column.
        _ => field.kind.storage().unwrap_or(Storage::BigInt),
    };
    let reference = match &field.kind {
        Kind::Ref { resource: target } => Some(Reference {
            table: snapshot.table_of(target),
            // Embedded records are deleted with the record that holds them.
            cascade: snapshot.resources.get(target).is_some_and(|target| embeds(target, &resource.name, &field.name)),
        }),
        _ => None,
    };
    let default = match &field.default {
        Default::Literal { value } => Some(value.clone()),
        _ => None,
    };
    Column { name: field.name.clone(), storage, nullable: field.nullable, default, reference }
}

fn embeds(target: &Resource, resource: &str, field: &str) -> bool {
    let by = |kind: &Kind| kind.dependents().is_some_and(|(other, by)| other == resource && by == field);
    target.fields.values().any(|field| by(&field.kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_names_fit_the_limit_of_postgresql() {
        let index = |kind, columns: &[&str]| {
            Index::new(kind, &columns.iter().map(|column| (*column).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(index(IndexKind::Plain, &["sku"]).name("products"), "products_sku_idx");
        assert_eq!(index(IndexKind::Unique, &["a", "b"]).name("things"), "things_a_b_key");
        let long = index(IndexKind::Search, &["a_column_with_a_very_long_name_a"]).name("things_with_a_long_name");
        assert!(
            long.starts_with("things_with_a_long_name_a_column_with_a_very_long") && long.ends_with("_trgm"),
            "{long}"
        );
        assert!(long.len() <= 63);
        let key =
            |letter| foreign_key("things_with_a_long_name", &format!("a_reference_with_a_very_long_name_{letter}_id"));
        assert!(key('a') != key('b') && key('a').len() <= 63 && key('a').ends_with("_fkey"), "{}", key('a'));
    }
}
