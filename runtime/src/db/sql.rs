//! SQL text under construction: pieces and bound values, with what differs between the dialects in one place.

use std::fmt::Write;

use sea_orm::{ConnectionTrait, DbBackend, QueryResult, Statement, Value};

use super::sqlite_bind::json_array;
use super::{Connection, Dialect};
use crate::error::Result;

/// SQLite looks the name of a parameter up among all of a statement, which for 32,000 takes seconds: a list of more values is
/// one there. Of fewer it knows how many rows they may find, and plans with that.
const MAX_BOUND_LIST_ITEMS: usize = 20;

/// What always holds, and what never does: a column may be called `true`, which SQLite takes a bare TRUE for.
pub const TRUE: &str = "1=1";
pub const FALSE: &str = "1=0";

/// A statement being written. Values are only ever bound, never spliced into the text.
#[derive(Debug, Clone)]
pub struct Sql {
    pub dialect: Dialect,
    pub text: String,
    pub values: Vec<Value>,
    /// Whether PostgreSQL plans it for its values each time.
    pub(super) needs_custom_plan: bool,
}

/// What stands for a value in a statement.
#[derive(Debug, Clone)]
pub enum Operand<'e> {
    /// The value, bound.
    Bound(Value),
    /// An expression that has it.
    Is(&'e str),
    /// A column of what is called so.
    Of(&'e str, &'e str),
}

impl Sql {
    pub fn new(dialect: Dialect, text: impl Into<String>) -> Sql {
        Sql { dialect, text: text.into(), values: Vec::new(), needs_custom_plan: false }
    }

    /// Appends text as it is.
    pub fn push(&mut self, text: &str) -> &mut Sql {
        self.text.push_str(text);
        self
    }

    /// Appends a name in double quotes. Names come from metadata, where they are snake_case.
    pub fn name(&mut self, name: &str) -> &mut Sql {
        self.text.push('"');
        self.text.push_str(name);
        self.text.push('"');
        self
    }

    /// Appends a placeholder and binds the value to it.
    pub fn bind(&mut self, value: impl Into<Value>) -> &mut Sql {
        self.values.push(value.into());
        // SQLite's driver reads `$n` like PostgreSQL's.
        self.text.push('$');
        let _ = write!(self.text, "{}", self.values.len());
        self
    }

    /// Says that its values decide how it is best carried out. From its sixth execution on a connection PostgreSQL may plan a
    /// prepared statement without them: a rare text is then looked for along the order of a million names. A pool that reads
    /// has it planned for its values each time.
    pub fn with_custom_plan(mut self) -> Sql {
        self.needs_custom_plan = true;
        self
    }

    /// Appends what stands for a value.
    pub fn operand(&mut self, operand: Operand<'_>) -> &mut Sql {
        match operand {
            Operand::Bound(value) => self.bind(value),
            Operand::Is(expression) => self.push(expression),
            Operand::Of(table, column) => self.push(table).push(".").name(column),
        }
    }

    /// Appends `<left> IN (all of ids)` in a form whose text says only whether they are several, so that few prepared
    /// statements serve. PostgreSQL would plan one anew each time for an array whose length it sees, because it takes an
    /// array that it does not see for ten: ten times the work of finding a record.
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

    /// Appends a table in parentheses: the rows, each a JSON array, with these columns of these PostgreSQL types.
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

    /// Appends a list of values in parentheses, as it stands behind `IN`; PostgreSQL takes none without values.
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

    /// All rows.
    pub async fn all(self, connection: &Connection) -> Result<Vec<QueryResult>> {
        Ok(connection.query_all_raw(self.statement()).await?)
    }

    /// The first row.
    pub async fn one(self, connection: &Connection) -> Result<Option<QueryResult>> {
        Ok(connection.query_one_raw(self.statement()).await?)
    }

    /// Runs it and answers how many rows it changed.
    pub async fn run(self, connection: &Connection) -> Result<u64> {
        Ok(connection.execute_raw(self.statement()).await?.rows_affected())
    }

    /// The text and the values in one: another statement, or another value, is another text.
    pub fn with_literals(&self) -> String {
        let mut text = String::with_capacity(self.text.len() + 24 * self.values.len());
        text.push_str(&self.text);
        self.values.iter().for_each(|value| write_out(&mut text, value));
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

/// A statement of PostgreSQL that SeaORM wrote.
impl From<Statement> for Sql {
    fn from(statement: Statement) -> Sql {
        let values = statement.values.map(|values| values.0).unwrap_or_default();
        Sql { values, ..Sql::new(Dialect::Postgres, statement.sql) }
    }
}

/// A value with its type, so written that no two look alike.
fn write_out(text: &mut String, value: &Value) {
    let _ = match value {
        Value::BigInt(Some(number)) => write!(text, "\n{number}"),
        Value::String(Some(inner)) => write!(text, "\n{}\"{inner}", inner.len()),
        Value::Array(_, Some(inner)) => {
            let begun = write!(text, "\n[");
            inner.iter().for_each(|value| write_out(text, value));
            begun.and_then(|()| write!(text, "\n]"))
        }
        other => write!(text, "\n{other:?}"),
    };
}
