//! A table as the YAML of a resource; what it does not tell, and what has no place there, as comments.

use charter_model::field_type::{decimal, string};
use charter_model::naming::{MAX_NAME_LENGTH, is_snake_case};
use charter_model::reserved::{SERVER_FIELDS, is_never_a_name};

use super::table::{Column, Index, Table};
use crate::db::Dialect;

/// Whether a name is one of the grammar: snake_case, and a word that Rust takes.
pub fn is_name(name: &str) -> bool {
    is_snake_case(name) && name.len() <= MAX_NAME_LENGTH && !is_never_a_name(name)
}

/// The most digits of a decimal.
const MAX_DIGITS: u32 = decimal::MAX_DIGITS as u32;

/// What is said of a column.
enum Said {
    /// It is a field, of this type, with this said behind it.
    Field { kind: String, keys: Vec<String>, notes: Vec<String> },
    /// No field can be it, and why.
    Left(String),
    /// The server keeps it.
    ServersOwn,
}

/// The file of a resource; nothing where no column could be a field.
///
/// `resources`: every table that has a resource, with that resource's name.
pub fn write(dialect: Dialect, name: &str, table: &str, found: &Table, resources: &[(&str, &str)]) -> Option<String> {
    let database = if dialect == Dialect::Sqlite { "SQLite" } else { "PostgreSQL" };
    let has = |column: &str| found.columns.iter().any(|found| found.name == column);
    let mut text = format!("# From the table `{table}` as {database} describes it.\n#\n");
    for line in differences(dialect, found) {
        text.push_str(&format!("# To do: {line}.\n"));
    }
    text.push_str(
        "# The table is there: where a migration has made it what this file says, `cargo charter migration snapshot`\n\
         # takes it for reached, and the drift test compares.\n",
    );
    text.push_str(&format!("resource: {name}\ntable: {table}\n"));
    if has("deleted_at") {
        text.push_str("# The table has `deleted_at`.\ndelete: soft\n");
    }
    if has("custom_fields") {
        text.push_str("# The table has `custom_fields`.\ncustom_fields: true\n");
    }
    text.push_str(&format!(
        "# Writing emits `{name}.created`, `.updated` and `.deleted`:\n#: events: true\n\nfields:\n"
    ));
    let (mut fields, mut left) = (Vec::new(), Vec::new());
    for column in &found.columns {
        match said(dialect, column, found, resources, (name, table)) {
            Said::Field { kind, keys, notes } => {
                let keys: String = keys.iter().map(|key| format!(", {key}")).collect();
                notes.iter().for_each(|note| text.push_str(&format!("  # {}: {note}.\n", column.name)));
                text.push_str(&format!("  {}: {{ type: {kind}{keys} }}\n", column.name));
                fields.push((column.name.as_str(), kind));
            }
            Said::Left(why) => left.push(format!("`{}` ({}): {why}", on_a_line(&column.name), column.kind)),
            Said::ServersOwn => {}
        }
    }
    if fields.is_empty() {
        return None;
    }
    left.iter().for_each(|line| text.push_str(&format!("  # Left out: {line}.\n")));
    text.push_str(&sets(found, &fields));
    Some(text)
}

/// What a migration has to change before the table is that of a resource.
fn differences(dialect: Dialect, found: &Table) -> Vec<String> {
    let mut lines = Vec::new();
    match found.columns.iter().find(|column| column.name == "id") {
        None => {
            lines.push("the table has no `id`, which every record has: a whole number of 64 bits, the key".to_owned())
        }
        Some(id) if !matches!(word(&id.kind).0, "bigint" | "integer" | "int8") => {
            lines.push(format!("`id` is {}, and that of a record is a whole number of 64 bits", id.kind));
        }
        Some(id) if dialect == Dialect::Postgres && id.kind == "integer" => {
            lines.push("`id` is integer, and that of a record has 64 bits: bigint".to_owned());
        }
        Some(_) => {}
    }
    for name in ["created_at", "updated_at"] {
        match found.columns.iter().find(|column| column.name == name) {
            None => lines.push(format!("the table has no `{name}`, which every record has")),
            Some(column) if !column.kind.contains("time") => {
                lines.push(format!("`{name}` is {}, and that of a record is a time", column.kind));
            }
            Some(_) => {}
        }
    }
    lines
}

fn said(
    dialect: Dialect,
    column: &Column,
    found: &Table,
    resources: &[(&str, &str)],
    (name, table): (&str, &str),
) -> Said {
    if SERVER_FIELDS.contains(&column.name.as_str()) {
        return Said::ServersOwn;
    }
    if !is_name(&column.name) {
        return Said::Left("its name is not in snake_case, or no name in Rust; rename it".to_owned());
    }
    if column.computed {
        return Said::Left("the database computes it".to_owned());
    }
    let mut notes = Vec::new();
    let Some((mut kind, values)) = kind(dialect, column, &mut notes) else {
        return Said::Left("no type of a field holds it".to_owned());
    };
    let is_whole = matches!(kind.as_str(), "integer" | "bigint");
    for reference in found.references.iter().filter(|reference| reference.columns.contains(&column.name)) {
        let target = resources.iter().find(|(other, _)| *other == reference.table).map(|(_, resource)| *resource);
        let target = if reference.table == table { Some(name) } else { target };
        match target {
            Some(target) if reference.columns.len() == 1 && reference.targets == ["id"] && is_whole => {
                kind = format!("ref({target})");
            }
            _ => {
                let (table, columns) = (&reference.table, reference.targets.join(", "));
                notes.push(format!("it refers to `{table}` ({columns}), which is the id of no resource yet"));
            }
        }
    }
    let mut keys: Vec<String> = values.into_iter().collect();
    keys.extend(presence(&kind, column, &mut notes));
    if !is_ordered(&kind) && has_unique(found, &column.name) {
        notes.push("it is unique in the table, of which the type here keeps no order".to_owned());
    } else if has_unique(found, &column.name) {
        keys.push("unique: true".to_owned());
    }
    Said::Field { kind, keys, notes }
}

/// A type of the database as one of the grammar, with the values of an enumeration.
fn kind(dialect: Dialect, column: &Column, notes: &mut Vec<String>) -> Option<(String, Option<String>)> {
    let (word, arguments) = word(&column.kind);
    let plain = |kind: &str| Some((kind.to_owned(), None));
    if !column.words.is_empty() {
        notes.push(format!("the database has a type `{}` of its own for it; here an enum is text", column.kind));
        let words: Vec<String> = column.words.iter().map(|word| quoted(word)).collect();
        return Some(("enum".to_owned(), Some(format!("values: [{}]", words.join(", ")))));
    }
    match word {
        "varchar" | "character varying" | "nvarchar" | "char" | "character" | "nchar" | "bpchar" => {
            match arguments.first() {
                Some(length) if (1..=string::MAX_LENGTH).contains(length) => plain(&format!("string({length})")),
                _ => plain("text"),
            }
        }
        "text" | "clob" | "citext" => plain("text"),
        "smallint" | "int2" | "tinyint" | "mediumint" => {
            notes.push(format!("{word} has fewer bits than integer"));
            plain("integer")
        }
        // The key of a table may be any number of SQLite, and so may what refers to it.
        "integer" | "int" if dialect == Dialect::Sqlite => plain("bigint"),
        "integer" | "int" | "int4" => plain("integer"),
        "bigint" | "int8" => plain("bigint"),
        "boolean" | "bool" => plain("boolean"),
        "numeric" | "decimal" | "real" | "double" | "double precision" | "float" | "money" => {
            let (digits, places) = match arguments.as_slice() {
                [digits, places] => (*digits, *places),
                [digits] => (*digits, 0),
                _ => (MAX_DIGITS + 1, 4),
            };
            let (most, fits) = (digits.min(MAX_DIGITS), digits <= MAX_DIGITS && places <= digits);
            if !fits {
                notes.push(format!("{} does not say at most {MAX_DIGITS} digits; choose how many", column.kind));
            }
            if dialect == Dialect::Sqlite {
                notes.push("SQLite keeps a decimal of a resource as a whole number: convert the values".to_owned());
            } else if !matches!(word, "numeric" | "decimal") {
                notes.push(format!("{word} is not exact, and becomes numeric"));
            }
            plain(&format!("decimal({most}, {})", places.min(most)))
        }
        "date" => plain("date"),
        "uuid" => plain("uuid"),
        "json" | "jsonb" => {
            if word == "json" && dialect == Dialect::Postgres {
                notes.push("json becomes jsonb".to_owned());
            }
            plain("json")
        }
        _ if word.starts_with("timestamp") || word == "datetime" => {
            if column.kind.contains("without time zone") {
                notes.push("it has no time zone, and becomes a time in UTC".to_owned());
            }
            plain("timestamp")
        }
        _ if word.starts_with("date_") => plain("date"),
        _ if word.starts_with("uuid_") => plain("uuid"),
        _ if word.starts_with("json") => plain("json"),
        _ => None,
    }
}

/// `character varying(20)` is the word and its arguments; what stands behind the parentheses tells no other type.
fn word(kind: &str) -> (&str, Vec<u32>) {
    let (word, rest) = kind.split_once('(').unwrap_or((kind, ""));
    let (word, _) = word.split_once(" collate").unwrap_or((word, ""));
    let arguments = rest.split(')').next().unwrap_or_default();
    (word.trim(), arguments.split(',').filter_map(|argument| argument.trim().parse().ok()).collect())
}

/// What a record has that does not give the field.
fn presence(kind: &str, column: &Column, notes: &mut Vec<String>) -> Vec<String> {
    let written = column.default.as_deref().filter(|default| !default.eq_ignore_ascii_case("null"));
    let default = written.and_then(|written| literal(kind, written));
    if let (Some(written), None) = (written, &default) {
        notes.push(format!("its default is {} in the database, and said here by nothing", on_a_line(written)));
    }
    let default = default.map(|default| format!("default: {default}"));
    match (column.nullable, default) {
        (true, default) => std::iter::once("nullable: true".to_owned()).chain(default).collect(),
        (false, Some(default)) => vec![default],
        (false, None) if kind == "json" => Vec::new(),
        (false, None) => vec!["required: true".to_owned()],
    }
}

/// A text of the database's for a comment: as it is, but for what would end the line or not be seen.
fn on_a_line(text: &str) -> String {
    let seen = |c: char| match c {
        '\'' | '"' | '\\' => c.to_string(),
        _ => c.escape_debug().to_string(),
    };
    text.chars().map(seen).collect()
}

/// A default of the database as YAML has it, where it is one that the grammar knows.
fn literal(kind: &str, written: &str) -> Option<String> {
    // PostgreSQL says the type behind the value, in which there may be anything.
    let behind = written.rfind('\'').unwrap_or_default();
    let end = written[behind..].find("::").map_or(written.len(), |at| behind + at);
    let bare = written[..end].trim().trim_matches(['(', ')']).to_owned();
    let within = bare.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    // Another quote that is not doubled ends the text, and there is more.
    let text = within.filter(|text| !text.replace("''", "").contains('\'')).map(|text| text.replace("''", "'"));
    let value = text.clone().unwrap_or_else(|| bare.clone());
    let is_now = ["now", "current_timestamp", "current_date"].contains(&value.to_lowercase().as_str());
    let number = value.parse::<rust_decimal::Decimal>().ok();
    let arguments = word(kind).1;
    match kind {
        "timestamp" | "date" => is_now.then(|| "now".to_owned()),
        "boolean" => match value.to_lowercase().as_str() {
            "true" | "1" | "t" => Some("true".to_owned()),
            "false" | "0" | "f" => Some("false".to_owned()),
            _ => None,
        },
        "integer" | "bigint" => number.filter(|number| number.scale() == 0).map(|_| value),
        _ if kind.starts_with("decimal") => {
            number.filter(|number| arguments.last().is_some_and(|places| number.scale() <= *places)).map(|_| value)
        }
        "text" | "enum" => text.map(|text| quoted(&text)),
        _ if kind.starts_with("string") => {
            let fits = |text: &String| arguments.first().is_some_and(|most| text.chars().count() <= *most as usize);
            text.filter(fits).map(|text| quoted(&text))
        }
        _ => None,
    }
}

/// A text that YAML reads as that text: JSON is YAML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Whether the database can keep an order of it.
fn is_ordered(kind: &str) -> bool {
    !matches!(kind, "text" | "json")
}

fn has_unique(found: &Table, column: &str) -> bool {
    let is_it = |index: &Index| index.columns.as_deref().is_some_and(|columns| columns == [column]);
    found.indexes.iter().any(|index| index.unique && !index.partial && is_it(index))
}

/// `unique` and `indexes`, and what of the table's is neither.
fn sets(found: &Table, fields: &[(&str, String)]) -> String {
    let own = ["id", "created_at", "updated_at"];
    let is_field = |name: &String| {
        own.contains(&name.as_str()) || fields.iter().any(|(field, kind)| field == name && is_ordered(kind))
    };
    let (mut unique, mut indexes, mut left) = (Vec::new(), Vec::new(), Vec::new());
    for index in &found.indexes {
        match &index.columns {
            Some(columns) if !index.partial && columns.iter().all(is_field) => {
                let set = format!("[{}]", columns.join(", "));
                let list = if index.unique { &mut unique } else { &mut indexes };
                // One field alone says it itself, and two indexes over the same are one.
                let said = index.unique && columns.len() == 1;
                if !said && !list.contains(&set) {
                    list.push(set);
                }
            }
            Some(columns) => left.push(format!("over {}", columns.join(", "))),
            None => left.push("over an expression".to_owned()),
        }
    }
    let mut text = String::new();
    for (key, sets) in [("unique", unique), ("indexes", indexes)] {
        if !sets.is_empty() {
            text.push_str(&format!("\n{key}: [{}]\n", sets.join(", ")));
        }
    }
    for what in left {
        text.push_str(&format!(
            "# Left out: an index {}, with a condition or of what has no order.\n",
            on_a_line(&what)
        ));
    }
    text
}
