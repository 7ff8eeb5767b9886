//! Origin of a field's value: a column of the record itself, or of a record that a reference leads to.

use std::fmt::Write;
use std::sync::Arc;

use super::RequiredParents;
use crate::meta::{FieldMeta, Kind, ResourceMeta};

/// Origin of a field's value.
#[derive(Debug, Clone)]
pub struct Source {
    /// The reference field that leads to the other table. `None` for a column of the record itself.
    via: Option<&'static str>,
    /// The column in that table.
    pub column: &'static str,
    /// Metadata of the column's field.
    pub field: &'static FieldMeta,
    /// The labels, if the value is a code and the label is selected.
    pub labels: Option<&'static [(i32, &'static str)]>,
    /// The other record, if the value is from one.
    pub join: Option<Join>,
}

/// A record that a reference leads to.
#[derive(Debug, Clone)]
pub struct Join {
    pub meta: &'static ResourceMeta,
    /// Its required parents that must not be soft-deleted.
    pub required_parents: Option<Arc<RequiredParents>>,
}

impl Source {
    /// A column of the resource's own table.
    pub fn own(field: &'static FieldMeta) -> Source {
        Source { via: None, column: field.name, field, labels: None, join: None }
    }

    /// The label of a code of the resource's own table.
    pub fn label(field: &'static FieldMeta, labels: &'static [(i32, &'static str)]) -> Source {
        Source { labels: Some(labels), ..Source::own(field) }
    }

    /// A column of the record that `via` references.
    pub fn through(via: &'static str, join: Join, field: &'static FieldMeta) -> Source {
        Source { via: Some(via), column: field.name, field, labels: None, join: Some(join) }
    }

    /// The reference field that leads to the other record.
    pub fn via(&self) -> Option<&'static str> {
        self.via
    }

    /// Kind of the shown and filtered value. A label is text.
    pub fn kind(&self) -> Kind {
        if self.labels.is_some() { Kind::Text } else { self.field.kind }
    }

    /// True if this is the column `column` of the record itself.
    pub fn is_own(&self, column: &str) -> bool {
        self.via.is_none() && self.column == column
    }

    /// Writes `t."column"`, or `"t_via"."column"` for the referenced record. `t` is `alias`, the record's alias.
    pub fn write(&self, text: &mut String, alias: &str) {
        let _ = match self.via {
            Some(via) => write!(text, "\"{alias}_{via}\".\"{}\"", self.column),
            None => write!(text, "{alias}.\"{}\"", self.column),
        };
    }

    /// Adds the tables that the value is read from, except that of the record itself.
    pub fn tables(&self, found: &mut Vec<&'static str>) {
        if let Some(Join { meta, required_parents }) = &self.join {
            found.push(meta.table);
            found.extend(required_parents.iter().flat_map(|required_parents| &required_parents.tables));
        }
    }

    /// Writes the join that the column needs, unless the column is the record's own or `joined` contains the join. A
    /// soft-deleted record joins as absent, and so does one with a soft-deleted required parent. `of` is the alias of
    /// the record.
    pub fn write_join(&self, text: &mut String, of: &str, joined: &mut Vec<&'static str>) {
        let (Some(via), Some(Join { meta, required_parents })) = (self.via, &self.join) else { return };
        if joined.contains(&via) {
            return;
        }
        joined.push(via);
        let (table, alias) = (meta.table, format!("\"{of}_{via}\""));
        let _ = write!(text, " LEFT JOIN \"{table}\" AS {alias} ON {alias}.\"id\" = {of}.\"{via}\"");
        if meta.soft_delete {
            let _ = write!(text, " AND {alias}.\"deleted_at\" IS NULL");
        }
        if let Some(required_parents) = required_parents {
            text.push_str(" AND ");
            required_parents.write(text, &alias);
        }
    }
}
