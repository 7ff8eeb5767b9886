//! Storage types in SQL and in migrations, with the form of their literals.

use charter_model::Storage;

use super::sql::Dialect::{self, Postgres, Sqlite};
use super::step::Value;

/// The type in SQL.
pub fn type_name(storage: Storage, dialect: Dialect) -> String {
    let (sqlite, postgres) = match storage {
        Storage::String(max) => (format!("varchar({max})"), format!("varchar({max}) COLLATE \"C\"")),
        Storage::Text => ("text".into(), "text COLLATE \"C\"".into()),
        Storage::Word => return type_name(Storage::String(Storage::MAX_WORD_LENGTH), dialect),
        Storage::Integer => ("integer".into(), "integer".into()),
        Storage::Id | Storage::SingletonId | Storage::BigInt => ("bigint".into(), "bigint".into()),
        Storage::Boolean => ("boolean".into(), "bool".into()),
        Storage::Decimal(precision, places) => ("bigint".into(), format!("numeric({precision}, {places})")),
        Storage::Timestamp => ("timestamp_with_timezone_text".into(), "timestamp with time zone".into()),
        Storage::Date => ("date_text".into(), "date".into()),
        Storage::Uuid => ("uuid_text".into(), "uuid".into()),
        Storage::Json | Storage::List => ("jsonb_text".into(), "jsonb".into()),
    };
    if dialect == Sqlite { sqlite } else { postgres }
}

/// The call of `charter_migrations::column` that builds a column.
pub fn builder(storage: Storage, name: &str) -> String {
    match storage {
        Storage::Id => "id()".to_owned(),
        Storage::SingletonId => "singleton_id()".to_owned(),
        Storage::String(max) => format!("string({name:?}, {max})"),
        Storage::Text => format!("text({name:?})"),
        Storage::Word => format!("enumeration({name:?})"),
        Storage::Integer => format!("integer({name:?})"),
        Storage::BigInt => format!("bigint({name:?})"),
        Storage::Boolean => format!("boolean({name:?})"),
        Storage::Decimal(precision, places) => format!("decimal({name:?}, {precision}, {places})"),
        Storage::Timestamp => format!("timestamp({name:?})"),
        Storage::Date => format!("date({name:?})"),
        Storage::Uuid => format!("uuid({name:?})"),
        Storage::Json if name == "custom_fields" => "custom_fields()".to_owned(),
        Storage::Json => format!("json({name:?})"),
        Storage::List => format!("list({name:?})"),
    }
}

/// True if a builder takes a literal without quotes. A decimal with a fraction is text, so that it is exact.
pub fn is_bare(storage: Storage, value: &str) -> bool {
    match storage {
        Storage::Boolean | Storage::Integer | Storage::BigInt => true,
        Storage::Decimal(..) => value.parse::<i64>().is_ok(),
        _ => false,
    }
}

/// An empty value for rows without one.
pub fn stand_in(storage: Storage) -> Value {
    match storage {
        Storage::String(_) | Storage::Text | Storage::Word => Value::Literal(String::new()),
        Storage::Timestamp | Storage::Date => Value::Now,
        Storage::Boolean => Value::Literal("false".to_owned()),
        Storage::Json | Storage::List => Value::Literal(storage.empty_json().unwrap_or_default().to_owned()),
        Storage::Uuid => Value::Literal("00000000-0000-0000-0000-000000000000".to_owned()),
        Storage::Id | Storage::SingletonId | Storage::Integer | Storage::BigInt | Storage::Decimal(..) => {
            Value::Literal("0".to_owned())
        }
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

fn now(storage: Storage, dialect: Dialect) -> &'static str {
    match (storage, dialect) {
        (Storage::Date, Sqlite) => "strftime('%Y-%m-%d', 'now')",
        (Storage::Date, Postgres) => "(now() AT TIME ZONE 'UTC')::date",
        (_, Sqlite) => "strftime('%Y-%m-%dT%H:%M:%S+00:00', 'now')",
        (_, Postgres) => "date_trunc('second', now())",
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
