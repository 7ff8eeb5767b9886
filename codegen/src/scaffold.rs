//! YAML of a new resource from a short notation: `name:string!`, `price:decimal(2)`, `group:ref(product_group)`.

mod computed;

use charter_model::naming;
pub use charter_model::naming::singular;
pub use computed::infer;

/// A field in short notation: `name:type`, with `!` if it is required and `=value` for a default, or `name:=expression`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldShorthand {
    name: String,
    kind: String,
    /// The words of an `enum`, or the numbers of a `code` with their labels, as YAML.
    values: Option<String>,
    required: bool,
    default: Option<String>,
    /// The expression of a computed field, whose type [`infer`] sets.
    value: Option<String>,
    nullable: bool,
    /// An integer with `min` and `max`, because an expression would be too large without.
    is_bounded: bool,
}

impl FieldShorthand {
    /// Reads a field. The check of the YAML reports unknown types.
    ///
    /// # Errors
    /// A sentence that says what is missing.
    pub fn read(text: &str) -> Result<FieldShorthand, String> {
        let example = "such as `name:string!`, `price:decimal(2)`, `group:ref(product_group)`, `size:enum(small|large)=small`, `total:=price*2`";
        let (name, rest) = text
            .split_once(':')
            .ok_or_else(|| format!("`{text}` is not a field: write a name and a type, {example}"))?;
        let name = name.trim();
        if let Some(value) = rest.trim().strip_prefix('=').map(str::trim).filter(|value| !value.is_empty()) {
            let field =
                FieldShorthand { name: name.to_owned(), value: Some(value.to_owned()), ..FieldShorthand::default() };
            return match name.is_empty() {
                true => Err(format!("`{text}` is not a field: write a name and an expression, {example}")),
                false => Ok(field),
            };
        }
        let (rest, default) = match value_behind(rest) {
            Some(at) => (&rest[..at], Some(rest[at + 1..].trim().to_owned())),
            None => (rest, None),
        };
        let rest = rest.trim();
        let (word, required) = rest.strip_suffix('!').map_or((rest, false), |word| (word.trim(), true));
        if name.is_empty() || word.is_empty() || default.as_ref().is_some_and(String::is_empty) {
            return Err(format!("`{text}` is not a field: write a name and a type, {example}"));
        }
        let (head, inner) = match word.split_once('(') {
            Some((head, inner)) => {
                let inner = inner.strip_suffix(')').ok_or_else(|| format!("`{text}` needs a `)` after its type"))?;
                (head, Some(inner))
            }
            None => (word, None),
        };
        let list = |inner: &str, between: &str| inner.split('|').map(str::trim).collect::<Vec<_>>().join(between);
        if required && default.is_some() {
            return Err(format!(
                "`{text}` is required (`!`) and has a default, which would never be used: remove one of the two"
            ));
        }
        let (kind, values) = match (head, inner) {
            ("string", None) => ("string(255)".to_owned(), None),
            ("decimal", None) => ("decimal(12, 2)".to_owned(), None),
            ("decimal", Some(places)) if !places.contains(',') => (format!("decimal(12, {})", places.trim()), None),
            ("enum", Some(words)) => ("enum".to_owned(), Some(format!("[{}]", list(words, ", ")))),
            ("code", Some(numbers)) => {
                ("code".to_owned(), Some(format!("{{ {} }}", list(numbers, ", ").replace('=', ": "))))
            }
            ("ref", Some(targets)) => (format!("ref({})", list(targets, " | ")), None),
            _ => (word.to_owned(), None),
        };
        // A reference holds an id, which its name should say; a polymorphic one has two columns with their own
        // suffixes.
        let short = kind.starts_with("ref(") && !kind.contains('|') && !name.ends_with("_id");
        let name = if short { format!("{name}_id") } else { name.to_owned() };
        Ok(FieldShorthand { name, kind, values, required, default, ..FieldShorthand::default() })
    }

    fn yaml(&self, width: usize) -> String {
        let mut keys = vec![format!("type: {}", self.kind)];
        keys.extend(self.values.as_ref().map(|values| format!("values: {values}")));
        if let Some(value) = &self.value {
            keys.extend(self.nullable.then(|| "nullable: true".to_owned()));
            keys.push(format!("value: {}", serde_json::Value::from(value.as_str())));
        } else if self.required {
            keys.push("required: true".to_owned());
        } else {
            keys.extend(self.when_left_out());
        }
        if self.is_bounded {
            keys.push(format!("min: 0, max: {}", computed::LARGEST));
        }
        let name = format!("{}:", self.name);
        format!("  {name:width$} {{ {} }}\n", keys.join(", "))
    }

    /// The key for a record that does not give the field.
    fn when_left_out(&self) -> Option<String> {
        if let Some(default) = &self.default {
            let plain = match self.kind.as_str() {
                "boolean" | "code" => true,
                "timestamp" | "date" => default == "now",
                "ref(user)" => default == "caller",
                _ => self.is_number(),
            };
            let text = if plain { default.clone() } else { serde_json::Value::from(default.as_str()).to_string() };
            return Some(format!("default: {text}"));
        }
        match self.kind.as_str() {
            "boolean" => Some("default: false".to_owned()),
            "json" => None,
            kind if kind.starts_with("list(") => None,
            _ if self.is_number() => Some("default: 0".to_owned()),
            _ => Some("nullable: true".to_owned()),
        }
    }

    fn is_number(&self) -> bool {
        matches!(self.kind.as_str(), "integer" | "bigint") || self.kind.starts_with("decimal(")
    }

    fn is_text(&self) -> bool {
        self.kind == "text" || self.kind.starts_with("string(")
    }

    /// True if the database can index the field.
    fn has_index(&self) -> bool {
        !matches!(self.kind.as_str(), "text" | "json") && !self.kind.starts_with("list(") && !self.kind.contains('|')
    }
}

/// The position of the `=` before a default: outside of parentheses.
fn value_behind(text: &str) -> Option<usize> {
    let mut depth = 0i32;
    text.char_indices().find_map(|(at, c)| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            '=' if depth == 0 => return Some(at),
            _ => {}
        }
        None
    })
}

/// The file of a resource: the given fields, and as comments, further options for these fields, which work once `#:` is
/// removed.
///
/// `schema`: the path of the JSON Schema, from the folder of the file.
pub fn file(resource: &str, fields: &[FieldShorthand], schema: Option<&str>) -> String {
    let plural = naming::plural(resource);
    let mut text = String::new();
    if let Some(schema) = schema {
        text.push_str(&format!("# yaml-language-server: $schema={schema}\n"));
    }
    text.push_str(&format!("resource: {resource}\n"));
    text.push_str(&format!(
        "# Every write emits `{resource}.created`, `.updated` or `.deleted` to webhooks.\nevents: true\n"
    ));
    text.push_str("\n# Records also have `id`, `created_at` and `updated_at`.\nfields:\n");
    let width = fields.iter().map(|field| field.name.len() + 1).max().unwrap_or_default();
    fields.iter().for_each(|field| text.push_str(&field.yaml(width)));
    for (what, line) in more(&plural, fields) {
        text.push_str(&format!("\n# {what}\n#: {line}\n"));
    }
    text
}

/// Further options, each with its purpose.
fn more(plural: &str, fields: &[FieldShorthand]) -> Vec<(String, String)> {
    let names = |fits: fn(&FieldShorthand) -> bool| -> Vec<&str> {
        fields.iter().filter(|field| fits(field)).map(|field| field.name.as_str()).collect()
    };
    let (texts, ordered) = (names(FieldShorthand::is_text), names(FieldShorthand::has_index));
    let include = |field: &FieldShorthand| {
        let name = field.name.strip_suffix("_id")?;
        (field.kind.starts_with("ref(") && !field.kind.contains('|'))
            .then(|| format!("{}: {}", naming::lower_camel(name), field.name))
    };
    let includes: Vec<String> = fields.iter().filter_map(include).collect();
    let mut more = vec![
        ("Soft delete: a deleted record stays in the table and can be restored.".to_owned(), "delete: soft".to_owned()),
        ("Custom fields: values that operators define at runtime.".to_owned(), "custom_fields: true".to_owned()),
        (format!("Attachments: files at `/api/v1/{plural}/<id>/attachments`."), "attachments: true".to_owned()),
    ];
    let mut say = |what: &str, line: String| more.push((what.to_owned(), line));
    if !texts.is_empty() {
        say("Indexed substring search in these fields.", format!("search: [{}]", texts.join(", ")));
    }
    if let [first, ..] = ordered.as_slice() {
        say("Indexes for frequent filters and sorts.", format!("indexes: [[{first}]]"));
    }
    if let [first, second, ..] = ordered.as_slice() {
        say("Fields that must be unique together.", format!("unique: [[{first}, {second}]]"));
    }
    if !includes.is_empty() {
        say("Related records that clients can load with a record.", format!("includes: {{ {} }}", includes.join(", ")));
    }
    more
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yaml(text: &str) -> String {
        FieldShorthand::read(text).unwrap().yaml(0).trim().to_owned()
    }

    #[test]
    fn the_short_form_of_a_field_is_expanded() {
        let pairs = [
            ("name:string!", "name: { type: string(255), required: true }"),
            ("sku:string(64)", "sku: { type: string(64), nullable: true }"),
            ("price:decimal(2)", "price: { type: decimal(12, 2), default: 0 }"),
            ("rate:decimal(18,8)!", "rate: { type: decimal(18,8), required: true }"),
            ("group:ref(product_group)", "group_id: { type: ref(product_group), nullable: true }"),
            ("owner:ref(member|product)", "owner: { type: ref(member | product), nullable: true }"),
            ("on:boolean=true", "on: { type: boolean, default: true }"),
            ("size:enum(small|large)=small", "size: { type: enum, values: [small, large], default: \"small\" }"),
            ("way:code(1=In|2=Out)=1", "way: { type: code, values: { 1: In, 2: Out }, default: 1 }"),
            ("by:ref(user)=caller", "by_id: { type: ref(user), default: caller }"),
            ("on:date=now", "on: { type: date, default: now }"),
            ("word:string=now", "word: { type: string(255), default: \"now\" }"),
            ("tags:list(string(50))", "tags: { type: list(string(50)) }"),
        ];
        for (short, expected) in pairs {
            assert_eq!(yaml(short), expected, "{short}");
        }
    }

    #[test]
    fn an_invalid_field_is_rejected_with_an_example() {
        for text in ["name", ":string", "name:", "name:!", "name:string=", "name:string(4", "name:string!=x"] {
            assert!(FieldShorthand::read(text).unwrap_err().contains(text), "{text}");
        }
    }
}
