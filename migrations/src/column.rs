//! Columns: how each kind of field is stored on PostgreSQL and on SQLite.
//!
//! | Kind | PostgreSQL | SQLite | |
//! |---|---|---|---|
//! | [`id`] | `bigint` identity | `integer` autoincrement | an id is never used again |
//! | [`string`] | `varchar(n) COLLATE "C"` | `varchar(n)` | text compares by code point on both |
//! | [`text`] | `text COLLATE "C"` | `text` | |
//! | [`enumeration`] | `varchar(64) COLLATE "C"` | `varchar(64)` | the word itself |
//! | [`integer`], codes | `integer` | `integer` | |
//! | [`bigint`], [`reference()`] | `bigint` | `bigint` | |
//! | [`boolean`] | `boolean` | `boolean` | |
//! | [`decimal`] | `numeric(p, s)` | `bigint`: the value × 10^s | exact, also when compared and sorted |
//! | [`timestamp`] | `timestamp with time zone` | text | bound as `DateTime<Utc>` of whole milliseconds |
//! | [`date`] | `date` | text | |
//! | [`uuid`] | `uuid` | 16 bytes | |
//! | [`json`], [`list`], [`custom_fields`] | `jsonb` | text | |
//!
//! A column is not null unless it says [`Column::nullable`], and has a default where the resource gives a literal one,
//! so that rows loaded past the application are valid too. Times have none: SQLite's own `CURRENT_TIMESTAMP` is
//! written in a form that does not compare with the one that the application writes.

mod storage;

use sea_orm_migration::sea_orm::DbBackend;
use sea_orm_migration::sea_query::{Alias, ColumnDef, Expr};

use crate::table::{foreign_key, owned};

/// The most characters that a word of an enumeration has.
const WORD: u32 = 64;

/// One column of a table, as data: what it is stored as is decided when the database is known.
#[derive(Debug, Clone)]
pub struct Column {
    pub(crate) name: String,
    kind: Kind,
    nullable: bool,
    default: Option<Literal>,
    references: Option<Reference>,
}

/// What a column holds.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Id,
    SingletonId,
    String(u32),
    Text,
    Integer,
    BigInt,
    Boolean,
    Decimal {
        precision: u32,
        places: u32,
    },
    Timestamp,
    Date,
    Uuid,
    /// JSON that is `empty` where a row does not give it.
    Json {
        empty: &'static str,
    },
}

/// The record that a column refers to.
#[derive(Debug, Clone)]
struct Reference {
    table: String,
    cascade: bool,
}

/// The value that a row gets when it does not give one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Literal {
    Boolean(bool),
    Integer(i64),
    /// Also the value of a decimal, `"0.25"`, so that it is exact, and of JSON.
    Text(String),
}

impl From<bool> for Literal {
    fn from(value: bool) -> Literal {
        Literal::Boolean(value)
    }
}

impl From<i64> for Literal {
    fn from(value: i64) -> Literal {
        Literal::Integer(value)
    }
}

impl From<&str> for Literal {
    fn from(value: &str) -> Literal {
        Literal::Text(value.to_owned())
    }
}

/// The primary key of every table but a singleton's.
pub fn id() -> Column {
    Column::new("id", Kind::Id)
}

/// The primary key of a table that holds one row at most: it is always 1.
pub fn singleton_id() -> Column {
    Column::new("id", Kind::SingletonId)
}

/// One line of at most `max` characters.
pub fn string(name: &str, max: u32) -> Column {
    Column::new(name, Kind::String(max))
}

/// Text of any length.
pub fn text(name: &str) -> Column {
    Column::new(name, Kind::Text)
}

/// One word of a list that the application knows. The database does not, so that the list can grow without a migration.
pub fn enumeration(name: &str) -> Column {
    Column::new(name, Kind::String(WORD))
}

/// A number of 32 bits, or a code.
pub fn integer(name: &str) -> Column {
    Column::new(name, Kind::Integer)
}

/// A number of 64 bits.
pub fn bigint(name: &str) -> Column {
    Column::new(name, Kind::BigInt)
}

pub fn boolean(name: &str) -> Column {
    Column::new(name, Kind::Boolean)
}

/// An exact number of at most `precision` digits, `places` of them behind the point.
///
/// # Panics
/// Above 18 digits, which an integer of 64 bits cannot hold.
pub fn decimal(name: &str, precision: u32, places: u32) -> Column {
    assert!(places <= precision && precision <= 18, "{name}: decimal({precision}, {places}) has no exact form");
    Column::new(name, Kind::Decimal { precision, places })
}

/// A moment. What is bound is a `DateTime<Utc>` of whole milliseconds, so that on SQLite the texts compare as the times.
pub fn timestamp(name: &str) -> Column {
    Column::new(name, Kind::Timestamp)
}

/// A calendar day.
pub fn date(name: &str) -> Column {
    Column::new(name, Kind::Date)
}

pub fn uuid(name: &str) -> Column {
    Column::new(name, Kind::Uuid)
}

/// An object; empty, or null where that may be, by default.
pub fn json(name: &str) -> Column {
    Column::new(name, Kind::Json { empty: "{}" })
}

/// A list of strings or of ids; empty, or null where that may be, by default.
pub fn list(name: &str) -> Column {
    Column::new(name, Kind::Json { empty: "[]" })
}

/// The values of a record's custom fields by name; empty by default.
pub fn custom_fields() -> Column {
    json("custom_fields")
}

/// The id of a record in `table`, which cannot be deleted while it is referred to.
pub fn reference(name: &str, table: &str) -> Column {
    let references = Reference { table: table.to_owned(), cascade: false };
    Column { references: Some(references), ..Column::new(name, Kind::BigInt) }
}

impl Column {
    fn new(name: &str, kind: Kind) -> Column {
        Column { name: name.to_owned(), kind, nullable: false, default: None, references: None }
    }

    /// The column may be null, and is when a row does not give it and it has no default.
    pub fn nullable(self) -> Column {
        Column { nullable: true, ..self }
    }

    /// The value of a row that does not give one. That of a decimal is the number itself on either database.
    pub fn default(self, value: impl Into<Literal>) -> Column {
        Column { default: Some(value.into()), ..self }
    }

    /// The row goes when the record goes that this column refers to.
    pub fn cascade(mut self) -> Column {
        let references = self.references.as_mut().expect("only a reference cascades");
        references.cascade = true;
        self
    }

    /// The definition of the column in a statement that makes or changes `table`.
    pub(crate) fn definition(&self, table: &str, database: DbBackend) -> ColumnDef {
        let mut definition = ColumnDef::new(Alias::new(&self.name));
        match self.kind {
            Kind::Id => definition.big_integer().auto_increment().primary_key(),
            // The check stands on the key itself, so that no second row can be made whoever makes it.
            Kind::SingletonId => {
                let check = format!("CONSTRAINT \"{}\" CHECK (\"id\" = 1)", owned(table, "_id_check"));
                let kind = if database == DbBackend::Sqlite { "integer" } else { "bigint" };
                definition.custom(Alias::new(kind)).default(1).primary_key().extra(check)
            }
            Kind::String(max) => definition.custom(Alias::new(collated(&format!("varchar({max})"), database))),
            Kind::Text => definition.custom(Alias::new(collated("text", database))),
            Kind::Integer => definition.integer(),
            // SeaORM writes `integer` on SQLite, which holds 64 bits as well but hides the difference from a reader.
            Kind::BigInt => definition.custom(Alias::new("bigint")),
            Kind::Boolean => definition.boolean(),
            Kind::Decimal { .. } if database == DbBackend::Sqlite => definition.custom(Alias::new("bigint")),
            Kind::Decimal { precision, places } => {
                definition.custom(Alias::new(format!("numeric({precision}, {places})")))
            }
            Kind::Timestamp => definition.timestamp_with_time_zone(),
            Kind::Date => definition.date(),
            Kind::Uuid => definition.uuid(),
            Kind::Json { .. } => definition.json_binary(),
        };
        if self.nullable {
            definition.null();
        } else {
            definition.not_null();
        }
        if let Some(literal) = &self.default {
            definition.default(self.stored(literal, database));
        } else if let (Kind::Json { empty }, false) = (self.kind, self.nullable) {
            definition.default(empty);
        }
        if let Some(Reference { table: other, cascade }) = &self.references {
            let action = if *cascade { "CASCADE" } else { "RESTRICT" };
            let key = foreign_key(table, &self.name);
            // Beside the column and not behind all of them: SQLite can add a column that refers only in this form.
            definition.extra(format!("CONSTRAINT \"{key}\" REFERENCES \"{other}\" (\"id\") ON DELETE {action}"));
        }
        definition
    }

    /// A default as this database stores it.
    pub(crate) fn stored(&self, literal: &Literal, database: DbBackend) -> Expr {
        match (self.kind, literal) {
            (Kind::Decimal { places, .. }, literal) => {
                let number = match literal {
                    Literal::Integer(number) => number.to_string(),
                    Literal::Text(number) => number.clone(),
                    Literal::Boolean(_) => panic!("{}: the default of a decimal is a number", self.name),
                };
                let scaled = scaled(&number, places)
                    .unwrap_or_else(|| panic!("{}: {number} is not a number of {places} places", self.name));
                if database == DbBackend::Sqlite { Expr::val(scaled) } else { Expr::cust(number) }
            }
            // SQLite keeps the bytes.
            (Kind::Uuid, Literal::Text(value)) if database == DbBackend::Sqlite => {
                Expr::cust(format!("X'{}'", value.replace('-', "")))
            }
            (Kind::Uuid | Kind::Json { .. }, Literal::Text(value)) if database == DbBackend::Postgres => {
                let kind = if matches!(self.kind, Kind::Uuid) { "uuid" } else { "jsonb" };
                Expr::cust(format!("'{}'::{kind}", value.replace('\'', "''")))
            }
            (_, Literal::Boolean(value)) => Expr::val(*value),
            (_, Literal::Integer(value)) => Expr::val(*value),
            (_, Literal::Text(value)) => Expr::val(value.as_str()),
        }
    }
}

/// A kind of text whose order is that of the code points, whatever the locale of the database.
fn collated(kind: &str, database: DbBackend) -> String {
    // SQLite compares text by its bytes unless told otherwise; UTF-8 puts them in the order of the code points.
    if database == DbBackend::Sqlite { kind.to_owned() } else { format!("{kind} COLLATE \"C\"") }
}

/// A decimal number times 10^places, if it is one and has no more places.
fn scaled(number: &str, places: u32) -> Option<i64> {
    let (sign, digits) = number.strip_prefix('-').map_or((1, number), |digits| (-1, digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let missing = (places as usize).checked_sub(fraction.len())?;
    let all = format!("{whole}{fraction}{}", "0".repeat(missing));
    let plain = !whole.is_empty() && all.bytes().all(|byte| byte.is_ascii_digit());
    if plain { all.parse::<i64>().ok().map(|value| sign * value) } else { None }
}

#[cfg(test)]
mod tests {
    use super::scaled;

    #[test]
    fn a_default_is_scaled_exactly_or_refused() {
        assert_eq!(scaled("0", 4), Some(0));
        assert_eq!(scaled("-0.25", 2), Some(-25));
        assert_eq!(scaled("12.5", 8), Some(1_250_000_000));
        assert_eq!(scaled("0.125", 2), None);
        assert_eq!(scaled("1e3", 2), None);
        assert_eq!(scaled(".5", 2), None);
        assert_eq!(scaled("", 2), None);
    }
}
