//! Cursors: a place in a list as text that clients carry from one page to the next, and need not understand.
//!
//! It is `base64url(version, fingerprint, JSON)`. The JSON holds the values by which the last record was ordered, and its
//! id: what the client has been shown, and nothing else. The fingerprint is of the order and the filters, so that a cursor
//! is not taken for one of another list. It is no signature: whoever makes up a cursor chooses where a page begins, which
//! a filter lets them do too.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Datelike, NaiveDate, SecondsFormat, Utc};
use rust_decimal::Decimal;
use sea_orm::Value;
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::condition::Condition;
use super::order_by::{KeyType, OrderBy, Position};
use super::sql::write_condition;
use crate::db::{Dialect, Row, Sql};
use crate::error::{Error, Result};
use crate::number;
use crate::record::Cell;

/// What the bytes begin with; another number would be another form.
const VERSION: u8 = 1;
/// So many bytes of the fingerprint are kept.
const FINGERPRINT_BYTES: usize = 8;
/// A cursor has at most so many characters: it goes into an address, and servers take no longer ones.
const MAX_CURSOR_BYTES: usize = 32_768;

/// The years of times and days, as filters have them: PostgreSQL takes no others of those that can be read.
const ALLOWED_YEARS: std::ops::RangeInclusive<i32> = 1..=9999;

/// The cursors of one list, with one order and one set of filters.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'p> {
    ranking: OrderBy<'p>,
    fingerprint: [u8; FINGERPRINT_BYTES],
    dialect: Dialect,
}

impl<'p> Cursor<'p> {
    /// The cursors of the list of this name, as far as `asked` says which records it has and `ranking` in which order.
    pub fn of_list(dialect: Dialect, name: &str, asked: &Condition, ranking: OrderBy<'p>) -> Cursor<'p> {
        // What the database would be asked says everything: also how a custom field is compared that was defined anew.
        let mut sql = Sql::new(dialect, name);
        sql.push(" ");
        write_condition(&mut sql, asked);
        ranking.write(&mut sql, &Condition::always());
        let mut hash = Sha256::new_with_prefix(&sql.text);
        for value in &sql.values {
            // Quoted, so that no value looks like two.
            hash.update(format!("\n{value:?}"));
        }
        let mut fingerprint = [0; FINGERPRINT_BYTES];
        fingerprint.copy_from_slice(&hash.finalize()[..FINGERPRINT_BYTES]);
        Cursor { ranking, fingerprint, dialect }
    }

    /// What tells its cursors from those of another list.
    pub fn fingerprint(&self) -> &[u8] {
        &self.fingerprint
    }

    /// Reads a cursor; `None` for the empty one, before the first record.
    ///
    /// # Errors
    /// 422 under `cursor` when it is none of this list.
    pub fn read(self, text: &str) -> Result<Option<Position>> {
        if text.is_empty() {
            return Ok(None);
        }
        let refuse = |why: &str| Error::invalid("cursor", why);
        let unreadable = || refuse("is not a cursor: take `meta.next_cursor` of the page before as it is");
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| unreadable())?;
        let json = bytes.strip_prefix(&[VERSION]).ok_or_else(unreadable)?;
        let (fingerprint, json) = json.split_at_checked(FINGERPRINT_BYTES).ok_or_else(unreadable)?;
        if fingerprint != self.fingerprint {
            return Err(refuse("belongs to another list, order or filter: begin with an empty one"));
        }
        let mut values: Vec<Json> = serde_json::from_slice(json).map_err(|_| unreadable())?;
        let id = values.pop().and_then(|id| id.as_i64()).ok_or_else(unreadable)?;
        let forms: Vec<KeyType> = self.ranking.key_types().collect();
        if forms.len() != values.len() {
            return Err(unreadable());
        }
        let read = |(form, value): (&KeyType, Json)| match value {
            Json::Null => Some(None),
            value => form.value(self.dialect, &value).map(Some),
        };
        let values = forms.iter().zip(values).map(read).collect::<Option<Vec<_>>>().ok_or_else(unreadable)?;
        Ok(Some(Position { values, id }))
    }

    /// The cursor of a row, whose id is this and whose keys stand in it from the column `first` on.
    ///
    /// # Errors
    /// 422 under `cursor` when its values are too long.
    pub fn write(self, row: Row<'_>, id: i64, first: usize) -> Result<String> {
        let mut values = Vec::new();
        for (index, form) in self.ranking.key_types().enumerate() {
            values.push(form.json(self.dialect, Cell::new(row, first + index)?)?);
        }
        values.push(json!(id));
        let mut bytes = vec![VERSION];
        bytes.extend(self.fingerprint);
        serde_json::to_writer(&mut bytes, &values).map_err(Error::internal)?;
        let text = URL_SAFE_NO_PAD.encode(bytes);
        if text.len() > MAX_CURSOR_BYTES {
            return Err(Error::invalid("cursor", "cannot follow this order, whose values are too long"));
        }
        Ok(text)
    }
}

impl KeyType {
    /// A value of a row, as a cursor keeps it.
    fn json(self, dialect: Dialect, cell: Cell<'_>) -> Result<Json> {
        Ok(match self {
            KeyType::Text => cell.text()?.map(Json::from),
            KeyType::Number if dialect == Dialect::Postgres => cell.text()?.map(Json::from),
            KeyType::Integer | KeyType::Number => cell.integer()?.map(Json::from),
            KeyType::Boolean => cell.boolean()?.map(Json::from),
            KeyType::Decimal(places) => cell.scaled(u32::from(places))?.map(Json::from),
            KeyType::Time => cell.time()?.map(|time| time.to_rfc3339_opts(SecondsFormat::AutoSi, true).into()),
            KeyType::Date => cell.date()?.map(|date| date.to_string().into()),
            KeyType::Uuid => cell.uuid()?.map(|uuid| uuid.to_string().into()),
        }
        .unwrap_or(Json::Null))
    }

    /// The value that a cursor kept; nothing when it kept none of this form, which no cursor of ours does.
    fn value(self, dialect: Dialect, json: &Json) -> Option<Value> {
        // PostgreSQL takes no text with a zero in it.
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
            KeyType::Date => {
                text()?.parse::<NaiveDate>().ok().filter(|day| ALLOWED_YEARS.contains(&day.year()))?.into()
            }
            KeyType::Uuid => text()?.parse::<Uuid>().ok()?.into(),
        })
    }
}

/// `-12.5`, of a length that PostgreSQL's `numeric` holds.
fn is_number(text: &str) -> bool {
    number::is_written_out(text, 40, 40)
}
