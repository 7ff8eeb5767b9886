//! Storage of a column, independent of the database.

/// The storage type of a column. `charter_migrations::column` has a builder for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// The key of every table except a singleton's.
    Id,
    /// The key of a singleton's table: always 1.
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
    /// Digits in all, and decimal places. SQLite stores the value × 10^places.
    Decimal(u8, u8),
    Timestamp,
    Date,
    Uuid,
    /// A JSON object, or any JSON value: `{}` for a row without one.
    Json,
    /// A JSON array: `[]` for a row without one.
    List,
}

impl Storage {
    /// Maximum length of a [`Storage::Word`] in characters.
    pub const MAX_WORD_LENGTH: u32 = 64;

    /// Maximum length of a text column in characters; none if it has no limit.
    pub fn max_length(self) -> Option<u32> {
        match self {
            Storage::String(max) => Some(max),
            Storage::Word => Some(Storage::MAX_WORD_LENGTH),
            _ => None,
        }
    }

    /// The JSON of a row without a value, for columns that are not null.
    pub fn empty_json(self) -> Option<&'static str> {
        match self {
            Storage::Json => Some("{}"),
            Storage::List => Some("[]"),
            _ => None,
        }
    }
}
