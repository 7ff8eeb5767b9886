//! Which columns a query reads, from which tables, and the key of each in the answer.

use std::collections::HashMap;

use crate::catalog::Source;
use crate::db::Sql;
use crate::meta::{FieldMeta, Kind, ResourceMeta};

/// The columns of an answer in order. One shape serves every row of it.
#[derive(Debug, Clone)]
pub struct Shape {
    pub table: &'static str,
    pub columns: Vec<Column>,
    /// Embedded fields stand in the answer without a column of their own: position among the columns, and the field.
    pub embedded: Vec<&'static FieldMeta>,
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

impl Column {
    fn new(name: &'static str, source: Source, hidden: bool) -> Column {
        Column { key: format!("\"{name}\":"), name, source, hidden, only: None }
    }
}

impl Shape {
    pub fn of<'f>(
        meta: &'static ResourceMeta,
        derived: &HashMap<&'static str, Source>,
        fields: impl Iterator<Item = &'f FieldMeta>,
    ) -> Shape
    where
        'static: 'f,
    {
        let mut shape = Shape { table: meta.table, columns: Vec::new(), embedded: Vec::new() };
        let mut has_id = false;
        for wanted in fields {
            // The metadata is static; the iterator's shorter life is only that of the caller's choice.
            let Some(field) = meta.fields.iter().find(|f| f.name == wanted.name) else { continue };
            has_id |= field.name == "id";
            match field.kind {
                Kind::Embedded { .. } => shape.embedded.push(field),
                _ => {
                    let source = derived.get(field.name).copied().unwrap_or_else(|| Source::own(field));
                    shape.columns.push(Column::new(field.name, source, false));
                }
            }
        }
        if !has_id {
            shape.hide(meta, "id");
        }
        shape
    }

    /// Adds a column that is read but not written, unless it is read already.
    pub fn hide(&mut self, meta: &'static ResourceMeta, name: &str) {
        let known = self.columns.iter().any(|c| c.name == name && c.source.alias == "t");
        if let (false, Some(field)) = (known, meta.fields.iter().find(|f| f.name == name)) {
            self.columns.push(Column::new(field.name, Source::own(field), true));
        }
    }

    /// The position of an own column in the row.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }

    /// Writes `SELECT ... FROM ... LEFT JOIN ...`; `joined` are further sources that the condition or order needs.
    pub fn write_select(&self, sql: &mut Sql, joined: &[Source]) {
        sql.push("SELECT ");
        for (index, column) in self.columns.iter().enumerate() {
            if index > 0 {
                sql.push(", ");
            }
            column.source.write(sql);
        }
        let own: Vec<Source> = self.columns.iter().map(|c| c.source).collect();
        write_from(sql, self.table, own.iter().chain(joined));
    }
}

/// Writes ` FROM "table" AS t` and each join once.
pub fn write_from<'s>(sql: &mut Sql, table: &str, sources: impl Iterator<Item = &'s Source>) {
    sql.push(" FROM ").name(table).push(" AS t");
    let mut done: Vec<&str> = Vec::new();
    for source in sources {
        if source.join.is_some() && !done.contains(&source.alias) {
            done.push(source.alias);
            source.write_join(sql);
        }
    }
}
