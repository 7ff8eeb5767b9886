//! The steps of a migration: each is one call of `charter_migrations::Table`, and knows how it is undone.

use super::storage;
use super::table::{Column, Index, Table};

/// One step.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    Create(Table),
    Drop(Table),
    /// With the constraints that are named after it: those of its key and of these columns, which refer.
    RenameTable {
        from: String,
        to: String,
        singleton: bool,
        referring: Vec<String>,
    },
    /// With the constraint that is named after it, where it refers.
    RenameColumn {
        table: String,
        from: String,
        to: String,
        refers: bool,
    },
    /// An index keeps what it is over, under the names that hold by then.
    RenameIndex {
        table: String,
        index: Index,
        from: String,
        to: String,
    },
    Add {
        table: String,
        column: Column,
    },
    Remove {
        table: String,
        column: Column,
    },
    /// The type, the nullability, the default or the reference of a column.
    Change {
        table: String,
        from: Column,
        to: Column,
    },
    /// Gives every row a value that has none, in batches.
    Fill {
        table: String,
        column: Column,
        value: Value,
    },
    /// No row may be without a value any more.
    Require {
        table: String,
        column: Column,
    },
    AddIndex {
        table: String,
        index: Index,
    },
    DropIndex {
        table: String,
        index: Index,
    },
}

/// What rows get that have no value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Literal(String),
    /// The time, or the day, at which the migration runs.
    Now,
}

impl Step {
    /// What undoes it, in order.
    pub fn undo(&self) -> Vec<Step> {
        match self.clone() {
            Step::Create(table) => vec![Step::Drop(table)],
            Step::Drop(table) => recreate(table),
            Step::RenameTable { from, to, singleton, referring } => {
                vec![Step::RenameTable { from: to, to: from, singleton, referring }]
            }
            Step::RenameColumn { table, from, to, refers } => {
                vec![Step::RenameColumn { table, from: to, to: from, refers }]
            }
            Step::RenameIndex { table, index, from, to } => {
                vec![Step::RenameIndex { table, index, from: to, to: from }]
            }
            Step::Add { table, column } => vec![Step::Remove { table, column }],
            Step::Remove { table, column } => restore(table, column),
            Step::Change { table, from, to } => {
                // The type goes back first: what stands in for nothing is a value of the former one.
                let reached = if to.nullable { from.nullable() } else { from.clone() };
                let mut steps = Vec::new();
                if reached != to {
                    steps.push(Step::Change { table: table.clone(), from: to, to: reached.clone() });
                }
                if reached != from {
                    steps.extend(require(table, from));
                }
                steps
            }
            Step::Fill { .. } => Vec::new(),
            Step::Require { table, column } => {
                vec![Step::Change { table, to: column.nullable(), from: column }]
            }
            Step::AddIndex { table, index } => vec![Step::DropIndex { table, index }],
            Step::DropIndex { table, index } => vec![Step::AddIndex { table, index }],
        }
    }

    /// The table that it is about, by the name that it has before the step.
    pub fn table(&self) -> &str {
        match self {
            Step::Create(table) | Step::Drop(table) => &table.name,
            Step::RenameTable { from, .. } => from,
            Step::RenameColumn { table, .. }
            | Step::RenameIndex { table, .. }
            | Step::Add { table, .. }
            | Step::Remove { table, .. }
            | Step::Change { table, .. }
            | Step::Fill { table, .. }
            | Step::Require { table, .. }
            | Step::AddIndex { table, .. }
            | Step::DropIndex { table, .. } => table,
        }
    }
}

/// A table and its indexes.
pub fn recreate(table: Table) -> Vec<Step> {
    let indexes = table.indexes.clone().into_iter();
    let indexes: Vec<Step> = indexes.map(|index| Step::AddIndex { table: table.name.clone(), index }).collect();
    std::iter::once(Step::Create(table)).chain(indexes).collect()
}

/// A column that was removed: the rows that are there get something that it can hold.
fn restore(table: String, column: Column) -> Vec<Step> {
    if column.fills_itself() {
        return vec![Step::Add { table, column }];
    }
    let add = Step::Add { table: table.clone(), column: column.nullable() };
    std::iter::once(add).chain(require(table, column)).collect()
}

/// A column that may not be null again: rows without a value get one.
fn require(table: String, column: Column) -> impl Iterator<Item = Step> {
    let value = stand_in(&column);
    let fill = value.map(|value| Step::Fill { table: table.clone(), column: column.nullable(), value });
    fill.into_iter().chain([Step::Require { table, column }])
}

/// A value for rows that have none, so that what was not null can be so again: its default, or something empty. A
/// reference has none: which record would it be?
fn stand_in(column: &Column) -> Option<Value> {
    if column.reference.is_some() {
        return None;
    }
    if let Some(default) = &column.default {
        return Some(Value::Literal(default.clone()));
    }
    Some(storage::stand_in(column.storage))
}
