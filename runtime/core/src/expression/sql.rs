//! SQL of expressions in statements of the server.

use charter_model::expression::{self, Database, Field, Node, Target};

use super::Request;
use crate::db::{Dialect, Sql};
use crate::meta::ResourceMeta;

/// Writes an expression over the record `alias`. `others` finds the resources that references lead to. A deleted record
/// that a reference leads to has no values.
pub fn write(
    sql: &mut Sql,
    alias: &str,
    node: &Node,
    request: &Request<'_>,
    others: &dyn Fn(&str) -> Option<&'static ResourceMeta>,
) {
    let database = match sql.dialect {
        Dialect::Sqlite => Database::Sqlite,
        Dialect::Postgres => Database::Postgres,
    };
    expression::write_sql(node, database, &mut Statement { sql, alias, request, others });
}

struct Statement<'a> {
    sql: &'a mut Sql,
    alias: &'a str,
    request: &'a Request<'a>,
    others: &'a dyn Fn(&str) -> Option<&'static ResourceMeta>,
}

impl Statement<'_> {
    /// Binds a value. PostgreSQL must know its type where nothing else tells it.
    fn bind(&mut self, value: impl Into<sea_orm::Value>, postgres_type: &str) {
        self.sql.bind(value);
        if self.sql.dialect == Dialect::Postgres {
            self.sql.push("::").push(postgres_type);
        }
    }
}

impl Target for Statement<'_> {
    fn text(&mut self, sql: &str) {
        self.sql.push(sql);
    }

    fn field(&mut self, field: &Field) {
        let Some(via) = &field.via else {
            self.sql.push(self.alias).push(".").name(&field.name);
            return;
        };
        let Some(other) = (self.others)(&via.resource) else {
            // Linking has found the resource of each reference.
            self.sql.push("NULL");
            return;
        };
        let inner = format!("{}_x", self.alias);
        self.sql.push("(SELECT ").push(&inner).push(".").name(&field.name).push(" FROM ").name(other.table);
        self.sql.push(" AS ").push(&inner).push(" WHERE ").push(&inner).push(".\"id\" = ").push(self.alias).push(".");
        self.sql.name(&via.field);
        if other.soft_delete {
            self.sql.push(" AND ").push(&inner).push(".\"deleted_at\" IS NULL");
        }
        self.sql.push(")");
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
