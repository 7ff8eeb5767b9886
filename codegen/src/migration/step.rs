//! Steps of a migration. Each is one call of `charter_migrations::Table`, and can be undone.

use super::storage;
use super::table::{Column, Index, Table};

/// One step.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    Create(Table),
    Drop(Table),
    /// Renames a table with the constraints named after it: those of its key, and the foreign keys of `referring`.
    RenameTable {
        from: String,
        to: String,
        singleton: bool,
        referring: Vec<String>,
    },
    /// Renames a column, with its foreign key if it has one.
    RenameColumn {
        table: String,
        from: String,
        to: String,
        refers: bool,
    },
    /// Renames an index, which stays over its columns under their later names.
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
    /// Changes the type, nullability, default or reference of a column.
    Change {
        table: String,
        from: Column,
        to: Column,
    },
    /// Sets a value in every row without one, in batches.
    Fill {
        table: String,
        column: Column,
        value: Value,
    },
    /// Sets a computed column in every row, in batches.
    Compute {
        table: String,
        column: String,
        sqlite: String,
        postgres: String,
    },
    /// Makes a column not null.
    Require {
        table: String,
        column: Column,
    },
    /// Fails if rows repeat a value of a unique index that a later step creates.
    CheckUnique {
        table: String,
        index: Index,
    },
    AddIndex {
        table: String,
        index: Index,
    },
    DropIndex {
        table: String,
        index: Index,
    },
    /// Counts the rows that break a rule, and warns of them. The rule is as in YAML; the SQL is the condition of those rows.
    Verify {
        table: String,
        rule: String,
        sqlite: String,
        postgres: String,
    },
}

/// The value for rows that have none.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Literal(String),
    /// The time, or the day, of the migration.
    Now,
}

impl Step {
    /// The steps that undo it, in order.
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
                // The type is restored first: the stand-in is a value of the former type.
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
            Step::Fill { .. } | Step::Compute { .. } | Step::CheckUnique { .. } | Step::Verify { .. } => Vec::new(),
            Step::Require { table, column } => {
                vec![Step::Change { table, to: column.nullable(), from: column }]
            }
            Step::AddIndex { table, index } => vec![Step::DropIndex { table, index }],
            Step::DropIndex { table, index } => vec![Step::AddIndex { table, index }],
        }
    }

    /// The table of the step, by its name before the step.
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
            | Step::Compute { table, .. }
            | Step::Require { table, .. }
            | Step::CheckUnique { table, .. }
            | Step::AddIndex { table, .. }
            | Step::DropIndex { table, .. }
            | Step::Verify { table, .. } => table,
        }
    }
}

/// The steps that create a table with its indexes.
pub fn recreate(table: Table) -> Vec<Step> {
    let indexes = table.indexes.clone().into_iter();
    let indexes: Vec<Step> = indexes.map(|index| Step::AddIndex { table: table.name.clone(), index }).collect();
    std::iter::once(Step::Create(table)).chain(indexes).collect()
}

/// The steps that add a removed column again. Existing rows get a stand-in.
fn restore(table: String, column: Column) -> Vec<Step> {
    if column.fills_itself() {
        return vec![Step::Add { table, column }];
    }
    let add = Step::Add { table: table.clone(), column: column.nullable() };
    std::iter::once(add).chain(require(table, column)).collect()
}

/// The steps that make a column not null again. Rows without a value get a stand-in.
fn require(table: String, column: Column) -> impl Iterator<Item = Step> {
    let value = stand_in(&column);
    let fill = value.map(|value| Step::Fill { table: table.clone(), column: column.nullable(), value });
    fill.into_iter().chain([Step::Require { table, column }])
}

/// A value for rows without one: the default, or something empty. None for a reference, because no record is right for
/// all.
fn stand_in(column: &Column) -> Option<Value> {
    if column.reference.is_some() {
        return None;
    }
    if let Some(default) = &column.default {
        return Some(Value::Literal(default.clone()));
    }
    Some(storage::stand_in(column.storage))
}
