//! Which columns a query reads, from which tables, and the key of each in the answer.

use std::collections::HashMap;

use crate::catalog::Source;
use crate::db::Sql;
use crate::meta::{FieldMeta, Kind, ResourceMeta};

/// The alias of the record that a statement reads.
pub const RECORD: &str = "t";

/// The columns of an answer in order, and the SQL that reads them. One shape serves every row of an answer, and the two
/// plain ones of a resource serve every request.
#[derive(Debug, Clone)]
pub struct Shape {
    pub columns: Vec<Column>,
    /// Embedded fields stand in the answer without a column of their own.
    pub embedded: Vec<&'static FieldMeta>,
    /// So do computed ones, made of columns that are read and perhaps not written.
    pub computed: Vec<&'static FieldMeta>,
    /// `SELECT "t"."id", ...`
    select: String,
    /// ` FROM "products" AS t LEFT JOIN ...`
    from: String,
    /// The references that `from` follows.
    joined: Vec<&'static str>,
}

/// One column of an answer.
#[derive(Debug, Clone)]
pub struct Column {
    /// `"name":`, as it is written.
    pub key: String,
    pub name: &'static str,
    pub source: Source,
    /// Read for the server's own use, and not written.
    pub hidden: bool,
    /// Of the custom fields, only these are written.
    pub only: Option<Vec<String>>,
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
        for wanted in fields {
            // The metadata is static; the iterator's shorter life is only that of the caller's choice.
            let Some(field) = meta.fields.iter().find(|f| f.name == wanted.name) else { continue };
            match field.kind {
                Kind::Embedded { .. } => shape.embedded.push(field),
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
        self.columns.push(Column { key: format!("\"{name}\":"), name, source, hidden, only: None });
    }

    /// Adds an embedded field, unless it is there already.
    pub fn embed(&mut self, field: &'static FieldMeta) {
        if !self.embedded.iter().any(|known| known.name == field.name) {
            self.embedded.push(field);
        }
    }

    /// Adds a column that is read but not written, unless it is read already.
    pub fn hide(&mut self, meta: &'static ResourceMeta, name: &str) {
        let known = self.columns.iter().any(|c| c.name == name && c.source.is_own(name));
        if let (false, Some(field)) = (known, meta.fields.iter().find(|f| f.name == name)) {
            self.add(field.name, Source::own(field), true);
        }
    }

    /// The same columns, of which only those that are wanted are written.
    pub fn narrowed(&self, wanted: impl Fn(&str) -> bool) -> Shape {
        let mut shape = self.clone();
        for column in shape.columns.iter_mut().filter(|column| !wanted(column.name)) {
            column.hidden = true;
        }
        shape
    }

    /// The same columns, of which one that is read for the server's own use is written too.
    pub fn with(mut self, name: &str) -> Shape {
        for column in self.columns.iter_mut().filter(|column| column.source.is_own(name)) {
            column.hidden = false;
        }
        self
    }

    /// The position of an own column in the row.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }

    /// Writes `SELECT ... FROM ... LEFT JOIN ...`; `sources` are those that the condition and the order need too.
    pub fn write_select(&self, sql: &mut Sql, sources: &[Source]) {
        self.write_columns(sql);
        self.write_tables(sql, sources);
    }

    /// Writes `SELECT ...`: the columns alone, to which more may be added.
    pub fn write_columns(&self, sql: &mut Sql) {
        sql.push(&self.select);
    }

    /// Writes ` FROM (...) AS t LEFT JOIN ...`, with something else in the table's place.
    pub fn write_tables_over(&self, sql: &mut Sql, table: &str, place: impl FnOnce(&mut Sql)) {
        sql.push(" FROM ");
        place(sql);
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

/// The same with another alias than `t`.
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
