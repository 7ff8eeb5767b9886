//! Storage types in SQL and in migrations, with the form of their literals.

use charter_model::{StandIn, Storage};

use super::sql::Dialect::{self, Postgres, Sqlite};
use super::step::Value;

/// The type in SQL.
pub fn type_name(storage: Storage, dialect: Dialect) -> String {
    let name = if dialect == Sqlite { storage.facts().sqlite } else { storage.facts().postgres };
    name.replace("{}", &storage.arguments())
}

/// The call of `charter_migrations::column` that builds a column.
pub fn builder(storage: Storage, name: &str) -> String {
    let builder = storage.facts().builder;
    match storage {
        Storage::Id | Storage::SingletonId => format!("{builder}()"),
        Storage::Json if name == "custom_fields" => "custom_fields()".to_owned(),
        Storage::String(_) | Storage::Decimal(..) => format!("{builder}({name:?}, {})", storage.arguments()),
        _ => format!("{builder}({name:?})"),
    }
}

/// True if a builder takes a literal without quotes. A decimal with a fraction is text, so that it is exact.
pub fn is_bare(storage: Storage, value: &str) -> bool {
    match storage {
        Storage::Decimal(..) => value.parse::<i64>().is_ok(),
        _ => storage.facts().is_bare,
    }
}

/// An empty value for rows without one.
pub fn stand_in(storage: Storage) -> Value {
    match storage.facts().stand_in {
        StandIn::Literal(text) => Value::Literal(text.to_owned()),
        StandIn::Now { .. } => Value::Now,
    }
}

/// A value in SQL, in the form that the database stores.
pub fn sql(storage: Storage, value: &Value, dialect: Dialect) -> String {
    let text = match value {
        Value::Literal(text) => text,
        Value::Now => return now(storage, dialect).to_owned(),
    };
    match (storage, dialect) {
        (Storage::Boolean, _) => text.to_uppercase(),
        (Storage::Integer | Storage::BigInt, _) | (Storage::Decimal(..), Postgres) => text.clone(),
        (Storage::Decimal(_, places), Sqlite) => scaled(text, usize::from(places)),
        (Storage::Uuid, Sqlite) => format!("X'{}'", text.replace('-', "")),
        _ => format!("'{}'", text.replace('\'', "''")),
    }
}

/// The time of the migration in SQL; for a type without one, that of a timestamp.
fn now(storage: Storage, dialect: Dialect) -> &'static str {
    match storage.facts().stand_in {
        StandIn::Now { sqlite, .. } if dialect == Sqlite => sqlite,
        StandIn::Now { postgres, .. } => postgres,
        StandIn::Literal(_) => now(Storage::Timestamp, dialect),
    }
}

/// A checked decimal times 10^places: `9.9` of two places is 990.
fn scaled(number: &str, places: usize) -> String {
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |digits| ("-", digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{fraction:0<places$}");
    let plain = all.trim_start_matches('0');
    if plain.is_empty() { "0".to_owned() } else { format!("{sign}{plain}") }
}
