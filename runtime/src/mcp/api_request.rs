//! The request to the API that a call of a tool stands for.

use charter_core::catalog::Entry;
use charter_core::custom_field::CustomFieldTypes;
use charter_core::error::{Error, FieldErrors, Result};
use charter_core::header;
use charter_core::ops::{Body, RawJson, RouteOperation};
use charter_core::principal::Principal;
use charter_core::query::Quantifier;
use charter_core::suggest::hint;
use serde_json::value::RawValue;
use url::form_urlencoded::Serializer;

use super::argument::{self, CURSOR, DRY_RUN, LIMIT, Q, Role, SEARCH, SORT};
use super::input_schema::{DEFAULT_LIMIT, MAX_LIMIT};
use super::tool::Tool;
use crate::openapi::compact;

/// Limit of a path with its query string, below that of the crate `http` for a URI, 65,534 bytes.
const MAX_PATH_BYTES: usize = 65_000;

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
    /// Translates the arguments of a call. The API validates the values of fields and filters. `custom` has the custom
    /// fields by which the records can be sorted.
    ///
    /// # Errors
    /// [`Error::Invalid`] with every argument that the tool cannot take.
    pub(super) fn of(
        tool: &Tool,
        entry: &Entry,
        caller: &Principal,
        arguments: &Body<'_>,
        custom: &CustomFieldTypes,
    ) -> Result<ApiRequest> {
        let mut errors = FieldErrors::default();
        let mut request = ApiRequest { path: tool.path.clone(), headers: Vec::new(), body: None, dry_run: false };
        let mut rest: Vec<(&str, &RawValue)> = Vec::new();
        let mut is_dry_run = None;
        for (name, raw) in &arguments.fields {
            let (name, value) = (name.as_ref(), RawJson::read(raw));
            match (argument::role(tool, name), &value) {
                (Role::Unknown, _) => errors.add(name, format!("is not an argument of {}", tool.name)),
                (Role::Field, _) => rest.push((name, *raw)),
                (Role::PathParameter, _) => match id(&value) {
                    Some(id) => request.path = request.path.replace(&format!("{{{name}}}"), &id),
                    None => errors.add(name, "must be the id of a record"),
                },
                (Role::DryRun, RawJson::Bool(value)) => is_dry_run = Some(*value),
                (Role::DryRun, _) => errors.add(name, "must be true or false"),
                (Role::Header(_), RawJson::Null) => {}
                (Role::Header(header), RawJson::Text(text)) => request.headers.push((header, text.to_string())),
                (Role::Header(_), _) => errors.add(name, "must be text"),
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
            check_sort(entry, caller, sort(tool, arguments).as_deref(), custom, &mut errors);
            if !query.is_empty() {
                request.path = format!("{}?{query}", request.path);
            }
            if request.path.len() > MAX_PATH_BYTES {
                let longest = rest.iter().max_by_key(|(_, raw)| raw.get().len()).map_or(Q, |(name, _)| *name);
                errors
                    .add(longest, format!("is too long: a call can have at most {MAX_PATH_BYTES} bytes of arguments"));
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
    let is_list = tool.lists_records();
    let mut limit = DEFAULT_LIMIT;
    let mut cursor = String::new();
    for (name, raw) in arguments {
        let value = RawJson::read(raw);
        match *name {
            _ if matches!(value, RawJson::Null) => {}
            name if matches!(tool.call, RouteOperation::Action(_)) => add(&mut pairs, name, &value, errors),
            Q => add_filters(&mut pairs, &value, errors),
            SEARCH | SORT => match scalar(&value) {
                Some(text) => drop(pairs.append_pair(name, &text)),
                None => errors.add(*name, "must be text"),
            },
            CURSOR => match scalar(&value) {
                Some(text) => cursor = text,
                None => errors.add(CURSOR, "must be text"),
            },
            LIMIT => match scalar(&value).and_then(|text| text.parse().ok()) {
                Some(number) if (1..=MAX_LIMIT).contains(&number) => limit = number,
                _ => errors.add(LIMIT, format!("must be a whole number from 1 to {MAX_LIMIT}")),
            },
            // `fields` and `include` of a record, `group` and functions of a summary.
            name => add_names(&mut pairs, name, &value, errors),
        }
    }
    if is_list {
        // The total is counted once, for the first page.
        let count = if cursor.is_empty() { "exact" } else { "none" };
        pairs.append_pair("per_page", &limit.to_string()).append_pair("count", count).append_pair("cursor", &cursor);
    }
    pairs.finish()
}

/// The order of a list.
pub(super) fn sort(tool: &Tool, arguments: &Body<'_>) -> Option<String> {
    let is_list = tool.lists_records();
    let (_, raw) = arguments.fields.iter().find(|(name, _)| is_list && *name == SORT)?;
    scalar(&RawJson::read(raw))
}

/// The name of the custom field in an order: `-cf.power` has `power`.
pub(super) fn custom_name(sort: &str) -> Option<&str> {
    sort.strip_prefix('-').unwrap_or(sort).strip_prefix("cf.")
}

/// The API ignores an order that it does not know, and an agent would take the first record for the greatest.
fn check_sort(
    entry: &Entry,
    caller: &Principal,
    sort: Option<&str>,
    custom: &CustomFieldTypes,
    errors: &mut FieldErrors,
) {
    let Some(sort) = sort else { return };
    let name = sort.strip_prefix('-').unwrap_or(sort);
    let names = compact::names(entry, caller, |field| field.sortable);
    let is_known = match custom_name(sort) {
        Some(name) => names_custom_fields(entry, caller) && custom.contains_key(name),
        None => names.contains(&name),
    };
    if !is_known {
        errors.add(SORT, format!("is not a field by which records can be sorted{}", hint(name, names)));
    }
}

/// True if the caller may filter and sort by custom fields.
fn names_custom_fields(entry: &Entry, caller: &Principal) -> bool {
    let field = entry.field("custom_fields").filter(|_| entry.can_filter_custom_fields());
    field.is_some_and(|field| entry.may_read_field(field, caller))
}

/// Adds the conditions of `q`: `{"name_cont": "lamp", "id_in": [1, 2]}`, also those of groups:
/// `{"lines.some": {"quantity_gt": 2}}`.
fn add_filters(pairs: &mut Serializer<'_, String>, value: &RawJson<'_>, errors: &mut FieldErrors) {
    let Some(filters) = object(value) else {
        errors.add(Q, "must be an object such as {\"name_cont\": \"lamp\"}");
        return;
    };
    for (name, raw) in &filters.fields {
        let value = RawJson::read(raw);
        let Some(parameter) = condition(Q, name, errors) else { continue };
        match object(&value).filter(|_| is_group(name)) {
            None => add(pairs, &parameter, &value, errors),
            // Without a condition there is no parameter, and the group would select every record.
            Some(group) if group.fields.is_empty() => errors.add(parameter, "must not be empty"),
            Some(group) => {
                for (name, raw) in &group.fields {
                    if let Some(parameter) = condition(&parameter, name, errors) {
                        add(pairs, &parameter, &RawJson::read(raw), errors);
                    }
                }
            }
        }
    }
}

/// The parameter of a condition: `q[name_cont]`.
fn condition(within: &str, name: &str, errors: &mut FieldErrors) -> Option<String> {
    let parameter = format!("{within}[{name}]");
    // `q[s]` is an order, and brackets would end the name early.
    if name == "s" || name.contains(['[', ']']) {
        errors.add(parameter, "is not of the form <field>_<predicate>");
        return None;
    }
    Some(parameter)
}

/// `lines.some` and `lines.none`
fn is_group(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, word)| Quantifier::from_word(word).is_some())
}

fn object<'a>(value: &RawJson<'a>) -> Option<Body<'a>> {
    match value {
        RawJson::Nested(json) if json.starts_with('{') => Body::read(json.as_bytes(), None).ok(),
        _ => None,
    }
}

/// Adds a value, or the elements of a list, each as a parameter of its own.
fn add(pairs: &mut Serializer<'_, String>, name: &str, value: &RawJson<'_>, errors: &mut FieldErrors) {
    if let Some(text) = scalar(value) {
        pairs.append_pair(name, &text);
        return;
    }
    match elements(value) {
        // Without an element there is no parameter, and the condition would select every record.
        Some(elements) if elements.is_empty() => errors.add(name, "must not be empty"),
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
