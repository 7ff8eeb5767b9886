//! The request to the API that a call of a tool stands for.

use charter_core::catalog::Entry;
use charter_core::error::{Error, FieldErrors, Result};
use charter_core::header;
use charter_core::meta::Operation;
use charter_core::ops::{Body, RawJson, RouteOperation};
use charter_core::principal::Principal;
use charter_core::query::Function;
use charter_core::suggest::hint;
use serde_json::value::RawValue;
use url::form_urlencoded::Serializer;

use super::input_schema::{
    self, CURSOR, DEFAULT_LIMIT, DRY_RUN, FIELDS, GROUP, IDEMPOTENCY_KEY, IF_MATCH, INCLUDE, LIMIT, MAX_LIMIT, Q,
    SEARCH, SORT,
};
use super::tool::Tool;
use crate::openapi::compact;

/// A request relative to `/api/v1`.
#[derive(Debug)]
pub(super) struct ApiRequest {
    /// With the query string.
    pub path: String,
    pub headers: Vec<(&'static str, String)>,
    /// The JSON of a write.
    pub body: Option<Vec<u8>>,
    pub dry_run: bool,
}

impl ApiRequest {
    /// Translates the arguments of a call. The API validates the values of fields and filters.
    ///
    /// # Errors
    /// [`Error::Invalid`] with every argument that the tool cannot take.
    pub(super) fn of(tool: &Tool, entry: &Entry, caller: &Principal, arguments: &Body<'_>) -> Result<ApiRequest> {
        let mut errors = FieldErrors::default();
        let mut request = ApiRequest { path: tool.path.clone(), headers: Vec::new(), body: None, dry_run: false };
        let mut rest: Vec<(&str, &RawValue)> = Vec::new();
        let mut is_dry_run = None;
        for (name, raw) in &arguments.fields {
            let value = RawJson::read(raw);
            match (name.as_ref(), &value) {
                (name, _) if tool.path_parameters().any(|known| known == name) => match id(&value) {
                    Some(id) => request.path = request.path.replace(&format!("{{{name}}}"), &id),
                    None => errors.add(name.to_string(), "must be the id of a record"),
                },
                (DRY_RUN, RawJson::Bool(value)) if tool.writes() => is_dry_run = Some(*value),
                (DRY_RUN, _) if tool.writes() => errors.add(DRY_RUN, "must be true or false"),
                (IF_MATCH | IDEMPOTENCY_KEY, RawJson::Null) => {}
                (IF_MATCH, RawJson::Text(tag)) if input_schema::takes_if_match(tool) => {
                    request.headers.push((header::IF_MATCH, tag.to_string()));
                }
                (IDEMPOTENCY_KEY, RawJson::Text(key)) if input_schema::takes_key(tool) => {
                    request.headers.push((header::IDEMPOTENCY_KEY, key.to_string()));
                }
                (name, _) => rest.push((name, *raw)),
            }
        }
        for name in tool.path_parameters().filter(|name| request.path.contains(&format!("{{{name}}}"))) {
            if !errors.contains(name) {
                errors.add(name.to_string(), "is required");
            }
        }
        if tool.writes() && is_dry_run.is_none() && !errors.contains(DRY_RUN) {
            errors.add(DRY_RUN, "is required: true rehearses the write and changes nothing, false writes");
        }
        request.dry_run = is_dry_run.unwrap_or(false);
        if request.dry_run {
            // A stored response would be replayed instead of a rehearsal.
            request.headers.retain(|(name, _)| *name != header::IDEMPOTENCY_KEY);
        }
        if tool.writes() {
            request.body = Some(json(&rest)?);
        } else {
            let query = query(tool, &rest, &mut errors);
            check_sort(tool, entry, caller, &rest, &mut errors);
            if !query.is_empty() {
                request.path = format!("{}?{query}", request.path);
            }
        }
        errors.into_result().map(|()| request)
    }
}

/// The JSON object of these fields. Numbers keep their digits.
fn json(fields: &[(&str, &RawValue)]) -> Result<Vec<u8>> {
    let mut out = b"{".to_vec();
    for (index, (name, raw)) in fields.iter().enumerate() {
        out.extend_from_slice(if index > 0 { b"," } else { b"" });
        serde_json::to_writer(&mut out, name).map_err(Error::internal)?;
        out.push(b':');
        out.extend_from_slice(raw.get().as_bytes());
    }
    out.push(b'}');
    Ok(out)
}

/// The query string of a read.
fn query(tool: &Tool, arguments: &[(&str, &RawValue)], errors: &mut FieldErrors) -> String {
    let mut pairs = Serializer::new(String::new());
    let is_list = matches!(tool.call, RouteOperation::Operation(Operation::List));
    let mut limit = DEFAULT_LIMIT;
    let mut cursor = String::new();
    for (name, raw) in arguments {
        let value = RawJson::read(raw);
        match *name {
            _ if matches!(value, RawJson::Null) => {}
            name if matches!(tool.call, RouteOperation::Action(_)) => add(&mut pairs, name, &value, errors),
            Q if tool.call.is_list() => add_filters(&mut pairs, &value, errors),
            SEARCH if tool.call.is_list() => add(&mut pairs, SEARCH, &value, errors),
            SORT if is_list => add(&mut pairs, SORT, &value, errors),
            CURSOR if is_list => match scalar(&value) {
                Some(text) => cursor = text,
                None => errors.add(CURSOR, "must be text"),
            },
            LIMIT if is_list => match scalar(&value).and_then(|text| text.parse().ok()) {
                Some(number) if (1..=MAX_LIMIT).contains(&number) => limit = number,
                _ => errors.add(LIMIT, format!("must be a whole number from 1 to {MAX_LIMIT}")),
            },
            name @ (FIELDS | INCLUDE) if !matches!(tool.call, RouteOperation::Summary) => {
                add_names(&mut pairs, name, &value, errors);
            }
            name if matches!(tool.call, RouteOperation::Summary)
                && (name == GROUP || Function::ALL.iter().any(|function| function.name() == name)) =>
            {
                add_names(&mut pairs, name, &value, errors);
            }
            name => errors.add(name.to_string(), format!("is not an argument of {}", tool.name)),
        }
    }
    if is_list {
        // The total is counted once, for the first page.
        let count = if cursor.is_empty() { "exact" } else { "none" };
        pairs.append_pair("per_page", &limit.to_string()).append_pair("count", count).append_pair("cursor", &cursor);
    }
    pairs.finish()
}

/// The API ignores an order that it does not know, and an agent would take the first record for the greatest.
fn check_sort(
    tool: &Tool,
    entry: &Entry,
    caller: &Principal,
    arguments: &[(&str, &RawValue)],
    errors: &mut FieldErrors,
) {
    let sort = arguments.iter().find(|(name, _)| *name == SORT).map(|(_, raw)| RawJson::read(raw));
    let Some(RawJson::Text(sort)) = sort.filter(|_| tool.call.is_list()) else { return };
    let name = sort.strip_prefix('-').unwrap_or(&sort);
    let is_custom = name.starts_with("cf.") && entry.meta.custom_fields;
    let names = compact::names(entry, caller, |field| field.sortable);
    if !is_custom && !names.contains(&name) {
        errors.add(SORT, format!("is not a field by which records can be sorted{}", hint(name, names)));
    }
}

/// Adds the conditions of `q`: `{"name_cont": "lamp", "id_in": [1, 2]}`.
fn add_filters(pairs: &mut Serializer<'_, String>, value: &RawJson<'_>, errors: &mut FieldErrors) {
    let object = match value {
        RawJson::Nested(json) if json.starts_with('{') => Body::read(json.as_bytes(), None).ok(),
        _ => None,
    };
    let Some(object) = object else {
        errors.add(Q, "must be an object such as {\"name_cont\": \"lamp\"}");
        return;
    };
    for (name, raw) in &object.fields {
        add(pairs, &format!("{Q}[{name}]"), &RawJson::read(raw), errors);
    }
}

/// Adds a value, or the elements of a list, each as a parameter of its own.
fn add(pairs: &mut Serializer<'_, String>, name: &str, value: &RawJson<'_>, errors: &mut FieldErrors) {
    if let Some(text) = scalar(value) {
        pairs.append_pair(name, &text);
        return;
    }
    match elements(value) {
        Some(elements) => drop(pairs.extend_pairs(elements.iter().map(|one| (format!("{name}[]"), one)))),
        None => errors.add(name.to_string(), "must be a value or a list of values"),
    }
}

/// Adds names, separated by commas.
fn add_names(pairs: &mut Serializer<'_, String>, name: &str, value: &RawJson<'_>, errors: &mut FieldErrors) {
    match elements(value).or_else(|| scalar(value).map(|one| vec![one])) {
        Some(names) => drop(pairs.append_pair(name, &names.join(","))),
        None => errors.add(name.to_string(), "must be a list of names"),
    }
}

/// A value as the text of a query parameter.
fn scalar(value: &RawJson<'_>) -> Option<String> {
    match value {
        RawJson::Bool(value) => Some(value.to_string()),
        RawJson::Number(digits) => Some((*digits).to_string()),
        RawJson::Text(text) => Some(text.to_string()),
        RawJson::Null | RawJson::Nested(_) => None,
    }
}

fn elements(value: &RawJson<'_>) -> Option<Vec<String>> {
    let RawJson::Nested(json) = value else { return None };
    let elements: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    elements.into_iter().map(|raw| scalar(&RawJson::read(raw))).collect()
}

/// The digits of an id.
fn id(value: &RawJson<'_>) -> Option<String> {
    let text = match value {
        RawJson::Number(digits) => (*digits).to_string(),
        RawJson::Text(text) => text.to_string(),
        _ => return None,
    };
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then_some(text)
}
