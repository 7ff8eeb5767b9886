//! Column types, and the SQL type of each on PostgreSQL and SQLite.
//!
//! | Type | PostgreSQL | SQLite | Note |
//! |---|---|---|---|
//! | [`id`] | `bigint` identity | `integer` autoincrement | ids are never reused |
//! | [`string`] | `varchar(n) COLLATE "C"` | `varchar(n)` | text is compared by code point on both |
//! | [`text`] | `text COLLATE "C"` | `text` | |
//! | [`enumeration`] | `varchar(64) COLLATE "C"` | `varchar(64)` | the value's name |
//! | [`integer`], codes | `integer` | `integer` | |
//! | [`bigint`], [`reference()`] | `bigint` | `bigint` | |
//! | [`boolean`] | `boolean` | `boolean` | |
//! | [`decimal`] | `numeric(p, s)` | `bigint`: the value × 10^s | comparison and sorting are exact |
//! | [`timestamp`] | `timestamp with time zone` | text | bound as `DateTime<Utc>` with millisecond precision |
//! | [`date`] | `date` | text | |
//! | [`time`] | `time` | text | `14:30:00`, which sorts as text |
//! | [`uuid`] | `uuid` | 16 bytes | |
//! | [`json`], [`list`], [`custom_fields`] | `jsonb` | text | |
//!
//! A column is `NOT NULL` unless it is [`Column::nullable`]. A literal default of a field is also the default of its column,
//! so that rows inserted without the application are valid. Timestamps have no default, because the text format of SQLite's
//! `CURRENT_TIMESTAMP` does not compare with the format that the application writes.

mod storage;

use sea_orm_migration::sea_orm::DbBackend;
use sea_orm_migration::sea_query::{Alias, ColumnDef, Expr};

use crate::table::{foreign_key_name, implicit_name};

/// The length of an enumeration column, in characters.
const ENUM_LENGTH: u32 = 64;

/// A column definition, independent of the database.
#[derive(Debug, Clone)]
pub struct Column {
    pub(crate) name: String,
    kind: Kind,
    nullable: bool,
    default: Option<Literal>,
    references: Option<Reference>,
}

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
    Time,
    Uuid,
    /// `empty` is the default of a column that is not nullable.
    Json {
        empty: &'static str,
    },
}

/// A foreign key to the `id` of `table`.
#[derive(Debug, Clone)]
struct Reference {
    table: String,
    cascade: bool,
}

/// A column default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Literal {
    Boolean(bool),
    Integer(i64),
    /// Also an exact decimal, as `"0.25"`, or JSON.
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

/// The primary key of a table.
pub fn id() -> Column {
    Column::new("id", Kind::Id)
}

/// The primary key of a singleton's table, which has at most one row. It is always 1.
pub fn singleton_id() -> Column {
    Column::new("id", Kind::SingletonId)
}

/// Text of at most `max` characters.
pub fn string(name: &str, max: u32) -> Column {
    Column::new(name, Kind::String(max))
}

/// Text of any length.
pub fn text(name: &str) -> Column {
    Column::new(name, Kind::Text)
}

/// An enumeration. The database does not check the values, so that new values need no migration.
pub fn enumeration(name: &str) -> Column {
    Column::new(name, Kind::String(ENUM_LENGTH))
}

/// A 32-bit integer, or the code of an enumeration.
pub fn integer(name: &str) -> Column {
    Column::new(name, Kind::Integer)
}

/// A 64-bit integer.
pub fn bigint(name: &str) -> Column {
    Column::new(name, Kind::BigInt)
}

pub fn boolean(name: &str) -> Column {
    Column::new(name, Kind::Boolean)
}

/// An exact number of at most `precision` digits, of which `places` are decimal places.
///
/// # Panics
/// Panics above 18 digits, which do not fit a 64-bit integer.
pub fn decimal(name: &str, precision: u32, places: u32) -> Column {
    assert!(places <= precision && precision <= 18, "{name}: decimal({precision}, {places}) has no exact form");
    Column::new(name, Kind::Decimal { precision, places })
}

/// A point in time. It is bound as a `DateTime<Utc>` with millisecond precision, so that SQLite's texts sort by time.
pub fn timestamp(name: &str) -> Column {
    Column::new(name, Kind::Timestamp)
}

/// A calendar date.
pub fn date(name: &str) -> Column {
    Column::new(name, Kind::Date)
}

/// A time of day in whole seconds. A default is written `14:30:00`.
pub fn time(name: &str) -> Column {
    Column::new(name, Kind::Time)
}

pub fn uuid(name: &str) -> Column {
    Column::new(name, Kind::Uuid)
}

/// A JSON object. The default is `{}`, or NULL if the column is nullable.
pub fn json(name: &str) -> Column {
    Column::new(name, Kind::Json { empty: "{}" })
}

/// A JSON array of strings or ids. The default is `[]`, or NULL if the column is nullable.
pub fn list(name: &str) -> Column {
    Column::new(name, Kind::Json { empty: "[]" })
}

/// The values of a record's custom fields, as a JSON object keyed by field name.
pub fn custom_fields() -> Column {
    json("custom_fields")
}

/// A foreign key to `table`, `ON DELETE RESTRICT`.
pub fn reference(name: &str, table: &str) -> Column {
    let references = Reference { table: table.to_owned(), cascade: false };
    Column { references: Some(references), ..Column::new(name, Kind::BigInt) }
}

impl Column {
    fn new(name: &str, kind: Kind) -> Column {
        Column { name: name.to_owned(), kind, nullable: false, default: None, references: None }
    }

    /// Allows NULL, which is the value of new rows if the column has no default.
    pub fn nullable(self) -> Column {
        Column { nullable: true, ..self }
    }

    /// Sets the default. The default of a decimal is given as the number, not scaled.
    pub fn default(self, value: impl Into<Literal>) -> Column {
        Column { default: Some(value.into()), ..self }
    }

    /// Makes a foreign key `ON DELETE CASCADE`.
    pub fn cascade(mut self) -> Column {
        let references = self.references.as_mut().expect("only a reference cascades");
        references.cascade = true;
        self
    }

    /// The definition of the column in a statement that creates or alters `table`.
    pub(crate) fn definition(&self, table: &str, database: DbBackend) -> ColumnDef {
        let mut definition = ColumnDef::new(Alias::new(&self.name));
        match self.kind {
            Kind::Id => definition.big_integer().auto_increment().primary_key(),
            // The check constraint on the key prevents a second row.
            Kind::SingletonId => {
                let check = format!("CONSTRAINT \"{}\" CHECK (\"id\" = 1)", implicit_name(table, "_id_check"));
                let kind = if database == DbBackend::Sqlite { "integer" } else { "bigint" };
                definition.custom(Alias::new(kind)).default(1).primary_key().extra(check)
            }
            Kind::String(max) => definition.custom(Alias::new(collated(&format!("varchar({max})"), database))),
            Kind::Text => definition.custom(Alias::new(collated("text", database))),
            Kind::Integer => definition.integer(),
            // SeaORM would write `integer` on SQLite, which also holds 64 bits but hides the difference from the reader.
            Kind::BigInt => definition.custom(Alias::new("bigint")),
            Kind::Boolean => definition.boolean(),
            Kind::Decimal { .. } if database == DbBackend::Sqlite => definition.custom(Alias::new("bigint")),
            Kind::Decimal { precision, places } => {
                definition.custom(Alias::new(format!("numeric({precision}, {places})")))
            }
            Kind::Timestamp => definition.timestamp_with_time_zone(),
            Kind::Date => definition.date(),
            Kind::Time => definition.time(),
            Kind::Uuid => definition.uuid(),
            Kind::Json { .. } => definition.json_binary(),
        };
        if self.nullable {
            definition.null();
        } else {
            definition.not_null();
        }
        if let Some(literal) = &self.default {
            definition.default(self.stored_value(literal, database));
        } else if let (Kind::Json { empty }, false) = (self.kind, self.nullable) {
            definition.default(empty);
        }
        if let Some(Reference { table: other, cascade }) = &self.references {
            let action = if *cascade { "CASCADE" } else { "RESTRICT" };
            let key = foreign_key_name(table, &self.name);
            // A column constraint, because SQLite cannot add a table constraint with a new column.
            definition.extra(format!("CONSTRAINT \"{key}\" REFERENCES \"{other}\" (\"id\") ON DELETE {action}"));
        }
        definition
    }

    /// A default value as the database stores it.
    pub(crate) fn stored_value(&self, literal: &Literal, database: DbBackend) -> Expr {
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
            // SQLite stores a UUID as 16 bytes.
            (Kind::Uuid, Literal::Text(value)) if database == DbBackend::Sqlite => {
                Expr::cust(format!("X'{}'", value.replace('-', "")))
            }
            (Kind::Time | Kind::Uuid | Kind::Json { .. }, Literal::Text(value)) if database == DbBackend::Postgres => {
                let kind = match self.kind {
                    Kind::Time => "time",
                    Kind::Uuid => "uuid",
                    _ => "jsonb",
                };
                Expr::cust(format!("'{}'::{kind}", value.replace('\'', "''")))
            }
            (_, Literal::Boolean(value)) => Expr::val(*value),
            (_, Literal::Integer(value)) => Expr::val(*value),
            (_, Literal::Text(value)) => Expr::val(value.as_str()),
        }
    }
}

/// A text type that is compared by code point, whatever the locale of the database.
fn collated(kind: &str, database: DbBackend) -> String {
    // SQLite compares the bytes of UTF-8 by default, which is the order of code points.
    if database == DbBackend::Sqlite { kind.to_owned() } else { format!("{kind} COLLATE \"C\"") }
}

/// `number` × 10^`places`, or `None` if it is no decimal number or has more decimal places.
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
    fn decimal_default_is_scaled_exactly_or_rejected() {
        assert_eq!(scaled("0", 4), Some(0));
        assert_eq!(scaled("-0.25", 2), Some(-25));
        assert_eq!(scaled("12.5", 8), Some(1_250_000_000));
        assert_eq!(scaled("0.125", 2), None);
        assert_eq!(scaled("1e3", 2), None);
        assert_eq!(scaled(".5", 2), None);
        assert_eq!(scaled("", 2), None);
    }
}
