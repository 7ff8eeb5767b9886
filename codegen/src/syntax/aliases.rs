//! Keys and words of other systems, with what to write here.

use charter_model::{ActionOn, Keyword, Predicate, TypeWord, date};

use super::keys::Table;
use super::tree::{Entry, Node, Value};
use super::type_word::names_type;

/// A key of other systems: its spellings, the key of this grammar if there is one, and the help.
struct Alias {
    keys: &'static [&'static str],
    means: Option<&'static str>,
    help: &'static str,
}

/// A key that has another name here.
const fn same(keys: &'static [&'static str], means: &'static str, help: &'static str) -> Alias {
    Alias { keys, means: Some(means), help }
}

/// A key that has no counterpart here.
const fn other(keys: &'static [&'static str], help: &'static str) -> Alias {
    Alias { keys, means: None, help }
}

const NULLABLE_HELP: &str = "fields are not null by default; add `nullable: true` to allow null, or `required: true` to require a value on create";

const RULES_HELP: &str =
    "rules are keys of the field: `required: true`, `unique: true`, `min: 0`, `min_length: 1`, `pattern: \"[A-Z]+\"`";

/// Keys that other systems have at a column.
const FIELD_ALIASES: &[Alias] = &[
    same(&["ondelete", "when_deleted", "dependent"], "on_delete", "use `on_delete`: `on_delete: cascade`"),
    other(&["cascade"], "use `on_delete: cascade` at the `ref` field"),
    other(
        &["index", "indexed"],
        "`filters` and `sorts` add indexes; declare others at the top level: `indexes: [[name]]`",
    ),
    same(
        &["ref", "references", "reference", "foreign_key", "belongs_to", "relation"],
        "type",
        "a reference is a type: `type: ref(<resource>)`",
    ),
    other(&["to", "target"], "the type names the target of a reference: `type: ref(<resource>)`"),
    other(&["items", "of", "elements"], "the type names the elements of a list: `type: list(string(50))`"),
    other(&["length", "size", "limit", "max_length"], "the type has the maximum length of text: `type: string(255)`"),
    other(
        &["precision", "scale", "digits", "places", "max_digits", "decimal_places"],
        "the type has the digits and the decimal places: `type: decimal(12, 2)`",
    ),
    same(&["optional", "null", "allow_null", "allow_nil", "blank"], "nullable", "write `nullable: true` to allow null"),
    other(&["not_null", "mandatory"], NULLABLE_HELP),
    other(&["primary_key", "primary", "auto_increment"], "every record has an `id`"),
    same(&["read_only"], "access", "`access: read_only` makes the server ignore the value that a client sends"),
    same(&["immutable", "write_once"], "access", "`access: immutable` allows a value on create and rejects changes"),
    same(&["secret", "write_only"], "access", "`access: secret` allows clients to write a value that is never shown"),
    same(
        &["hidden"],
        "access",
        "`access: secret` hides a field everywhere; fields under `detail` of the resource are hidden from lists",
    ),
    same(
        &["choices", "options", "enum"],
        "values",
        "list the words under `values`: `type: enum` and `values: [draft, sent]`",
    ),
    same(&["maximum", "max_value", "lte", "le"], "max", "use `max`"),
    same(&["minimum", "min_value", "gte", "ge"], "min", "use `min`"),
    same(&["exclusive_maximum", "lt", "less_than"], "below", "use `below`"),
    same(&["exclusive_minimum", "gt", "greater_than"], "above", "use `above`"),
    same(&["regex", "regexp", "match", "matches"], "pattern", "use `pattern`"),
    same(&["title", "caption", "verbose_name", "display_name"], "label", "use `label`"),
    same(&["help_text", "hint", "placeholder"], "help", "use `help`"),
    same(&["comment", "doc", "docs"], "description", "use `description`"),
    other(
        &["auto_now", "auto_now_add"],
        "every record has `created_at` and `updated_at`; for the time of the create, use `default: now`",
    ),
    other(&["validates", "validate", "validations", "validation", "constraints", "rules"], RULES_HELP),
    other(&["searchable", "search"], "list the field under `search` of the resource: `search: [name]`"),
    other(
        &["sortable", "sort", "sorts"],
        "lists can be sorted by every field that they show; `sorts` of the resource restricts it: `sorts: [name]`",
    ),
    other(
        &["filterable", "filter", "filters"],
        "lists can be filtered by every field that they show; `filters` of the resource restricts it: `filters: { name: all }`",
    ),
];

/// Keys that other systems have at a table.
const RESOURCE_ALIASES: &[Alias] = &[
    same(&["soft_delete", "soft_deletes", "paranoid"], "delete", "use `delete: soft`"),
    other(&["primary_key"], "every record has an `id`"),
    other(&["on_delete"], "`on_delete` belongs to a `ref` field, and says what happens to the records that have it"),
    same(&["columns", "properties", "attributes"], "fields", "use `fields`"),
    same(&["name", "model", "entity", "class"], "resource", "use `resource`; `label` is the name for people"),
    same(&["verbose_name"], "label", "use `label`"),
    same(&["display_name", "to_s", "title_field"], "title", "use `title`: `title: \"{name} ({sku})\"`"),
    same(&["table_name", "db_table"], "table", "use `table`"),
    same(&["url", "route", "slug", "endpoint"], "path", "use `path`"),
    same(&["routes", "endpoints", "only"], "operations", "use `operations`: `operations: [list, show]`"),
    same(&["fixtures", "seeds"], "seed", "`seed` names a file with rows: `seed: <resource>.seed.yaml`"),
    same(&["unique_together", "unique_constraints"], "unique", "use `unique`: `unique: [[first, second]]`"),
    same(&["callbacks", "before_save", "after_save"], "hooks", "use `hooks`: `hooks: [before_save]`"),
    same(&["ordering", "order_by", "default_sort"], "order", "use `order`: `order: [-created_at, name]`"),
    other(
        &["scopes", "default_scope"],
        "`filters` lists the filters of clients; the hook `scope` restricts the records that a caller sees",
    ),
    other(
        &["relationships", "relations", "associations"],
        "declare a field of `type: ref(<resource>)`; `includes` shows the other record with this one",
    ),
    other(&["validates", "validations", "constraints", "rules"], RULES_HELP),
    same(
        &["parent", "belongs_to"],
        "under",
        "`under: <resource>` puts the path below that of a parent; to refer to another record only, declare a field of `type: ref(<resource>)`",
    ),
    same(
        &["has_many", "has_one"],
        "includes",
        "show the records that refer to this one with `includes: { <name>: { many: <resource> } }`",
    ),
];

/// A key without differences of spelling: `soft_delete`, `softDelete` and `soft-delete` are equal.
fn folded(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '_' | '-' | '?')).flat_map(char::to_lowercase).collect()
}

/// Words of other systems, with their key and the word of this grammar.
const WORD_ALIASES: &[(&str, &[&str], &str)] = &[
    ("operations", &["index", "all", "browse"], "list"),
    ("operations", &["read", "get", "retrieve"], "show"),
    ("operations", &["new", "add", "insert", "store"], "create"),
    ("operations", &["edit", "put", "patch"], "update"),
    ("operations", &["destroy", "remove"], "delete"),
    ("hooks", &["before_create", "before_update", "before_insert"], "before_save"),
    ("hooks", &["after_create", "after_update", "after_insert"], "after_save"),
    ("hooks", &["before_destroy"], "before_delete"),
    ("hooks", &["after_destroy"], "after_delete"),
    ("hooks", &["validate", "before_validation"], "check"),
    ("on", &["member", "instance", "item", "one"], "record"),
    ("on", &["list", "class", "all"], "collection"),
    ("method", &["put", "patch", "delete"], "post"),
    ("access", &["hidden", "private", "write_only"], "secret"),
    ("access", &["write_once", "create_only"], "immutable"),
];

/// The help for an unknown predicate.
pub fn predicate(written: &str) -> Option<String> {
    Predicate::from_foreign_name(written).map(|here| format!("use `{here}`"))
}

/// The help for an unknown word of a key.
pub fn word(key: &str, written: &str) -> Option<String> {
    let lower = written.to_lowercase();
    if key == "timestamps" && ["true", "false", "yes", "no"].contains(&lower.as_str()) {
        return Some(
            "every record has `created_at` and `updated_at`; this key sets their format in responses: `seconds`"
                .to_owned(),
        );
    }
    if key == "delete" && ["true", "false", "yes", "no", "hard", "cascade", "restrict"].contains(&lower.as_str()) {
        return Some("`delete: soft` marks deleted rows; without the key, rows are removed".to_owned());
    }
    if key == "output" && names_type(written) {
        return Some(format!(
            "name the fields under the key of the answer: `answer: result` and `output: {{ result: {written} }}`"
        ));
    }
    let here = WORD_ALIASES.iter().find(|(under, words, _)| *under == key && words.contains(&lower.as_str()));
    here.map(|(_, _, here)| format!("use `{here}`"))
}

/// The help for an unknown key, with the key that was meant.
pub fn help(table: &Table, entry: &Entry) -> Option<(&'static str, Option<&'static str>)> {
    let known = match table.key("fields") {
        _ if table.key("type").is_some() => FIELD_ALIASES,
        Some(_) if table.key("resource").is_some() => RESOURCE_ALIASES,
        _ => return None,
    };
    let written = folded(entry.key.as_str());
    let mut known = known.iter().filter(|one| one.means.is_none_or(|key| table.key(key).is_some()));
    let found = known.find(|one| one.keys.iter().any(|key| folded(key) == written))?;
    if found.means == Some("nullable") && flag(&entry.value) == Some(false) {
        return Some((NULLABLE_HELP, found.means));
    }
    Some((found.help, found.means))
}

/// The help for a value of another shape, such as a list in place of a mapping.
pub fn shape(key: &str, node: &Node) -> Option<String> {
    let first = match &node.value {
        Value::List(items) => items.first(),
        _ => None,
    };
    let one = first.and_then(Node::scalar).map(|text| text.value);
    let text = node.scalar().map(|text| text.value);
    let entries = match first.map(|first| &first.value) {
        Some(Value::Map(entries)) => entries.as_slice(),
        _ => &[],
    };
    let named = entries.iter().find(|entry| entry.key.value == "name").and_then(|entry| entry.value.scalar());
    // Unless a field is called `name`: `- name: string(5)`.
    let named =
        named.filter(|name| entries.iter().any(|entry| entry.key.value == "type") || !names_type(name.as_str()));
    match (key, one, named) {
        ("fields" | "detail" | "input" | "output", Some(name), _) => {
            Some(format!("give each field a type: `{key}: {{ {name}: string(255) }}`"))
        }
        ("fields" | "detail" | "input" | "output", _, Some(name)) => {
            Some(format!("use the name as the key: `{}: {{ type: … }}`, without `-`", name.value))
        }
        ("fields" | "detail" | "input" | "output" | "actions" | "includes" | "filters", None, None)
            if !entries.is_empty() =>
        {
            Some("remove the `-`: use names as keys, each with its options as the value".to_owned())
        }
        ("actions", Some(name), _) => {
            Some(format!("give each action a target: `actions: {{ {name}: {{ on: record }} }}`"))
        }
        ("deprecated_filters", Some(name), _) => {
            Some(format!("give each filter a date: `deprecated_filters: {{ {name}: {{ since: 2026-03-21 }} }}`"))
        }
        ("filters", Some(name), _) => Some(format!("give each field its predicates: `filters: {{ {name}: all }}`")),
        ("includes", Some(name), _) => {
            Some(format!("give each include the reference field to follow: `includes: {{ {name}: {name}_id }}`"))
        }
        ("type", Some(_), _) if is_or_null(node) => Some("to allow null, add `nullable: true` to the field".to_owned()),
        ("type", Some(word), _) => {
            let example = TypeWord::find(&word).map_or(word.as_str(), |known| known.example);
            Some(format!(
                "write one type without brackets: `type: {example}`; a list of texts is `type: list(string(50))`"
            ))
        }
        ("deprecated", ..) => text.map(|text| match date::is_day(&text) {
            true => format!("write `deprecated: {{ since: {text} }}`"),
            false => "add the date: `deprecated: { since: 2026-03-21 }`".to_owned(),
        }),
        ("check", ..) => text.map(|text| format!("write `{{ that: {text} }}`")),
        ("action", ..) => {
            let on = text.and_then(|text| ActionOn::read(&text));
            on.map(|on| format!("write `{{ on: {} }}`", on.word()))
        }
        _ => None,
    }
}

/// `[string, null]`
fn is_or_null(node: &Node) -> bool {
    matches!(&node.value, Value::List(items) if items.iter().any(|item| item.is_null() || item.scalar().is_some_and(|text| text.value == "null")))
}

/// The boolean that a value was meant to be.
pub fn flag(node: &Node) -> Option<bool> {
    let Value::Scalar { text, .. } = &node.value else { return None };
    match text.to_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}
