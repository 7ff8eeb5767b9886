//! Projection: the columns that a query reads, their tables, and their keys in the response.

use std::collections::{BTreeMap, HashMap};

use crate::db::Sql;
use crate::meta::{FieldMeta, Kind, ResourceMeta};
use crate::record::Source;

/// Alias of the record in a statement.
pub const RECORD: &str = "t";

/// The columns of a response in order, and the SQL that reads them. Each resource has two that are built at start-up:
/// list item and single record.
#[derive(Debug, Clone)]
pub struct Shape {
    pub columns: Vec<Column>,
    /// Embedded fields and links, which have no column.
    pub embedded: Vec<&'static FieldMeta>,
    /// Computed fields, which have no column. They read other columns, hidden ones included.
    pub computed: Vec<&'static FieldMeta>,
    /// `SELECT "t"."id", ...`
    select: String,
    /// ` FROM "products" AS t LEFT JOIN ...`
    from: String,
    /// The references that `from` joins.
    joined: Vec<&'static str>,
}

/// One column of a response.
#[derive(Debug, Clone)]
pub struct Column {
    /// `"name":`, as written.
    pub key: String,
    pub name: &'static str,
    pub source: Source,
    /// Read but not written.
    pub hidden: bool,
    /// The selected members of `custom_fields`. `None` selects all.
    pub only: Option<Vec<String>>,
    /// The members that are left out of a JSON object.
    pub without: Option<HiddenMembers>,
}

/// The members of a JSON object that are left out, depending on the text in another column of the row.
#[derive(Debug, Clone)]
pub struct HiddenMembers {
    /// The other column.
    pub column: usize,
    /// The names of the members, by that text.
    pub by_text: BTreeMap<&'static str, Vec<&'static str>>,
}

impl Shape {
    pub fn of<'f>(
        meta: &'static ResourceMeta,
        derived: &HashMap<&'static str, Source>,
        fields: impl Iterator<Item = &'f FieldMeta>,
    ) -> Shape {
        let mut shape = Shape {
            columns: Vec::new(),
            embedded: Vec::new(),
            computed: Vec::new(),
            select: String::from("SELECT "),
            from: String::new(),
            joined: Vec::new(),
        };
        write_table(&mut shape.from, meta.table, RECORD);
        for selected in fields {
            // Looked up again, because the metadata is `'static` and the iterator's items are not.
            let Some(field) = meta.fields.iter().find(|f| f.name == selected.name) else { continue };
            match field.kind {
                Kind::Embedded { .. } | Kind::Links { .. } => shape.embedded.push(field),
                Kind::Computed { .. } => shape.computed.push(field),
                _ => {
                    shape.add(field.name, derived.get(field.name).cloned().unwrap_or_else(|| Source::own(field)), false)
                }
            }
        }
        shape.hide(meta, "id");
        for field in shape.computed.clone() {
            if let Kind::Computed { from } = field.kind {
                from.iter().for_each(|name| shape.hide(meta, name));
            }
        }
        shape
    }

    fn add(&mut self, name: &'static str, source: Source, hidden: bool) {
        if !self.columns.is_empty() {
            self.select.push_str(", ");
        }
        source.write(&mut self.select, RECORD);
        source.write_join(&mut self.from, RECORD, &mut self.joined);
        self.columns.push(Column { key: format!("\"{name}\":"), name, source, hidden, only: None, without: None });
    }

    /// Adds an embedded field, unless it is present.
    pub fn embed(&mut self, field: &'static FieldMeta) {
        if !self.embedded.iter().any(|known| known.name == field.name) {
            self.embedded.push(field);
        }
    }

    /// Adds a hidden column, unless the column is present.
    pub fn hide(&mut self, meta: &'static ResourceMeta, name: &str) {
        let known = self.columns.iter().any(|c| c.name == name && c.source.is_own(name));
        if let (false, Some(field)) = (known, meta.fields.iter().find(|f| f.name == name)) {
            self.add(field.name, Source::own(field), true);
        }
    }

    /// A copy that hides the columns for which `is_shown` is false.
    pub fn narrowed(&self, is_shown: impl Fn(&str) -> bool) -> Shape {
        let mut shape = self.clone();
        for column in shape.columns.iter_mut().filter(|column| !is_shown(column.name)) {
            column.hidden = true;
        }
        shape
    }

    /// Writes the hidden column of this name as well.
    pub fn with(mut self, name: &str) -> Shape {
        for column in self.columns.iter_mut().filter(|column| column.source.is_own(name)) {
            column.hidden = false;
        }
        self
    }

    /// Position of the column in the row.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }

    /// Writes `SELECT ... FROM ... LEFT JOIN ...`. `sources` are those of the condition and the order.
    pub fn write_select(&self, sql: &mut Sql, sources: &[Source]) {
        self.write_columns(sql);
        self.write_tables(sql, sources);
    }

    /// Writes `SELECT ...` without `FROM`, so that columns can be added.
    pub fn write_columns(&self, sql: &mut Sql) {
        sql.push(&self.select);
    }

    /// Writes ` FROM (...) AS t LEFT JOIN ...`, with a subquery in place of the table.
    pub fn write_tables_over(&self, sql: &mut Sql, table: &str, write_subquery: impl FnOnce(&mut Sql)) {
        sql.push(" FROM ");
        write_subquery(sql);
        sql.push(" AS t");
        let mut own = String::new();
        write_table(&mut own, table, RECORD);
        sql.push(self.from.strip_prefix(&own).unwrap_or_default());
    }

    /// Writes ` FROM ... LEFT JOIN ...`.
    pub fn write_tables(&self, sql: &mut Sql, sources: &[Source]) {
        sql.push(&self.from);
        if sources.iter().any(|source| source.join.is_some()) {
            let mut joined = self.joined.clone();
            for source in sources {
                source.write_join(&mut sql.text, RECORD, &mut joined);
            }
        }
    }
}

/// Writes ` FROM "table" AS t` and each join once.
pub fn write_from(sql: &mut Sql, table: &str, sources: &[Source]) {
    write_from_as(sql, table, RECORD, sources);
}

/// Like [`write_from`], with another alias than `t`.
pub fn write_from_as(sql: &mut Sql, table: &str, alias: &str, sources: &[Source]) {
    write_table(&mut sql.text, table, alias);
    let mut joined = Vec::new();
    for source in sources {
        source.write_join(&mut sql.text, alias, &mut joined);
    }
}

fn write_table(text: &mut String, table: &str, alias: &str) {
    for part in [" FROM \"", table, "\" AS ", alias] {
        text.push_str(part);
    }
}
