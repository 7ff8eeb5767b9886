//! The types of the grammar: how each is written, what it holds and what it becomes.

/// One type word.
#[derive(Debug)]
pub struct TypeWord {
    pub word: &'static str,
    /// How it is written with its arguments.
    pub written: &'static str,
    pub example: &'static str,
    /// The same as a regular expression, for editors. A flow mapping tears `decimal(12, 4)` at the comma, and an editor
    /// sees only `decimal(12`. `{n}` stands for the lengths of a string, `{p}` for the digits and places of a decimal, and
    /// `{digits}` for its digits alone.
    pub pattern: &'static str,
    pub meaning: &'static str,
    /// What a client reads and writes.
    pub json: &'static str,
    /// The type in the Rust struct.
    pub rust: &'static str,
}

const fn entry(
    word: &'static str,
    written: &'static str,
    example: &'static str,
    pattern: &'static str,
    json: &'static str,
    rust: &'static str,
    meaning: &'static str,
) -> TypeWord {
    TypeWord { word, written, example, pattern, meaning, json, rust }
}

impl TypeWord {
    /// The regular expression for editors, with the numbers that the type takes.
    pub fn pattern(&self) -> String {
        let up_to = |most: u8| match most {
            0..=9 => format!("[0-{most}]"),
            _ => format!("([0-9]|1[0-{}])", most - 10),
        };
        let decimals: Vec<String> =
            (1..=MOST_DIGITS).map(|digits| format!("{digits} *, *{} *\\)", up_to(digits))).collect();
        let lengths = "([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])";
        self.pattern
            .replace("{n}", lengths)
            .replace("{p}", &decimals.join("|"))
            .replace("{digits}", &format!("([1-9]|1[0-{}])", MOST_DIGITS - 10))
    }
}

/// All of them.
pub static TYPES: &[TypeWord] = &[
    entry(
        "string",
        "string(n)",
        "string(255)",
        "string\\( *{n} *\\)",
        "string",
        "String",
        "Text of at most n characters, 1 to 65535. The panel asks for one line of it, unless its widget is `textarea`.",
    ),
    entry("text", "text", "text", "text", "string", "String", "Text of any length."),
    entry("integer", "integer", "integer", "integer", "number", "i32", "A whole number of 32 bits."),
    entry("bigint", "bigint", "bigint", "bigint", "number", "i64", "A whole number of 64 bits."),
    entry("boolean", "boolean", "boolean", "boolean", "true or false", "bool", "True or false."),
    entry(
        "decimal",
        "decimal(p, s)",
        "decimal(12, 4)",
        "decimal\\( *({p}|{digits}) *",
        "string with s places",
        "Decimal<s>",
        "An exact number of at most p digits, 18 at most, of which s stand behind the point.",
    ),
    entry(
        "timestamp",
        "timestamp",
        "timestamp",
        "timestamp",
        "string",
        "DateTimeUtc",
        "A point in time, in the form that `timestamps` says.",
    ),
    entry("date", "date", "date", "date", "string, `2026-03-21`", "Date", "A calendar day."),
    entry(
        "enum",
        "enum",
        "enum",
        "enum",
        "string",
        "String",
        "One of the words under `values`, compared without regard to case.",
    ),
    entry("code", "code", "code", "code", "number", "i32", "One of the numbers under `values`, each with a label."),
    entry(
        "list",
        "list(string(n)), list(ref(x))",
        "list(string(50))",
        "list\\( *(string\\( *{n} *\\)|ref\\( *[a-z0-9_]+ *\\)) *\\)",
        "array",
        "Json",
        "A list of short texts, or of ids of another resource.",
    ),
    entry("json", "json", "json", "json", "object or array", "Json", "Any JSON object or list."),
    entry("uuid", "uuid", "uuid", "uuid", "string", "Uuid", "A UUID."),
    entry(
        "ref",
        "ref(x), ref(x | y)",
        "ref(product_group)",
        "ref\\( *[a-z0-9_]+( *\\| *[a-z0-9_]+)* *\\)",
        "number",
        "i64",
        "The id of a record of another resource. With several, the field `owner` becomes `owner_type` and `owner_id`.",
    ),
];

/// The longest `string(n)`: what a request may reasonably carry. Indexes take less, which the check of indexes says.
pub const LONGEST_STRING: u32 = 65_535;

/// The longest word of an `enum`: its column's length.
pub const LONGEST_WORD: u32 = 64;

/// The most digits of a `decimal`: they fit 64 bits, which is how SQLite keeps them exact.
pub const MOST_DIGITS: u8 = 18;

/// Whether a text begins with the word of a type, whatever its arguments are.
pub fn names_type(text: &str) -> bool {
    let word = text.split('(').next().unwrap_or_default();
    TYPES.iter().any(|known| known.word == word)
}

/// A type with the brackets that others write, as it is written here: `string[20]` is `string(20)`.
pub fn in_round_brackets(text: &str) -> Option<String> {
    let (word, _) = text.split_once('[')?;
    let is_type = TYPES.iter().any(|known| known.word == word) && text.ends_with(']');
    is_type.then(|| text.replace('[', "(").replace(']', ")"))
}

/// What another system's type is here, with its length or digits where it has any.
pub fn other_type(word: &str, arguments: &[&str]) -> Option<String> {
    let here = other_word(word)?;
    let (kind, _) = here.split_once('(').unwrap_or((here, ""));
    let are_numbers = arguments.iter().all(|text| text.parse::<u16>().is_ok_and(|number| number > 0));
    Some(match (kind, arguments) {
        ("string", [_]) if are_numbers => format!("{kind}({})", arguments.join(", ")),
        ("decimal", [digits, _]) if are_numbers && digits.parse::<u8>().is_ok_and(|digits| digits <= MOST_DIGITS) => {
            format!("{kind}({})", arguments.join(", "))
        }
        _ => here.to_owned(),
    })
}

/// What other systems call the types, some of them with a word behind: `CharField`.
pub fn other_word(word: &str) -> Option<&'static str> {
    let lower = word.to_lowercase();
    let bare = lower.strip_suffix("field").unwrap_or(&lower);
    if let Some(same) = TYPES.iter().find(|known| known.word == bare && lower != known.word) {
        return Some(same.example);
    }
    Some(match bare {
        "varchar" | "nvarchar" | "char" | "character" | "character_varying" | "str" | "slug" => "string(255)",
        "int" | "int4" | "i32" | "smallint" => "integer",
        "long" | "int8" | "i64" => "bigint",
        "bool" => "boolean",
        "float" | "double" | "number" | "numeric" | "money" => "decimal(12, 2)",
        "datetime" | "timestamptz" | "time" => "timestamp",
        "array" => "list(string(50))",
        "object" | "jsonb" | "map" => "json",
        "reference" | "references" | "belongs_to" | "foreign_key" | "foreignkey" => "ref(...)",
        "inet" | "ip" => "string(45)",
        _ => return None,
    })
}
