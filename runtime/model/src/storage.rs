//! How a column is stored, whichever database it is.

/// The storage type of a column. `charter_migrations::column` has a builder for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// The key of every table but a singleton's.
    Id,
    /// The key of a table that holds one row: always 1.
    SingletonId,
    /// Text of at most this many characters.
    String(u32),
    Text,
    /// A word of an enum or the name of a type: text of at most [`MAX_WORD_LENGTH`](Storage::MAX_WORD_LENGTH) characters.
    Word,
    /// 32 bits.
    Integer,
    /// 64 bits.
    BigInt,
    Boolean,
    /// At most so many digits, and how many of them are decimal places. SQLite stores the value × 10^places.
    Decimal(u8, u8),
    Timestamp,
    Date,
    Uuid,
    /// A JSON object, or any JSON value: `{}` where a row gives none.
    Json,
    /// A JSON array: `[]` where a row gives none.
    List,
}

impl Storage {
    /// The most characters of a [`Storage::Word`].
    pub const MAX_WORD_LENGTH: u32 = 64;

    /// The most characters of a text column, where it has a limit.
    pub fn max_length(self) -> Option<u32> {
        match self {
            Storage::String(max) => Some(max),
            Storage::Word => Some(Storage::MAX_WORD_LENGTH),
            _ => None,
        }
    }

    /// The JSON of a row that gives no value, for columns that are never null without one.
    pub fn empty_json(self) -> Option<&'static str> {
        match self {
            Storage::Json => Some("{}"),
            Storage::List => Some("[]"),
            _ => None,
        }
    }
}
