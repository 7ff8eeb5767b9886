//! Random formulas that fit the types of columns.

use charter_runtime::meta::{FieldMeta, Kind};

use super::Random;

/// A text with other formulas in it.
#[derive(Debug, Clone)]
pub struct Formula {
    /// Each `{}` stands for a part.
    pattern: String,
    parts: Vec<Formula>,
}

/// The type of a formula.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Of {
    Condition,
    Number,
    Text,
    Date,
    Time,
}

impl Formula {
    /// A formula of any type with operations in it, one more than `depth` deep at most.
    pub fn any(random: &mut Random, columns: &'static [FieldMeta], depth: usize) -> Formula {
        let of = *random.choose(&[
            Of::Condition,
            Of::Condition,
            Of::Condition,
            Of::Number,
            Of::Number,
            Of::Text,
            Of::Date,
            Of::Time,
        ]);
        Maker { random, columns }.operation(of, depth)
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut parts = self.parts.iter();
        let mut pieces = self.pattern.split("{}");
        text.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            text.push_str(&parts.next().expect("a part for each place").text());
            text.push_str(piece);
        }
        text
    }

    pub fn parts(&self) -> &[Formula] {
        &self.parts
    }
}

fn is_number(kind: Kind) -> bool {
    matches!(kind, Kind::Integer | Kind::BigInt | Kind::Decimal { .. })
}

struct Maker<'a> {
    random: &'a mut Random,
    columns: &'static [FieldMeta],
}

impl Maker<'_> {
    fn with(&mut self, pattern: &str, of: &[Of], depth: usize) -> Formula {
        Formula { pattern: pattern.to_owned(), parts: of.iter().map(|of| self.make(*of, depth)).collect() }
    }

    fn leaf(&mut self, pattern: impl Into<String>) -> Formula {
        Formula { pattern: pattern.into(), parts: Vec::new() }
    }

    /// The name of a column of a type.
    fn column(&mut self, fits: impl Fn(Kind) -> bool) -> Option<Formula> {
        let columns = self.columns;
        let fitting: Vec<&str> = columns.iter().filter(|column| fits(column.kind)).map(|column| column.name).collect();
        if fitting.is_empty() {
            return None;
        }
        let name = *self.random.choose(&fitting);
        Some(self.leaf(name))
    }

    fn make(&mut self, of: Of, depth: usize) -> Formula {
        if depth == 0 || self.random.once_in(6) {
            return self.simple(of);
        }
        self.operation(of, depth - 1)
    }

    fn operation(&mut self, of: Of, deeper: usize) -> Formula {
        // Forms that every type has.
        match self.random.below(12) {
            0 => return self.with("coalesce({}, {})", &[of, of], deeper),
            1 => return self.with("if({}, {}, {})", &[Of::Condition, of, of], deeper),
            2 => return self.with("if({}, null, {})", &[Of::Condition, of], deeper),
            _ => {}
        }
        match of {
            Of::Condition => self.condition(deeper),
            Of::Number => self.number(deeper),
            // Texts have no operations of their own.
            Of::Text => self.with("if({}, {}, {})", &[Of::Condition, of, of], deeper),
            Of::Date => {
                let days = *self.random.choose(&[1, 28, 365, 1_000_000]);
                let sign = *self.random.choose(&["+", "-"]);
                self.with(&format!("({{}} {sign} {days} days)"), &[of], deeper)
            }
            Of::Time => {
                let (sign, unit) =
                    (*self.random.choose(&["+", "-"]), *self.random.choose(&["days", "hours", "minutes"]));
                let count = *self.random.choose(&[1, 24, 90, 800_000]);
                self.with(&format!("({{}} {sign} {count} {unit})"), &[of], deeper)
            }
        }
    }

    fn condition(&mut self, deeper: usize) -> Formula {
        let comparison = *self.random.choose(&["=", "!=", "<", "<=", ">", ">="]);
        let compare = format!("({{}} {comparison} {{}})");
        match self.random.below(14) {
            0 => self.with("({} and {})", &[Of::Condition; 2], deeper),
            1 => self.with("({} or {})", &[Of::Condition; 2], deeper),
            2 => self.with("(not {})", &[Of::Condition], deeper),
            3..=5 => self.with(&compare, &[Of::Number; 2], deeper),
            6 => self.with(&compare, &[Of::Date; 2], deeper),
            7 => self.with(&compare, &[Of::Time; 2], deeper),
            8 => {
                let of = *self.random.choose(&[Of::Text, Of::Condition, Of::Number]);
                let sign = *self.random.choose(&["=", "!="]);
                self.with(&format!("({{}} {sign} {{}})"), &[of, of], deeper)
            }
            9 => {
                let of = *self.random.choose(&[Of::Number, Of::Text, Of::Date, Of::Time]);
                let form = *self.random.choose(&["({} in [{}, {}])", "({} not in [{}, {}])"]);
                self.with(form, &[of; 3], deeper)
            }
            10 => {
                let of = *self.random.choose(&[Of::Condition, Of::Number, Of::Text, Of::Date, Of::Time]);
                let form = *self.random.choose(&["({} is null)", "({} is not null)"]);
                self.with(form, &[of], deeper)
            }
            11 => {
                let form = *self.random.choose(&["contains({}, {})", "starts_with({}, {})"]);
                self.with(form, &[Of::Text; 2], deeper)
            }
            12 => match self.column(|kind| matches!(kind, Kind::Enum { .. })) {
                Some(word) => Formula {
                    pattern: (*self.random.choose(&["({} = open)", "({} in [solved, closed])", "('open' != {})"]))
                        .to_owned(),
                    parts: vec![word],
                },
                None => self.simple(Of::Condition),
            },
            _ => {
                let alike = *self.random.choose(&["clock_", "uuid_", "time_", "day_"]);
                let columns = self.columns;
                let same: Vec<&str> =
                    columns.iter().map(|column| column.name).filter(|name| name.starts_with(alike)).collect();
                match same.as_slice() {
                    [] => self.simple(Of::Condition),
                    same => {
                        let (one, two) = (*self.random.choose(same), *self.random.choose(same));
                        let sign = if alike == "uuid_" { "=" } else { comparison };
                        self.leaf(format!("({one} {sign} {two})"))
                    }
                }
            }
        }
    }

    fn number(&mut self, deeper: usize) -> Formula {
        match self.random.below(12) {
            0..=2 => self.with("({} + {})", &[Of::Number; 2], deeper),
            3..=4 => self.with("({} - {})", &[Of::Number; 2], deeper),
            5..=6 => self.with("({} * {})", &[Of::Number; 2], deeper),
            7 => self.with("(-{})", &[Of::Number], deeper),
            8 => self.with("abs({})", &[Of::Number], deeper),
            9 => self.with("length({})", &[Of::Text], deeper),
            10 => {
                let form = *self.random.choose(&["days({}, {})", "year({})", "month({})"]);
                let count = form.matches("{}").count();
                self.with(form, &[Of::Date; 2][..count], deeper)
            }
            _ => {
                // A factor with places, so that there is something to round.
                let places = self.random.below(3);
                self.with(&format!("round({{}} * 0.377, {places})"), &[Of::Number], deeper)
            }
        }
    }

    /// A column or a literal.
    fn simple(&mut self, of: Of) -> Formula {
        let column = match of {
            Of::Condition => self.column(|kind| kind == Kind::Boolean),
            Of::Number => self.column(is_number),
            Of::Text => self.column(|kind| matches!(kind, Kind::Text | Kind::String { .. })),
            Of::Date => self.column(|kind| kind == Kind::Date),
            Of::Time => self.column(|kind| matches!(kind, Kind::Timestamp { .. })),
        };
        match column {
            Some(column) if !self.random.once_in(4) => column,
            _ => {
                let literals: &[&str] = match of {
                    Of::Condition => &["true", "false", "caller.can(tickets.all)", "caller.can(tickets.none)"],
                    Of::Number => &["0", "1", "2", "0.5", "12.25", "100", "caller.id"],
                    Of::Text => &["''", "'a'", "'Zoë'", "'it''s'", "'日本'", "'%'"],
                    Of::Date => &["today", "date '2024-02-29'", "date '0001-01-01'", "date '9999-12-31'"],
                    Of::Time => &["now"],
                };
                let literal = *self.random.choose(literals);
                self.leaf(literal)
            }
        }
    }
}
