//! SQL statement builder: text and bound values for both dialects.

use std::fmt::Write;

use sea_orm::{ConnectionTrait, DbBackend, QueryResult, Statement, Value};

use super::sqlite_bind::json_array;
use super::{Connection, Dialect};
use crate::error::Result;

/// SQLite: limit on individually bound list items, above which a list is one JSON parameter. SQLite looks up each
/// parameter name among all others, which takes seconds for 32,000. For shorter lists, it estimates the rows from the
/// number of items.
const MAX_BOUND_LIST_ITEMS: usize = 20;

/// Constant conditions. SQLite takes a bare TRUE for a column named `true` if there is one.
pub const TRUE: &str = "1=1";
pub const FALSE: &str = "1=0";

/// A statement under construction. Values are always bound, never spliced into the text.
#[derive(Debug, Clone)]
pub struct Sql {
    pub dialect: Dialect,
    pub text: String,
    pub values: Vec<Value>,
    /// True if PostgreSQL must use a custom plan.
    pub(super) needs_custom_plan: bool,
}

/// A value in a statement.
#[derive(Debug, Clone)]
pub enum Operand<'e> {
    /// A bound value.
    Bound(Value),
    /// An SQL expression.
    Expression(&'e str),
    /// A column of a table alias.
    Column(&'e str, &'e str),
}

impl Sql {
    pub fn new(dialect: Dialect, text: impl Into<String>) -> Sql {
        Sql { dialect, text: text.into(), values: Vec::new(), needs_custom_plan: false }
    }

    /// Appends text.
    pub fn push(&mut self, text: &str) -> &mut Sql {
        self.text.push_str(text);
        self
    }

    /// Appends a quoted name. Names come from metadata, where they are snake_case.
    pub fn name(&mut self, name: &str) -> &mut Sql {
        self.text.push('"');
        self.text.push_str(name);
        self.text.push('"');
        self
    }

    /// Binds a value and appends its placeholder.
    pub fn bind(&mut self, value: impl Into<Value>) -> &mut Sql {
        self.values.push(value.into());
        // SQLite's driver accepts `$n` like PostgreSQL's.
        self.text.push('$');
        let _ = write!(self.text, "{}", self.values.len());
        self
    }

    /// Requests a custom plan, because the best plan depends on the values. From the sixth execution on a connection,
    /// PostgreSQL may use a generic plan, which can search for a rare text along an index of a million names.
    /// The record reader forces custom plans.
    pub fn with_custom_plan(mut self) -> Sql {
        self.needs_custom_plan = true;
        self
    }

    /// Appends an operand.
    pub fn operand(&mut self, operand: Operand<'_>) -> &mut Sql {
        match operand {
            Operand::Bound(value) => self.bind(value),
            Operand::Expression(expression) => self.push(expression),
            Operand::Column(table, column) => self.push(table).push(".").name(column),
        }
    }

    /// Appends `<left> IN (ids)`. The text depends only on one or several ids, so that few prepared statements serve
    /// all. PostgreSQL would use a custom plan each time for a plain array parameter, because a generic plan assumes
    /// ten elements; planning costs ten times as much as finding a record. The subquery hides the length.
    pub fn in_ids(&mut self, left: &str, ids: &[i64]) -> &mut Sql {
        self.push(left);
        match self.dialect {
            Dialect::Postgres if ids.len() == 1 => self.push(" = ").bind(ids[0]),
            Dialect::Postgres => self.push(" = ANY(ARRAY(SELECT unnest(").bind(ids.to_vec()).push(")))"),
            Dialect::Sqlite => {
                let list = serde_json::to_string(ids).unwrap_or_default();
                self.push(" IN (SELECT value FROM json_each(").bind(list).push("))")
            }
        }
    }

    /// Appends a subquery with these rows, each a JSON array, and columns with PostgreSQL types.
    pub fn values_table(&mut self, rows: Vec<serde_json::Value>, columns: &[(&str, &str)]) -> &mut Sql {
        let rows = serde_json::Value::from(rows).to_string();
        self.push("(SELECT ");
        for (index, (name, kind)) in columns.iter().enumerate() {
            self.push(if index > 0 { ", " } else { "" });
            match self.dialect {
                Dialect::Postgres => self.push(&format!("(j ->> {index})::{kind} AS \"{name}\"")),
                Dialect::Sqlite => self.push(&format!("\"value\" ->> {index} AS \"{name}\"")),
            };
        }
        match self.dialect {
            Dialect::Postgres => self.push(" FROM jsonb_array_elements(").bind(rows).push("::jsonb) AS j)"),
            Dialect::Sqlite => self.push(" FROM json_each(").bind(rows).push("))"),
        }
    }

    /// Appends a parenthesized list for `IN`. The list must not be empty: PostgreSQL rejects `IN ()`.
    pub fn values_list(&mut self, values: &[Value]) -> &mut Sql {
        if self.dialect == Dialect::Sqlite
            && values.len() > MAX_BOUND_LIST_ITEMS
            && let Some(list) = json_array(values)
        {
            return self.push("(SELECT ").push(list.element).push(" FROM json_each(").bind(list.text).push("))");
        }
        self.push("(");
        for (index, value) in values.iter().enumerate() {
            self.push(if index == 0 { "" } else { ", " }).bind(value.clone());
        }
        self.push(")")
    }

    /// Returns all rows.
    pub async fn all(self, connection: &Connection) -> Result<Vec<QueryResult>> {
        Ok(connection.query_all_raw(self.statement()).await?)
    }

    /// Returns the first row.
    pub async fn one(self, connection: &Connection) -> Result<Option<QueryResult>> {
        Ok(connection.query_one_raw(self.statement()).await?)
    }

    /// Runs the statement and returns the number of changed rows.
    pub async fn run(self, connection: &Connection) -> Result<u64> {
        Ok(connection.execute_raw(self.statement()).await?.rows_affected())
    }

    /// The text and the values as one text, which identifies the statement with its values.
    pub fn with_literals(&self) -> String {
        let mut text = String::with_capacity(self.text.len() + 24 * self.values.len());
        text.push_str(&self.text);
        self.values.iter().for_each(|value| write_literal(&mut text, value));
        text
    }

    pub(super) fn statement(self) -> Statement {
        let backend = match self.dialect {
            Dialect::Sqlite => DbBackend::Sqlite,
            Dialect::Postgres => DbBackend::Postgres,
        };
        Statement::from_sql_and_values(backend, self.text, self.values)
    }
}

/// Converts a PostgreSQL statement that SeaORM built.
impl From<Statement> for Sql {
    fn from(statement: Statement) -> Sql {
        let values = statement.values.map(|values| values.0).unwrap_or_default();
        Sql { values, ..Sql::new(Dialect::Postgres, statement.sql) }
    }
}

/// Appends a value with its type, unambiguously.
fn write_literal(text: &mut String, value: &Value) {
    let _ = match value {
        Value::BigInt(Some(number)) => write!(text, "\n{number}"),
        Value::String(Some(inner)) => write!(text, "\n{}\"{inner}", inner.len()),
        Value::Array(_, Some(inner)) => {
            let opened = write!(text, "\n[");
            inner.iter().for_each(|value| write_literal(text, value));
            opened.and_then(|()| write!(text, "\n]"))
        }
        other => write!(text, "\n{other:?}"),
    };
}
