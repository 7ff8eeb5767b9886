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
    Time,
    Uuid,
    /// A JSON object, or any JSON value: `{}` for a row without one.
    Json,
    /// A JSON array: `[]` for a row without one.
    List,
}

/// The properties of a storage type.
#[derive(Debug)]
pub struct StorageFacts {
    /// The type in SQL on SQLite and on PostgreSQL, with `{}` for the arguments.
    pub sqlite: &'static str,
    pub postgres: &'static str,
    /// The function of `charter_migrations::column` that builds a column. That of a key takes no name.
    pub builder: &'static str,
    /// The most bytes of a value in a row of PostgreSQL, and its alignment. For types that can be moved out of the row,
    /// the least.
    pub width: (usize, usize),
    /// The value of existing rows without one.
    pub stand_in: StandIn,
    /// True if a literal is written without quotes.
    pub is_bare: bool,
}

/// A value for rows without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandIn {
    Literal(&'static str),
    /// The time or the day of the migration, in SQL of SQLite and of PostgreSQL.
    Now {
        sqlite: &'static str,
        postgres: &'static str,
    },
}

const fn facts(
    (sqlite, postgres): (&'static str, &'static str),
    builder: &'static str,
    width: (usize, usize),
    stand_in: StandIn,
) -> StorageFacts {
    StorageFacts { sqlite, postgres, builder, width, stand_in, is_bare: false }
}

const fn bare(facts: StorageFacts) -> StorageFacts {
    StorageFacts { is_bare: true, ..facts }
}

const NONE: (usize, usize) = (1, 1);
const ZERO: StandIn = StandIn::Literal("0");
const EMPTY: StandIn = StandIn::Literal("");

static ID: StorageFacts = facts(("bigint", "bigint"), "id", NONE, ZERO);
static SINGLETON_ID: StorageFacts = facts(("bigint", "bigint"), "singleton_id", NONE, ZERO);
static STRING: StorageFacts = facts(("varchar({})", "varchar({}) COLLATE \"C\""), "string", NONE, EMPTY);
static TEXT: StorageFacts = facts(("text", "text COLLATE \"C\""), "text", NONE, EMPTY);
static WORD: StorageFacts = facts((STRING.sqlite, STRING.postgres), "enumeration", NONE, EMPTY);
static INTEGER: StorageFacts = bare(facts(("integer", "integer"), "integer", (4, 4), ZERO));
static BIGINT: StorageFacts = bare(facts(("bigint", "bigint"), "bigint", (8, 8), ZERO));
static BOOLEAN: StorageFacts = bare(facts(("boolean", "bool"), "boolean", NONE, StandIn::Literal("false")));
static DECIMAL: StorageFacts = facts(("bigint", "numeric({})"), "decimal", NONE, ZERO);
static TIMESTAMP: StorageFacts = facts(
    ("timestamp_with_timezone_text", "timestamp with time zone"),
    "timestamp",
    (8, 8),
    StandIn::Now { sqlite: "strftime('%Y-%m-%dT%H:%M:%S+00:00', 'now')", postgres: "date_trunc('second', now())" },
);
static DATE: StorageFacts = facts(
    ("date_text", "date"),
    "date",
    (4, 4),
    StandIn::Now { sqlite: "strftime('%Y-%m-%d', 'now')", postgres: "(now() AT TIME ZONE 'UTC')::date" },
);
static TIME: StorageFacts = facts(("time_text", "time"), "time", (8, 8), StandIn::Literal("00:00:00"));
static UUID: StorageFacts =
    facts(("uuid_text", "uuid"), "uuid", (16, 1), StandIn::Literal("00000000-0000-0000-0000-000000000000"));
static JSON: StorageFacts = facts(("jsonb_text", "jsonb"), "json", NONE, StandIn::Literal("{}"));
static LIST: StorageFacts = facts(("jsonb_text", "jsonb"), "list", NONE, StandIn::Literal("[]"));

impl Storage {
    pub fn facts(self) -> &'static StorageFacts {
        match self {
            Storage::Id => &ID,
            Storage::SingletonId => &SINGLETON_ID,
            Storage::String(_) => &STRING,
            Storage::Text => &TEXT,
            Storage::Word => &WORD,
            Storage::Integer => &INTEGER,
            Storage::BigInt => &BIGINT,
            Storage::Boolean => &BOOLEAN,
            Storage::Decimal(..) => &DECIMAL,
            Storage::Timestamp => &TIMESTAMP,
            Storage::Date => &DATE,
            Storage::Time => &TIME,
            Storage::Uuid => &UUID,
            Storage::Json => &JSON,
            Storage::List => &LIST,
        }
    }

    /// Its arguments as text: `12, 2`. Empty for a type without arguments.
    pub fn arguments(self) -> String {
        match self {
            Storage::String(max) => max.to_string(),
            Storage::Word => Storage::MAX_WORD_LENGTH.to_string(),
            Storage::Decimal(precision, places) => format!("{precision}, {places}"),
            _ => String::new(),
        }
    }

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
