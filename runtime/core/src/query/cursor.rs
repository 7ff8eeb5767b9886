//! Opaque cursors for keyset pagination.
//!
//! A cursor is `base64url(version, fingerprint, JSON)`; with relative times in the filters,
//! `base64url(version, fingerprint, time, JSON)` with the time of the first page, at which later pages resolve them. The JSON is an array of the order key values of the last
//! record on the page, followed by its id. The fingerprint identifies the order and the filters, so that a cursor of
//! another list is rejected. It is not a signature: a forged cursor only chooses where a page begins, and a filter
//! can do the same.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Datelike, SecondsFormat, Utc};
use rust_decimal::Decimal;
use sea_orm::Value;
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use super::condition::Condition;
use super::order_by::{KeyType, OrderBy, Position};
use super::sql::write_condition;
use crate::db::{Dialect, Row, Sql};
use crate::error::{Error, Result};
use crate::field_type::codec;
use crate::number;
use crate::record::Cell;

/// First byte: the format version.
const VERSION: u8 = 1;
/// The format version of a cursor with the time of the first page, in big-endian milliseconds.
const VERSION_WITH_TIME: u8 = 2;
const TIME_BYTES: usize = 8;
/// Length to which the SHA-256 hash is truncated.
const FINGERPRINT_BYTES: usize = 8;
/// Length limit of a cursor, because it is sent in a URL.
const MAX_CURSOR_BYTES: usize = 32_768;

/// Years of times, as in filters. PostgreSQL rejects others that the parsers accept.
const ALLOWED_YEARS: std::ops::RangeInclusive<i32> = 1..=9999;

/// Reader and writer of the cursors of one list with one order and one set of filters.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'p> {
    order_by: OrderBy<'p>,
    fingerprint: [u8; FINGERPRINT_BYTES],
    dialect: Dialect,
    /// The time of the first page, if the filters have relative times.
    time: Option<DateTime<Utc>>,
}

/// The time of the first page of a list with relative times. `None` for any other text.
pub fn pinned_time(cursor: &str) -> Option<DateTime<Utc>> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
    let rest = bytes.strip_prefix(&[VERSION_WITH_TIME])?.get(FINGERPRINT_BYTES..)?;
    let time = DateTime::from_timestamp_millis(i64::from_be_bytes(*rest.first_chunk()?))?;
    Some(time).filter(|time| ALLOWED_YEARS.contains(&time.year()))
}

impl<'p> Cursor<'p> {
    /// Cursors of the list `name` with the records of `condition` in the order of `order_by`, with relative times
    /// resolved at `time`.
    pub fn of_list(
        dialect: Dialect,
        name: &str,
        condition: &Condition,
        order_by: OrderBy<'p>,
        time: Option<DateTime<Utc>>,
    ) -> Cursor<'p> {
        // The SQL text also includes the comparison type of a custom field, which a redefinition can change.
        let mut sql = Sql::new(dialect, name);
        sql.push(" ");
        write_condition(&mut sql, condition);
        order_by.write(&mut sql, &Condition::always());
        let mut hash = Sha256::new_with_prefix(&sql.text);
        for value in &sql.values {
            // `Debug` quotes the value, so that one value cannot look like two.
            hash.update(format!("\n{value:?}"));
        }
        let mut fingerprint = [0; FINGERPRINT_BYTES];
        fingerprint.copy_from_slice(&hash.finalize()[..FINGERPRINT_BYTES]);
        Cursor { order_by, fingerprint, dialect, time }
    }

    /// Hash of the list, its order and its filters.
    pub fn fingerprint(&self) -> &[u8] {
        &self.fingerprint
    }

    /// Reads a cursor. The empty cursor is `None`: it stands before the first record.
    ///
    /// # Errors
    /// 422 for `cursor` if the text is not a cursor of this list.
    pub fn read(self, text: &str) -> Result<Option<Position>> {
        if text.is_empty() {
            return Ok(None);
        }
        let refuse = |why: &str| Error::invalid("cursor", why);
        let unreadable = || refuse("is not a cursor: pass `meta.next_cursor` of the previous page unchanged");
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| unreadable())?;
        let (version, rest) = bytes.split_first().ok_or_else(unreadable)?;
        let (fingerprint, rest) = rest.split_at_checked(FINGERPRINT_BYTES).ok_or_else(unreadable)?;
        let json = match *version {
            VERSION => rest,
            VERSION_WITH_TIME => rest.get(TIME_BYTES..).ok_or_else(unreadable)?,
            _ => return Err(unreadable()),
        };
        if fingerprint != self.fingerprint {
            return Err(refuse("belongs to another list, order or filter: start again with an empty cursor"));
        }
        let mut values: Vec<Json> = serde_json::from_slice(json).map_err(|_| unreadable())?;
        let id = values.pop().and_then(|id| id.as_i64()).ok_or_else(unreadable)?;
        let key_types: Vec<KeyType> = self.order_by.key_types().collect();
        if key_types.len() != values.len() {
            return Err(unreadable());
        }
        let read = |(key_type, value): (&KeyType, Json)| match value {
            Json::Null => Some(None),
            value => key_type.value(self.dialect, &value).map(Some),
        };
        let values = key_types.iter().zip(values).map(read).collect::<Option<Vec<_>>>().ok_or_else(unreadable)?;
        Ok(Some(Position { values, id }))
    }

    /// Writes the cursor of the row with this `id`, whose order keys begin at the column `first`.
    ///
    /// # Errors
    /// 422 for `cursor` if the values are too long.
    pub fn write(self, row: Row<'_>, id: i64, first: usize) -> Result<String> {
        let mut values = Vec::new();
        for (index, key_type) in self.order_by.key_types().enumerate() {
            values.push(key_type.json(self.dialect, Cell::new(row, first + index)?)?);
        }
        values.push(json!(id));
        let mut bytes = vec![if self.time.is_some() { VERSION_WITH_TIME } else { VERSION }];
        bytes.extend(self.fingerprint);
        bytes.extend(self.time.iter().flat_map(|time| time.timestamp_millis().to_be_bytes()));
        serde_json::to_writer(&mut bytes, &values).map_err(Error::internal)?;
        let text = URL_SAFE_NO_PAD.encode(bytes);
        if text.len() > MAX_CURSOR_BYTES {
            return Err(Error::invalid("cursor", "is not available for this order: its values are too long"));
        }
        Ok(text)
    }
}

impl KeyType {
    /// Encodes a value of a row for the cursor.
    fn json(self, dialect: Dialect, cell: Cell<'_>) -> Result<Json> {
        Ok(match self {
            KeyType::Text => cell.text()?.map(Json::from),
            KeyType::Number if dialect == Dialect::Postgres => cell.text()?.map(Json::from),
            KeyType::Integer | KeyType::Number => cell.integer()?.map(Json::from),
            KeyType::Boolean => cell.boolean()?.map(Json::from),
            KeyType::Decimal(places) => cell.scaled(u32::from(places))?.map(Json::from),
            KeyType::Time => cell.time()?.map(|time| time.to_rfc3339_opts(SecondsFormat::AutoSi, true).into()),
            KeyType::Coded(storage) => {
                let mut text = Vec::new();
                codec(storage).map(|codec| (codec.write)(&mut text, cell)).transpose()?;
                serde_json::from_slice(&text).ok()
            }
        }
        .unwrap_or(Json::Null))
    }

    /// Decodes a value of a cursor. `None` if it has another type, thus the cursor is forged.
    fn value(self, dialect: Dialect, json: &Json) -> Option<Value> {
        // PostgreSQL rejects text with a null character.
        let text = || json.as_str().filter(|text| !text.contains('\0'));
        Some(match self {
            KeyType::Text => text()?.into(),
            KeyType::Number if dialect == Dialect::Postgres => text().filter(|text| is_number(text))?.into(),
            KeyType::Integer | KeyType::Number => json.as_i64()?.into(),
            KeyType::Boolean => json.as_bool()?.into(),
            KeyType::Decimal(places) => Decimal::new(json.as_i64()?, u32::from(places)).into(),
            KeyType::Time => {
                text()?.parse::<DateTime<Utc>>().ok().filter(|time| ALLOWED_YEARS.contains(&time.year()))?.into()
            }
            KeyType::Coded(storage) => (codec(storage)?.read)(text()?).ok()?,
        })
    }
}

/// True for decimal text such as `-12.5`, short enough for PostgreSQL's `numeric`.
fn is_number(text: &str) -> bool {
    number::is_written_out(text, 40, 40)
}
