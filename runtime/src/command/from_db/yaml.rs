//! YAML of a resource for a table, with comments about parts that cannot be expressed.

use charter_model::TypeFacts;
use charter_model::field_type::{decimal, string};
use charter_model::reserved::{CUSTOM_FIELD_RELATION, SERVER_FIELDS, STATEMENT_PREFIX};

use super::default::{literal, quoted};
use super::faults;
use super::name::is_name;
use super::table::{Column, Index, Table};
use charter_core::db::Dialect;

/// The most digits of a decimal.
const MAX_DIGITS: u32 = decimal::MAX_DIGITS as u32;

/// A column in the YAML.
enum ColumnYaml {
    /// A field with its type, further keys, and notes for comments.
    Field { kind: String, keys: Vec<String>, notes: Vec<String> },
    /// A column that cannot be a field, and the reason.
    Omitted(String),
    /// A column that the server maintains.
    Platform,
}

/// Writes the file of a resource; `None` if no column can be a field. `resources` has the table and name of each resource.
/// `better` is the name that the resource would have if it were not reserved.
pub(super) fn write(
    dialect: Dialect,
    (name, better): (&str, Option<&str>),
    table: &str,
    found: &Table,
    resources: &[(&str, &str)],
) -> Option<String> {
    let database = if dialect == Dialect::Sqlite { "SQLite" } else { "PostgreSQL" };
    let has = |column: &str| found.columns.iter().any(|found| found.name == column);
    let mut body = String::new();
    let (mut fields, mut omitted) = (Vec::new(), Vec::new());
    for column in &found.columns {
        match column_yaml(dialect, column, found, resources, (name, table)) {
            ColumnYaml::Field { kind, keys, notes } => {
                let keys: String = keys.iter().map(|key| format!(", {key}")).collect();
                notes.iter().for_each(|note| body.push_str(&format!("  # {}: {note}.\n", column.name)));
                body.push_str(&format!("  {}: {{ type: {kind}{keys} }}\n", column.name));
                fields.push((column.name.as_str(), kind));
            }
            ColumnYaml::Omitted(reason) => {
                omitted.push(format!("`{}` ({}): {reason}", on_a_line(&column.name), on_a_line(&column.kind)))
            }
            ColumnYaml::Platform => {}
        }
    }
    if fields.is_empty() {
        return None;
    }
    let is_field = |column: &str| SERVER_FIELDS.contains(&column) || fields.iter().any(|(field, _)| *field == column);
    let faults = faults::find(dialect, found, is_field, false);
    let mut text = format!("# Generated from the table `{table}` of {database}.\n#\n");
    if let Some(better) = better {
        text.push_str(&format!("# To do: choose a name with `--name`; `{better}` is reserved.\n"));
    }
    for line in required_changes(dialect, found) {
        text.push_str(&format!("# To do: {line}.\n"));
    }
    for fault in faults {
        text.push_str(&format!("# To do: `{}` {}.\n", on_a_line(&fault.column), fault.problem));
    }
    text.push_str(
        "# The table exists. When a migration has brought it to the state of this file, run `cargo charter migration snapshot`;\n\
         # the drift test compares table and file.\n",
    );
    text.push_str(&format!("resource: {name}\ntable: {table}\n"));
    if has("deleted_at") {
        text.push_str("# The table has `deleted_at`.\ndelete: soft\n");
    }
    if has("custom_fields") {
        text.push_str("# The table has `custom_fields`.\ncustom_fields: true\n");
    }
    text.push_str(&format!(
        "# Writes emit `{name}.created`, `{name}.updated` and `{name}.deleted`:\n#: events: true\n\nfields:\n"
    ));
    text.push_str(&body);
    omitted.iter().for_each(|line| text.push_str(&format!("  # Omitted: {line}.\n")));
    text.push_str(&sets(found, &fields));
    Some(text)
}

/// Changes that a migration must make before the table can belong to a resource.
pub(super) fn required_changes(dialect: Dialect, found: &Table) -> Vec<String> {
    let mut lines = Vec::new();
    match found.columns.iter().find(|column| column.name == "id") {
        None => lines.push("add the primary key `id`, a 64-bit integer".to_owned()),
        Some(id) if !matches!(word(&id.kind).0, "bigint" | "integer" | "int8") => {
            lines.push(format!("change `id` from {} to a 64-bit integer", id.kind));
        }
        Some(id) if dialect == Dialect::Postgres && id.kind == "integer" => {
            lines.push("change `id` from integer to bigint".to_owned());
        }
        Some(_) => {}
    }
    for name in ["created_at", "updated_at"] {
        match found.columns.iter().find(|column| column.name == name) {
            None => lines.push(format!("add the timestamp `{name}`")),
            Some(column) if !column.kind.contains("time") => {
                lines.push(format!("change `{name}` from {} to a timestamp", column.kind));
            }
            Some(_) => {}
        }
    }
    lines
}

fn column_yaml(
    dialect: Dialect,
    column: &Column,
    found: &Table,
    resources: &[(&str, &str)],
    (name, table): (&str, &str),
) -> ColumnYaml {
    if SERVER_FIELDS.contains(&column.name.as_str()) {
        return ColumnYaml::Platform;
    }
    if !is_name(&column.name) {
        return ColumnYaml::Omitted("its name is not in snake_case, or not a valid name in Rust; rename it".to_owned());
    }
    if column.name == name || column.name.starts_with(STATEMENT_PREFIX) {
        return ColumnYaml::Omitted("its name is reserved; rename it".to_owned());
    }
    if column.computed {
        return ColumnYaml::Omitted("it is a generated column".to_owned());
    }
    let mut notes = Vec::new();
    let Some((mut kind, values)) = kind(dialect, column, &mut notes) else {
        return ColumnYaml::Omitted("no field type has these values".to_owned());
    };
    let is_whole = matches!(kind.as_str(), "integer" | "bigint");
    for reference in found.references.iter().filter(|reference| reference.columns.contains(&column.name)) {
        let target = resources.iter().find(|(other, _)| *other == reference.table).map(|(_, resource)| *resource);
        let target = if reference.table == table { Some(name) } else { target };
        match target {
            Some(_) if column.name.trim_end_matches("_id") == CUSTOM_FIELD_RELATION => {
                notes.push("its name is that of custom fields in `q`, so that it cannot be a reference".to_owned());
            }
            Some(target) if reference.columns.len() == 1 && reference.targets == ["id"] && is_whole => {
                kind = format!("ref({target})");
            }
            _ => {
                let (table, columns) = (&reference.table, reference.targets.join(", "));
                notes.push(format!("it references `{table}` ({columns}), which is not the id of a resource"));
            }
        }
    }
    let mut keys: Vec<String> = values.into_iter().collect();
    let is_unique = is_ordered(&kind) && has_unique(found, &column.name);
    keys.extend(presence(&kind, column, is_unique, &mut notes));
    if is_unique {
        keys.push("unique: true".to_owned());
    } else if has_unique(found, &column.name) {
        notes.push("it has a unique index, which is not supported for this type".to_owned());
    }
    ColumnYaml::Field { kind, keys, notes }
}

/// Maps a database type to a type of the grammar. For an enum, the second value is the key `values`.
fn kind(dialect: Dialect, column: &Column, notes: &mut Vec<String>) -> Option<(String, Option<String>)> {
    // `varchar(20)[]` and `time(3) with time zone` begin like other types.
    if column.kind.contains('[')
        || column.kind.starts_with("time")
            && column.kind.contains(" with time zone")
            && !column.kind.starts_with("timestamp")
    {
        return None;
    }
    let (word, arguments) = word(&column.kind);
    let plain = |kind: &str| Some((kind.to_owned(), None));
    if !column.enum_values.is_empty() {
        notes.push(format!("the column has the enum type `{}`; an enum field is text", column.kind));
        let values: Vec<String> = column.enum_values.iter().map(|value| quoted(value)).collect();
        return Some(("enum".to_owned(), Some(format!("values: [{}]", values.join(", ")))));
    }
    match word {
        "varchar" | "character varying" | "nvarchar" | "char" | "character" | "nchar" | "bpchar" => {
            if dialect == Dialect::Postgres && matches!(word, "character" | "bpchar") {
                notes.push(format!("{} fills values with spaces; it becomes varchar", column.kind));
            }
            match arguments.first() {
                Some(length) if (1..=string::MAX_LENGTH).contains(length) => plain(&format!("string({length})")),
                _ => plain("text"),
            }
        }
        "text" | "clob" | "citext" => plain("text"),
        "smallint" | "int2" | "tinyint" | "mediumint" => {
            notes.push(format!("{word} becomes integer, which is larger"));
            plain("integer")
        }
        // Integers of SQLite have 64 bits.
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
                notes.push(format!(
                    "{} is not limited to {MAX_DIGITS} digits; choose the digits and places",
                    column.kind
                ));
            }
            if dialect == Dialect::Sqlite {
                notes.push("on SQLite a decimal field is a scaled integer: convert the values".to_owned());
            } else if !matches!(word, "numeric" | "decimal") {
                notes.push(format!("{word} is not exact; it becomes numeric"));
            }
            plain(&format!("decimal({most}, {})", places.min(most)))
        }
        "json" | "jsonb" => {
            if word == "json" && dialect == Dialect::Postgres {
                notes.push("json becomes jsonb".to_owned());
            }
            plain("json")
        }
        _ if is_time(dialect, word) => {
            if column.kind.contains("without time zone") {
                notes.push("it has no time zone; it becomes a time in UTC".to_owned());
            }
            plain("timestamp")
        }
        // SQLite has types of any name: `jsonb_text`.
        _ if word.starts_with("json") && dialect == Dialect::Sqlite => plain("json"),
        _ => formatted(|facts| is_stored_as(facts, word)).and_then(|facts| plain(facts.word)),
    }
}

/// True for a type of times. SQLite has types of any name: `timestamp_text`.
fn is_time(dialect: Dialect, word: &str) -> bool {
    let known = ["timestamp", "timestamptz", "timestamp with time zone", "timestamp without time zone", "datetime"];
    known.contains(&word) || word.starts_with("timestamp") && dialect == Dialect::Sqlite
}

/// The type whose values are text of one form in JSON and that fits.
pub(super) fn formatted(fits: impl Fn(&TypeFacts) -> bool) -> Option<&'static TypeFacts> {
    TypeFacts::COLUMNS.iter().copied().find(|facts| facts.format.is_some() && fits(facts))
}

/// True if a database type is the storage of a field type, on either database.
fn is_stored_as(facts: &TypeFacts, word: &str) -> bool {
    let plain = word.strip_suffix(" without time zone").unwrap_or(word);
    facts.storage.is_some_and(|storage| [storage.facts().sqlite, storage.facts().postgres].contains(&plain))
}

/// Splits a type into its name and arguments: `character varying(20)`. Text after the parentheses is ignored.
pub(super) fn word(kind: &str) -> (&str, Vec<u32>) {
    let (word, rest) = kind.split_once('(').unwrap_or((kind, ""));
    let (word, _) = word.split_once(" collate").unwrap_or((word, ""));
    let arguments = rest.split(')').next().unwrap_or_default();
    // `numeric(5, -2)` has seven digits: a type with a negative argument is read as one without arguments.
    let arguments = arguments.split(',').map(|argument| argument.trim().parse().ok()).collect::<Option<_>>();
    (word.trim(), arguments.unwrap_or_default())
}

/// The keys `nullable`, `default` and `required`.
fn presence(kind: &str, column: &Column, is_unique: bool, notes: &mut Vec<String>) -> Vec<String> {
    let written = column.default.as_deref().filter(|default| !default.eq_ignore_ascii_case("null"));
    let default = written.and_then(|written| literal(kind, written));
    // Each record would have the same value.
    let default = default.filter(|default| !is_unique || default == "now");
    if let (Some(written), None) = (written, &default) {
        notes.push(format!("the default {} of the database has no equivalent", on_a_line(written)));
    }
    let default = default.map(|default| format!("default: {default}"));
    match (column.nullable, default) {
        (true, default) => std::iter::once("nullable: true".to_owned()).chain(default).collect(),
        (false, Some(default)) => vec![default],
        (false, None) if kind == "json" => Vec::new(),
        (false, None) => vec!["required: true".to_owned()],
    }
}

/// Escapes a text for a comment: line breaks and invisible characters.
fn on_a_line(text: &str) -> String {
    let seen = |c: char| match c {
        '\'' | '"' | '\\' => c.to_string(),
        _ => c.escape_debug().to_string(),
    };
    text.chars().map(seen).collect()
}

/// True if a type can be indexed.
fn is_ordered(kind: &str) -> bool {
    !matches!(kind, "text" | "json")
}

fn has_unique(found: &Table, column: &str) -> bool {
    let is_it = |index: &Index| index.columns.as_deref().is_some_and(|columns| columns == [column]);
    found.indexes.iter().any(|index| index.unique && !index.partial && is_it(index))
}

/// The keys `unique` and `indexes`, and comments about other indexes.
fn sets(found: &Table, fields: &[(&str, String)]) -> String {
    let own = ["id", "created_at", "updated_at"];
    let is_field = |name: &String| {
        own.contains(&name.as_str()) || fields.iter().any(|(field, kind)| field == name && is_ordered(kind))
    };
    let (mut unique, mut indexes, mut partial, mut omitted) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for index in &found.indexes {
        match &index.columns {
            Some(columns) if !index.partial && columns.iter().all(is_field) => {
                let set = format!("[{}]", columns.join(", "));
                let list = if index.unique { &mut unique } else { &mut indexes };
                // A single unique field has the key itself. Duplicate indexes are merged.
                let is_key_of_field = index.unique && columns.len() == 1;
                if !is_key_of_field && !list.contains(&set) {
                    list.push(set);
                }
            }
            Some(columns) if index.unique && index.partial && columns.iter().all(is_field) => {
                let columns = columns.join(", ");
                partial.push(format!(
                    "# Omitted: `unique: [{{ fields: [{columns}], where: … }}]`, with the condition of its index.\n"
                ));
            }
            Some(columns) => omitted.push(format!("over {}", columns.join(", "))),
            None => omitted.push("over an expression".to_owned()),
        }
    }
    let mut text = String::new();
    for (key, sets) in [("unique", unique), ("indexes", indexes)] {
        if !sets.is_empty() {
            text.push_str(&format!("\n{key}: [{}]\n", sets.join(", ")));
        }
    }
    text.extend(partial);
    for what in omitted {
        text.push_str(&format!(
            "# Omitted: an index {}, which is partial or has a column without an order.\n",
            on_a_line(&what)
        ));
    }
    text
}
