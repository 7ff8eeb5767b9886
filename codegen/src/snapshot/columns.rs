//! SQL of an expression over the columns of one table, as an index and the update of a computed column have it.

use charter_model::expression::{Database, Field, Node, Target, write_sql};

/// The SQL of an expression that the check has accepted without a request.
pub fn sql(node: &Node, database: Database) -> String {
    let mut columns = Columns(String::new());
    write_sql(node, database, &mut columns);
    columns.0
}

struct Columns(String);

impl Target for Columns {
    fn text(&mut self, sql: &str) {
        self.0.push_str(sql);
    }

    fn field(&mut self, field: &Field) {
        self.0.push_str(&format!("\"{}\"", field.name));
    }

    fn request(&mut self, _: &Node) {
        unreachable!("the check refuses a condition that depends on the request");
    }

    fn can(&mut self, _: &str) -> bool {
        unreachable!("the check refuses a condition that depends on the request");
    }
}
