//! What a database takes of one table: so many columns, and so many tables in one question.

use std::collections::BTreeSet;

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Kind, Resource, Schema};

/// PostgreSQL has at most 1,600 columns in a table, and counts those that were dropped.
const MOST_COLUMNS: usize = 1_500;

/// SQLite joins at most 64 tables.
const MOST_JOINED: usize = 60;

pub fn check(_: &Schema, resource: &Resource, problems: &mut Problems) {
    let mut refuse = |code: Code, message: String, label: &str, help: &str| {
        problems.push(Diagnostic::new(code, resource.name.span, message, label).help(help));
    };
    let columns = resource.fields.iter().filter(|field| field.is_column()).count();
    if columns > MOST_COLUMNS {
        let message = format!("`{}` has {columns} columns, and {MOST_COLUMNS} are the most", resource.name.value);
        refuse(
            Code::Contradiction,
            message,
            "too many fields",
            "divide it into several resources, or keep some of it as `json`",
        );
    }
    // Derived fields by way of one reference share its join; a code has its labels without any.
    let is_code = |name: &str| resource.field(name).is_some_and(|field| matches!(field.kind, Kind::Code(_)));
    let joined: BTreeSet<&str> = resource
        .fields
        .iter()
        .filter_map(|field| match &field.kind {
            Kind::Derived(path) if !is_code(path.head.as_str()) => Some(path.head.as_str()),
            _ => None,
        })
        .collect();
    if joined.len() > MOST_JOINED {
        let message = format!(
            "`{}` shows fields of {} other records, and {MOST_JOINED} are the most",
            resource.name.value,
            joined.len()
        );
        refuse(Code::DerivedPath, message, "too many references to follow", "show some of them by includes");
    }
}
