//! Keys and words of other systems, with what to write here.

use charter_model::{ActionOn, Keyword, Predicate, TypeWord, date};

use super::keys::Table;
use super::tree::{Entry, Node, Value};
use super::type_word::names_type;

/// A key of other systems: its spellings, the key of this grammar if there is one, and the help.
struct Foreign {
    keys: &'static [&'static str],
    means: Option<&'static str>,
    help: &'static str,
}

/// A key that has another name here.
const fn same(keys: &'static [&'static str], means: &'static str, help: &'static str) -> Foreign {
    Foreign { keys, means: Some(means), help }
}

/// A key that has no counterpart here.
const fn other(keys: &'static [&'static str], help: &'static str) -> Foreign {
    Foreign { keys, means: None, help }
}

const NEVER_NULL: &str =
    "a field is never null unless it says `nullable: true`; clients must give one with `required: true`";

const RULES: &str = "rules stand at their field, beside its type: `required: true`, `unique: true`, `min: 0`, `min_length: 1`, \
                     `pattern: \"[A-Z]+\"`";

/// Keys that other systems have at a column.
const AT_A_FIELD: &[Foreign] = &[
    other(
        &["on_delete", "cascade"],
        "what a record refers to cannot be deleted; records that go with another are embedded in it: `many: <resource>`",
    ),
    other(
        &["index", "indexed"],
        "`filters` and `sorts` of the resource bring their indexes along; others stand there too: `indexes: [[name]]`",
    ),
    same(
        &["ref", "references", "reference", "foreign_key", "belongs_to", "relation"],
        "type",
        "a reference is a type: `type: ref(<resource>)`",
    ),
    other(&["to", "target"], "what a reference leads to stands in its type: `type: ref(<resource>)`"),
    other(&["items", "of", "elements"], "what a list holds stands in its type: `type: list(string(50))`"),
    other(&["length", "size", "limit", "max_length"], "the length of a text stands in its type: `type: string(255)`"),
    other(
        &["precision", "scale", "digits", "places", "max_digits", "decimal_places"],
        "the digits of a decimal stand in its type: `type: decimal(12, 2)`, of which 2 are behind the point",
    ),
    same(
        &["optional", "null", "allow_null", "allow_nil", "blank"],
        "nullable",
        "a field that may be null says `nullable: true`",
    ),
    other(&["not_null", "mandatory"], NEVER_NULL),
    other(&["primary_key", "primary", "auto_increment"], "every record has an `id` by itself"),
    same(&["read_only"], "access", "what a client sends is ignored with `access: read_only`"),
    same(&["immutable", "write_once"], "access", "what is given on create and never changes has `access: immutable`"),
    same(&["secret", "write_only"], "access", "what is written and never shown has `access: secret`"),
    same(
        &["hidden"],
        "access",
        "what no answer shows has `access: secret`; what only the single record shows stands under `detail` of the resource",
    ),
    same(
        &["choices", "options", "enum"],
        "values",
        "the words stand under `values`: `type: enum` and `values: [draft, sent]`",
    ),
    same(&["maximum", "max_value", "lte", "le"], "max", "it is called `max` here"),
    same(&["minimum", "min_value", "gte", "ge"], "min", "it is called `min` here"),
    same(&["exclusive_maximum", "lt", "less_than"], "below", "it is called `below` here"),
    same(&["exclusive_minimum", "gt", "greater_than"], "above", "it is called `above` here"),
    same(&["regex", "regexp", "match", "matches"], "pattern", "it is called `pattern` here"),
    same(&["title", "caption", "verbose_name", "display_name"], "label", "it is called `label` here"),
    same(&["help_text", "hint", "placeholder"], "help", "it is called `help` here"),
    same(&["comment", "doc", "docs"], "description", "it is called `description` here"),
    other(
        &["auto_now", "auto_now_add"],
        "every record has `created_at` and `updated_at` by itself; the time of a create says `default: now`",
    ),
    other(&["validates", "validate", "validations", "validation", "constraints", "rules"], RULES),
    other(&["searchable", "search"], "`search` of the resource names the fields that have it: `search: [name]`"),
    other(
        &["sortable", "sort", "sorts"],
        "lists are sorted by every field that they show, unless `sorts` of the resource says by which: `sorts: [name]`",
    ),
    other(
        &["filterable", "filter", "filters"],
        "lists are filtered by every field that they show, unless `filters` of the resource says by which: \
         `filters: { name: all }`",
    ),
];

/// Keys that other systems have at a table.
const AT_A_RESOURCE: &[Foreign] = &[
    same(&["soft_delete", "soft_deletes", "paranoid"], "delete", "it is called `delete: soft` here"),
    other(&["primary_key"], "every record has an `id` by itself"),
    other(
        &["on_delete"],
        "what a record refers to cannot be deleted; records that go with another are embedded in it: `many: <resource>`",
    ),
    same(&["columns", "properties", "attributes"], "fields", "they are called `fields` here"),
    same(
        &["name", "model", "entity", "class"],
        "resource",
        "it is called `resource` here; what people read is its `label`",
    ),
    same(&["title", "verbose_name", "display_name"], "label", "it is called `label` here"),
    same(&["table_name", "db_table"], "table", "it is called `table` here"),
    same(&["url", "route", "slug", "endpoint"], "path", "it is called `path` here"),
    same(&["routes", "endpoints", "only"], "operations", "it is called `operations` here: `operations: [list, show]`"),
    same(&["fixtures", "seeds"], "seed", "a file with rows is named by `seed: <resource>.seed.yaml`"),
    same(
        &["unique_together", "unique_constraints"],
        "unique",
        "it is called `unique` here: `unique: [[first, second]]`",
    ),
    same(&["callbacks", "before_save", "after_save"], "hooks", "it is called `hooks` here: `hooks: [before_save]`"),
    other(
        &["ordering", "order", "order_by", "default_sort"],
        "lists are ordered by `id` where a client does not say `sort`; by what it may say so stands under `sorts`",
    ),
    other(
        &["scopes", "default_scope"],
        "what a client narrows a list by stands under `filters`; what a caller sees at all, in the hook `scope`",
    ),
    other(
        &["relationships", "relations", "associations"],
        "a field of `type: ref(<resource>)` refers to another record; what is shown along with one stands under `includes`",
    ),
    other(&["validates", "validations", "constraints", "rules"], RULES),
    same(
        &["parent", "belongs_to"],
        "under",
        "what has its address below another's says `under: <resource>`; what only refers to it has a field of \
         `type: ref(<resource>)`",
    ),
    same(
        &["has_many", "has_one"],
        "includes",
        "records that refer to this one are shown with it by `includes: { <name>: { many: <resource> } }`",
    ),
];

/// A key without differences of spelling: `soft_delete`, `softDelete` and `soft-delete` are equal.
fn folded(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '_' | '-' | '?')).flat_map(char::to_lowercase).collect()
}

/// Words of other systems, with their key and the word of this grammar.
const WORDS: &[(&str, &[&str], &str)] = &[
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
    Predicate::elsewhere(written).map(|here| format!("here it is called `{here}`"))
}

/// The help for an unknown word of a key.
pub fn word(key: &str, written: &str) -> Option<String> {
    let lower = written.to_lowercase();
    if key == "timestamps" && ["true", "false", "yes", "no"].contains(&lower.as_str()) {
        return Some(
            "every record has `created_at` and `updated_at`; this says how times go out: `seconds`".to_owned(),
        );
    }
    if key == "delete" && ["true", "false", "yes", "no", "hard", "cascade", "restrict"].contains(&lower.as_str()) {
        return Some(
            "`delete: soft` keeps the row and marks it; where the key is left out the row is removed".to_owned(),
        );
    }
    if key == "output" && names_type(written) {
        return Some(format!(
            "fields have names here too, under the key of the answer: `answer: result` and `output: {{ result: {written} }}`"
        ));
    }
    let here = WORDS.iter().find(|(under, words, _)| *under == key && words.contains(&lower.as_str()));
    here.map(|(_, _, here)| format!("here it is called `{here}`"))
}

/// The help for an unknown key, with the key that was meant.
pub fn help(table: &Table, entry: &Entry) -> Option<(&'static str, Option<&'static str>)> {
    let known = match table.key("fields") {
        _ if table.key("type").is_some() => AT_A_FIELD,
        Some(_) if table.key("resource").is_some() => AT_A_RESOURCE,
        _ => return None,
    };
    let written = folded(entry.key.as_str());
    let mut known = known.iter().filter(|one| one.means.is_none_or(|key| table.key(key).is_some()));
    let found = known.find(|one| one.keys.iter().any(|key| folded(key) == written))?;
    if found.means == Some("nullable") && flag(&entry.value) == Some(false) {
        return Some((NEVER_NULL, found.means));
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
            Some(format!("each name has its type: `{key}: {{ {name}: string(255) }}`"))
        }
        ("fields" | "detail" | "input" | "output", _, Some(name)) => {
            Some(format!("the name is the key: `{}: {{ type: … }}`, without the `-`", name.value))
        }
        ("fields" | "detail" | "input" | "output" | "actions" | "includes" | "filters", None, None)
            if !entries.is_empty() =>
        {
            Some("leave the `-` out: names stand below each other, and behind each what is said of it".to_owned())
        }
        ("actions", Some(name), _) => {
            Some(format!("each name has what it runs on: `actions: {{ {name}: {{ on: record }} }}`"))
        }
        ("deprecated_filters", Some(name), _) => {
            Some(format!("each filter has its day: `deprecated_filters: {{ {name}: {{ since: 2026-03-21 }} }}`"))
        }
        ("filters", Some(name), _) => Some(format!("each field has its predicates: `filters: {{ {name}: all }}`")),
        ("includes", Some(name), _) => Some(format!(
            "each name has what it loads, as the field that refers to it: `includes: {{ {name}: {name}_id }}`"
        )),
        ("type", Some(_), _) if is_or_null(node) => {
            Some("what may be null says so beside its type: `nullable: true`".to_owned())
        }
        ("type", Some(word), _) => {
            let example = TypeWord::find(&word).map_or(word.as_str(), |known| known.example);
            Some(format!("one type, without brackets: `type: {example}`; a list of texts is `type: list(string(50))`"))
        }
        ("deprecated", ..) => text.map(|text| match date::is_day(&text) {
            true => format!("write `deprecated: {{ since: {text} }}`"),
            false => "say since when: `deprecated: { since: 2026-03-21 }`".to_owned(),
        }),
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
