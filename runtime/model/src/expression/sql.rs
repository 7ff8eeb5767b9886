//! SQL of a checked expression, for both databases.
//!
//! SQLite stores a decimal as an integer, and computes with integers of 64 bits; PostgreSQL has exact decimals. The checker has
//! aligned the decimal places and bounded the numbers, so that both get the same result.

use super::{Arithmetic, Comparison, Field, Function, Logic, Node};

/// The database that reads the SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Database {
    Sqlite,
    Postgres,
}

/// The statement that gets the SQL of an expression.
pub trait Target {
    fn text(&mut self, sql: &str);

    /// The column of a field, or a scalar subquery for a field of another record.
    fn field(&mut self, field: &Field);

    /// The time, the day, or the caller's id of the request: [`Node::Now`], [`Node::Today`] or [`Node::CallerId`].
    fn request(&mut self, node: &Node);

    /// True if the caller has the permission.
    fn can(&mut self, permission: &str) -> bool;
}

/// Writes an expression.
pub fn write_sql(node: &Node, database: Database, target: &mut dyn Target) {
    Writer { database, target }.write(node);
}

struct Writer<'a> {
    database: Database,
    target: &'a mut dyn Target,
}

/// A part of a pattern: text, or a node of the expression.
enum Part<'a> {
    Sql(&'a str),
    Node(&'a Node),
}

impl Writer<'_> {
    fn is_postgres(&self) -> bool {
        self.database == Database::Postgres
    }

    /// Writes a text in which each `$1`, `$2` and `$3` stands for a part.
    fn pattern(&mut self, pattern: &str, nodes: &[&Node]) {
        let mut rest = pattern;
        while let Some((before, after)) = rest.split_once('$') {
            let index = usize::from(after.as_bytes()[0] - b'1');
            self.part(Part::Sql(before));
            self.part(Part::Node(nodes[index]));
            rest = &after[1..];
        }
        self.part(Part::Sql(rest));
    }

    fn part(&mut self, part: Part<'_>) {
        match part {
            Part::Sql(sql) => self.target.text(sql),
            Part::Node(node) => self.write(node),
        }
    }

    /// The pattern for this database.
    fn either(&mut self, sqlite: &str, postgres: &str, nodes: &[&Node]) {
        let pattern = if self.is_postgres() { postgres } else { sqlite };
        self.pattern(pattern, nodes);
    }

    fn write(&mut self, node: &Node) {
        match node {
            Node::Null => self.target.text("NULL"),
            Node::Boolean(value) => self.boolean(*value),
            Node::Number { scaled, places } => {
                let text = if self.is_postgres() { decimal(*scaled, *places) } else { scaled.to_string() };
                self.target.text(&text);
            }
            Node::Text(text) => self.quoted(text),
            Node::Date(day) => {
                self.target.text(if self.is_postgres() { "DATE " } else { "" });
                self.quoted(day);
            }
            Node::Field(field) => self.target.field(field),
            Node::Now | Node::Today | Node::CallerId => self.target.request(node),
            Node::CallerCan(permission) => {
                let can = self.target.can(permission);
                self.boolean(can);
            }
            // PostgreSQL would compute with 32 bits where both sides have them.
            Node::Negate(inner) => self.either("(-$1)", "(-($1)::numeric)", &[inner]),
            Node::Widen(inner, more) if !self.is_postgres() => {
                self.pattern(&format!("($1 * {})", 10_i64.pow(*more)), &[inner]);
            }
            Node::Widen(inner, _) => self.write(inner),
            Node::Round(inner, fewer, places) => self.round(inner, *fewer, *places),
            Node::Not(inner) => self.pattern("(NOT $1)", &[inner]),
            Node::Logic(Logic::And, one, two) => self.pattern("($1 AND $2)", &[one, two]),
            Node::Logic(Logic::Or, one, two) => self.pattern("($1 OR $2)", &[one, two]),
            Node::Compare(comparison, one, two) => {
                self.pattern(&format!("($1 {} $2)", operator(*comparison)), &[one, two]);
            }
            Node::In(one, others) => {
                self.pattern("($1 IN (", &[one]);
                self.list(others);
                self.target.text("))");
            }
            Node::IsNull(inner) => self.pattern("($1 IS NULL)", &[inner]),
            Node::Arithmetic(arithmetic, one, two) => {
                let sign = match arithmetic {
                    Arithmetic::Add => '+',
                    Arithmetic::Subtract => '-',
                    Arithmetic::Multiply => '*',
                };
                let (sqlite, postgres) = (format!("($1 {sign} $2)"), format!("(($1)::numeric {sign} ($2)::numeric)"));
                self.either(&sqlite, &postgres, &[one, two]);
            }
            Node::ShiftDate(inner, days) => self.shift_date(inner, *days),
            Node::ShiftTime(inner, minutes) => self.shift_time(inner, *minutes),
            Node::Call(function, arguments) => self.call(*function, arguments),
        }
    }

    fn call(&mut self, function: Function, arguments: &[Node]) {
        let nodes: Vec<&Node> = arguments.iter().collect();
        match function {
            Function::Length => self.pattern("length($1)", &nodes),
            Function::Contains => self.either("(instr($1, $2) > 0)", "(strpos($1, $2) > 0)", &nodes),
            Function::StartsWith => self.either("(instr($1, $2) = 1)", "(strpos($1, $2) = 1)", &nodes),
            Function::Coalesce => {
                self.target.text("coalesce(");
                self.list(arguments);
                self.target.text(")");
            }
            Function::If => self.pattern("(CASE WHEN $1 THEN $2 ELSE $3 END)", &nodes),
            Function::Abs => self.either("abs($1)", "abs(($1)::numeric)", &nodes),
            Function::Days => {
                self.either("CAST(julianday($1) - julianday($2) AS INTEGER)", "($1 - $2)", &nodes);
            }
            Function::Year => {
                self.either("CAST(substr($1, 1, 4) AS INTEGER)", "extract(year FROM $1)::integer", &nodes);
            }
            Function::Month => {
                self.either("CAST(substr($1, 6, 2) AS INTEGER)", "extract(month FROM $1)::integer", &nodes);
            }
        }
    }

    fn list(&mut self, nodes: &[Node]) {
        for (index, node) in nodes.iter().enumerate() {
            self.target.text(if index == 0 { "" } else { ", " });
            self.write(node);
        }
    }

    fn boolean(&mut self, value: bool) {
        let (sqlite, postgres) = if value { ("(1=1)", "true") } else { ("(1=0)", "false") };
        self.target.text(if self.is_postgres() { postgres } else { sqlite });
    }

    fn quoted(&mut self, text: &str) {
        self.target.text(&format!("'{}'", text.replace('\'', "''")));
    }

    /// The subquery writes the number once, because a number in a number would be written for each combination.
    fn round(&mut self, inner: &Node, fewer: u32, places: u32) {
        if self.is_postgres() {
            self.pattern(&format!("round(($1)::numeric, {})", places - fewer), &[inner]);
            return;
        }
        let unit = 10_i64.pow(fewer);
        let half = unit / 2;
        self.pattern(
            &format!("(SELECT CASE WHEN v < 0 THEN (v - {half}) / {unit} ELSE (v + {half}) / {unit} END FROM (SELECT $1 AS v))"),
            &[inner],
        );
    }

    fn shift_date(&mut self, inner: &Node, days: i64) {
        let (sqlite, postgres) = (format!("date($1, '{days:+} days')"), format!("($1 + ({days}))"));
        let sqlite = format!("(CASE WHEN {sqlite} >= '0001' THEN {sqlite} END)");
        let postgres =
            format!("(CASE WHEN {postgres} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN {postgres} END)");
        self.either(&sqlite, &postgres, &[inner]);
    }

    /// A stored time is text such as `2026-03-21T10:00:00.500+00:00`: only its first 19 characters change.
    fn shift_time(&mut self, inner: &Node, minutes: i64) {
        let moved = format!("strftime('%Y-%m-%dT%H:%M:%S', substr($1, 1, 19), '{minutes:+} minutes')");
        let sqlite = format!("(CASE WHEN {moved} >= '0001' THEN {moved} || substr($1, 20) END)");
        let moved = format!("($1 + interval '{minutes} minutes')");
        let postgres = format!(
            "(CASE WHEN {moved} >= TIMESTAMPTZ '0001-01-01 00:00:00+00' AND {moved} < TIMESTAMPTZ '10000-01-01 00:00:00+00' \
             THEN {moved} END)"
        );
        self.either(&sqlite, &postgres, &[inner]);
    }
}

fn operator(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => "=",
        Comparison::Different => "<>",
        Comparison::Less => "<",
        Comparison::AtMost => "<=",
        Comparison::More => ">",
        Comparison::AtLeast => ">=",
    }
}

/// `1250` with two places: `12.50`.
fn decimal(scaled: i64, places: u32) -> String {
    let digits = format!("{scaled:0width$}", width = places as usize + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places as usize);
    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
}

impl Node {
    /// True if both databases take the condition in a partial index. PostgreSQL refuses the sum of a timestamp and an interval,
    /// which may depend on the time zone; SQLite refuses the subquery of `round`.
    pub fn is_indexable(&self) -> bool {
        !self.any(|part| match part {
            Node::Round(..) | Node::ShiftDate(..) | Node::ShiftTime(..) => true,
            Node::Call(function, _) => match function {
                Function::Days => true,
                Function::Length
                | Function::Contains
                | Function::StartsWith
                | Function::Coalesce
                | Function::If
                | Function::Abs
                | Function::Year
                | Function::Month => false,
            },
            _ => false,
        })
    }
}
