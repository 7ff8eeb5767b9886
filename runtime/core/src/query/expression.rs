//! An expression of the metadata as a condition of a query, with the values of the request.

use charter_model::expression::{self, Field, Node, Target};
use sea_orm::Value;

use crate::db::{Dialect, Sql};
use crate::expression::Request;
use crate::meta::ResourceMeta;

/// A part of the SQL of an expression.
#[derive(Debug, Clone)]
enum Piece {
    Sql(String),
    /// The alias of the record.
    Alias,
    Bound(Value),
}

/// SQL of an expression for one request, which can be written for a record of any alias.
#[derive(Debug, Clone)]
pub struct RowExpression {
    /// As it is written in the metadata.
    pub text: &'static str,
    pieces: Vec<Piece>,
    /// The tables of the records that its references lead to.
    pub tables: Vec<&'static str>,
}

impl RowExpression {
    /// `others` finds the resources that references lead to. A deleted record that a reference leads to has no values.
    pub fn new(
        text: &'static str,
        node: &Node,
        dialect: Dialect,
        request: &Request<'_>,
        others: &dyn Fn(&str) -> Option<&'static ResourceMeta>,
    ) -> RowExpression {
        let mut builder = Builder { dialect, request, others, pieces: Vec::new(), tables: Vec::new() };
        expression::write_sql(node, dialect.into(), &mut builder);
        RowExpression { text, pieces: builder.pieces, tables: builder.tables }
    }

    /// The number of values that it binds.
    pub fn values(&self) -> usize {
        self.pieces.iter().filter(|piece| matches!(piece, Piece::Bound(_))).count()
    }

    /// Writes it for the record `alias`.
    pub fn write(&self, sql: &mut Sql, alias: &str) {
        for piece in &self.pieces {
            match piece {
                Piece::Sql(text) => sql.push(text),
                Piece::Alias => sql.push(alias),
                Piece::Bound(value) => sql.bind(value.clone()),
            };
        }
    }
}

struct Builder<'a> {
    dialect: Dialect,
    request: &'a Request<'a>,
    others: &'a dyn Fn(&str) -> Option<&'static ResourceMeta>,
    pieces: Vec<Piece>,
    tables: Vec<&'static str>,
}

impl Builder<'_> {
    /// Binds a value. PostgreSQL must know its type where nothing else tells it.
    fn bind(&mut self, value: impl Into<Value>, postgres_type: &str) {
        self.pieces.push(Piece::Bound(value.into()));
        if self.dialect == Dialect::Postgres {
            self.text(&format!("::{postgres_type}"));
        }
    }
}

impl Target for Builder<'_> {
    fn text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Sql(before)) => before.push_str(text),
            _ => self.pieces.push(Piece::Sql(text.to_owned())),
        }
    }

    fn field(&mut self, field: &Field) {
        let Some(via) = &field.via else {
            self.pieces.push(Piece::Alias);
            self.text(&format!(".\"{}\"", field.name));
            return;
        };
        // Linking has found the resource of each reference.
        let Some(other) = (self.others)(&via.resource) else { return self.text("NULL") };
        self.tables.push(other.table);
        self.text(&format!("(SELECT x.\"{}\" FROM \"{}\" AS x WHERE x.\"id\" = ", field.name, other.table));
        self.pieces.push(Piece::Alias);
        let is_deleted = if other.soft_delete { " AND x.\"deleted_at\" IS NULL" } else { "" };
        self.text(&format!(".\"{}\"{is_deleted})", via.field));
    }

    fn request(&mut self, node: &Node) {
        match node {
            Node::Now => self.bind(self.request.now, "timestamptz"),
            Node::Today => self.bind(self.request.today(), "date"),
            _ => self.bind(self.request.caller.user_id, "bigint"),
        }
    }

    fn can(&mut self, permission: &str) -> bool {
        self.request.caller.has_permission(permission)
    }
}
