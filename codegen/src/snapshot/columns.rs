//! SQL of an expression over the columns of one table, as an index and the update of a computed column have it.

use charter_model::expression::{Database, Field, Node, Target, write_sql};

use crate::model::Schema;

/// The SQL of an expression that the check has accepted without a request and without other records.
pub fn sql(node: &Node, database: Database) -> String {
    write(node, database, None)
}

/// The SQL of an expression without a request, for an `UPDATE` of a table.
pub fn sql_of(node: &Node, database: Database, table: &str, schema: &Schema) -> String {
    write(node, database, Some((table, schema)))
}

fn write(node: &Node, database: Database, table: Option<(&str, &Schema)>) -> String {
    let mut columns = Columns { sql: String::new(), table };
    write_sql(node, database, &mut columns);
    columns.sql
}

struct Columns<'a> {
    sql: String,
    /// The table with the columns, and the schema with those that its references lead to.
    table: Option<(&'a str, &'a Schema)>,
}

impl Target for Columns<'_> {
    fn text(&mut self, sql: &str) {
        self.sql.push_str(sql);
    }

    fn field(&mut self, field: &Field) {
        let (Some(via), Some((table, schema))) = (&field.via, self.table) else {
            return self.sql.push_str(&format!("\"{}\"", field.name));
        };
        // The check has found the resource of each reference.
        let Some(other) = schema.find(&via.resource) else { return self.sql.push_str("NULL") };
        let is_deleted = if other.soft_delete { " AND x.\"deleted_at\" IS NULL" } else { "" };
        self.sql.push_str(&format!(
            "(SELECT x.\"{}\" FROM \"{}\" AS x WHERE x.\"id\" = \"{table}\".\"{}\"{is_deleted})",
            field.name,
            other.table.as_str(),
            via.field
        ));
    }

    fn request(&mut self, _: &Node) {
        unreachable!("the check refuses a condition that depends on the request");
    }

    fn can(&mut self, _: &str) -> bool {
        unreachable!("the check refuses a condition that depends on the request");
    }
}
