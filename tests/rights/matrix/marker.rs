//! Values that occur nowhere else: each is that of one field of one record.

use charter_runtime::catalog::Entry;
use charter_runtime::meta::{FieldMeta, Kind, Rule};
use serde_json::{Value, json};

/// One of two worlds that differ only in hidden values and hidden records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    One,
    Other,
}

/// Whom a record is visible to, and what it refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The reader sees it, and all that it refers to.
    Open,
    /// The reader sees it, and not what it refers to.
    Bridge,
    /// The reader does not see it.
    Hidden,
    /// The reader does not see it, and one of the worlds does not have it any more.
    Doomed,
}

impl Role {
    pub fn is_hidden(self) -> bool {
        matches!(self, Role::Hidden | Role::Doomed)
    }
}

/// The value of a field of a record as answers show it.
#[derive(Debug, Clone)]
pub struct Marker {
    pub resource: &'static str,
    pub role: Role,
    pub field: &'static str,
    /// The resource whose ability a caller needs: that of the record, or of the one that it is attached to.
    pub holder: &'static str,
    /// The value as JSON.
    pub value: Value,
    /// The value in the JSON of answers and on pages.
    pub texts: Vec<String>,
}

const FIRST_NUMBER: usize = 7_100_000;
const LAST_NUMBER: usize = 9_999_999;
/// The square of the number of a marker has at most six digits.
pub const MAX_MARKERS: usize = 1_000;

/// A valid value for a field, with a marker where the type has room for one. Values that `differs` are another one in
/// each world, in the opposite order. `None` if the field has to stay empty.
pub fn value(field: &FieldMeta, number: usize, differs: Option<Variant>) -> Option<Value> {
    let is_other = differs == Some(Variant::Other);
    let letter = match differs {
        None => 'v',
        Some(Variant::One) => 'a',
        Some(Variant::Other) => 'b',
    };
    let order = if is_other { MAX_MARKERS - 1 - number } else { number };
    let text = format!("zq{letter}{order:04}");
    // Squares, because the mean of two markers must not be a third one.
    let whole = if is_other { LAST_NUMBER - number * number } else { FIRST_NUMBER + number * number };
    let days = chrono::Days::new(order as u64);
    let date = chrono::NaiveDate::from_ymd_opt(2410, 1, 1).expect("a day") + days;
    for rule in field.rules {
        match rule {
            Rule::Email => return Some(json!(format!("{text}@example.com"))),
            Rule::Url => return Some(json!(format!("https://example.com/{text}"))),
            Rule::Min(_) | Rule::MinLength(_) | Rule::Unique | Rule::RequiredWhen(_) | Rule::Exists { .. } => {}
            Rule::Max(_) | Rule::Above(_) | Rule::Below(_) if field.required => return Some(json!(5)),
            Rule::DiffersFrom(_) if matches!(field.kind, Kind::Ref { .. }) => {}
            _ if field.required => {}
            _ => return None,
        }
    }
    Some(match field.kind {
        Kind::String { max } if max < 7 => json!(text.chars().rev().take(max as usize).collect::<String>()),
        Kind::String { .. } | Kind::Text => json!(text),
        Kind::Integer | Kind::BigInt => json!(whole),
        Kind::Decimal { precision, places } if precision - places < 7 => json!(10 + order % 80),
        Kind::Decimal { .. } => json!(whole.to_string()),
        Kind::Boolean => json!(is_other),
        Kind::Enum { values } => json!(if is_other { values.last()? } else { values.first()? }),
        Kind::Code { values } => json!(if is_other { values.last()?.0 } else { values.first()?.0 }),
        Kind::Date => json!(date.to_string()),
        Kind::Time => json!("14:30:00"),
        Kind::Timestamp { .. } => json!(format!("{date}T10:00:00Z")),
        Kind::StringList { .. } => json!([text]),
        _ => return None,
    })
}

/// The markers in the answer with a record: those of the values that [`value`] made, and of values computed from them.
pub fn markers(entry: &Entry, holder: &'static str, role: Role, record: &Value) -> Vec<Marker> {
    let mut found = Vec::new();
    for field in
        entry.meta.fields.iter().filter(|field| !matches!(field.kind, Kind::Derived { .. } | Kind::Embedded { .. }))
    {
        for value in leaves(&record[field.name]) {
            let texts = texts(value);
            if !texts.is_empty() {
                let (resource, field) = (entry.meta.name, field.name);
                found.push(Marker { resource, role, field, holder, value: value.clone(), texts });
            }
        }
    }
    found
}

fn leaves(value: &Value) -> Vec<&Value> {
    match value {
        Value::Object(members) => members.values().flat_map(leaves).collect(),
        Value::Array(elements) => elements.iter().flat_map(leaves).collect(),
        leaf => vec![leaf],
    }
}

/// The forms of a marker; none for any other value.
fn texts(value: &Value) -> Vec<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return Vec::new(),
    };
    if let Some(at) = text.find("zq") {
        return vec![text[at..].chars().take(7).collect()];
    }
    if let Some(date) = text.get(..10).and_then(|day| day.parse::<chrono::NaiveDate>().ok()) {
        let is_marker = date.format("%Y").to_string().as_str() >= "2410";
        let forms = [date.to_string(), date.format("%-d %b %Y").to_string()];
        return if is_marker { forms.into() } else { Vec::new() };
    }
    let whole = text.split('.').next().unwrap_or_default();
    match whole.parse::<usize>() {
        Ok(number) if (FIRST_NUMBER..=2 * LAST_NUMBER).contains(&number) => {
            let (millions, rest) = (number / 1_000_000, number % 1_000_000);
            vec![number.to_string(), format!("{millions},{:03},{:03}", rest / 1000, rest % 1000)]
        }
        _ => Vec::new(),
    }
}
