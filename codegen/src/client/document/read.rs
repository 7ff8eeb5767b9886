//! Reader of an OpenAPI document.

use serde_json::{Map, Value};

use super::parameter::{named, parameter_type};
use super::{Answer, Api, Body, Group, Media, Operation, Pages, Query};
use crate::client::names::camel;
use crate::client::schema::{Property, Shape, Type, Types, text, union};

/// The group of operations that belong to no resource.
const SERVICE: &str = "service";
/// Parameters of which the response depends in its media type.
const OTHER_MEDIA: [&str; 2] = ["explain", "csv"];
/// Parameters that select fields.
const SELECTION: [&str; 2] = ["fields", "view_id"];
/// The order of operations in a group; those with other names follow.
const ORDER: [&str; 8] = ["list", "show", "create", "update", "patch", "delete", "restore", "bulk"];

/// Reads a document. `reserved` are type names of the client.
///
/// # Errors
/// If it is not the document of a Charter application.
pub fn read(document: &Value, reserved: &[&str]) -> Result<Api, String> {
    if !text(document, "openapi").starts_with("3.1") {
        return Err("the document is not OpenAPI 3.1".into());
    }
    let mut reader = Reader { types: Types::of(document, reserved), groups: Vec::new() };
    let paths = document["paths"].as_object().into_iter().flatten();
    for (path, methods) in paths {
        // A path becomes a part of the code.
        if !path.chars().all(|letter| letter.is_ascii_alphanumeric() || "/_-.{}".contains(letter)) {
            return Err(format!("the path `{path}` has characters that no path of a Charter application has"));
        }
        for (method, operation) in methods.as_object().into_iter().flatten() {
            reader.operation(path, method, operation);
        }
    }
    if reader.groups.iter().all(|group| group.name == SERVICE) {
        return Err("the document is not that of a Charter application: no operation has an `x-resource`".into());
    }
    let events = reader.events(document["webhooks"].as_object());
    for group in &mut reader.groups {
        let place =
            |operation: &Operation| ORDER.iter().position(|name| *name == operation.name).unwrap_or(ORDER.len());
        group.operations.sort_by_key(|operation| (place(operation), operation.name.clone()));
        refuse_iterators(group)?;
    }
    let title = text(&document["info"], "title").to_owned();
    Ok(Api { title, groups: reader.groups, declared: reader.types.declared, events })
}

struct Reader<'a> {
    types: Types<'a>,
    groups: Vec<Group>,
}

impl<'a> Reader<'a> {
    fn operation(&mut self, path: &str, method: &str, node: &'a Value) {
        let id = text(node, "operationId").to_owned();
        let (resource, name) = match node["x-resource"].as_str() {
            Some(resource) => (resource, text(node, "x-operation").to_owned()),
            None => (SERVICE, id.clone()),
        };
        let parameters: Vec<&Value> = node["parameters"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|parameter| self.types.resolve(parameter))
            .collect();
        let has_header = |wanted: &str| parameters.iter().any(|one| one["in"] == "header" && one["name"] == wanted);
        let (takes_if_match, takes_idempotency_key) = (has_header("If-Match"), has_header("Idempotency-Key"));
        let wanted = camel(&id);
        let in_path =
            parameters.iter().filter(|one| one["in"] == "path").map(|one| self.parameter(one, resource)).collect();
        let in_query: Vec<&Value> = parameters.into_iter().filter(|one| one["in"] == "query").collect();
        let is_list = in_query.iter().any(|one| one["name"] == "cursor");
        let (query, each) = self.query(&in_query, &wanted, resource, is_list);
        let (answer, pages) = self.answer(node, &wanted, query.as_ref(), each);
        let operation = Operation {
            name,
            method: method.to_ascii_uppercase(),
            path: path.to_owned(),
            summary: text(node, "summary").to_owned(),
            in_path,
            body: self.body(&node["requestBody"], &wanted),
            query,
            answer,
            pages,
            takes_if_match: takes_if_match && method != "get",
            takes_idempotency_key,
            needs_token: !node["security"].as_array().is_some_and(Vec::is_empty),
            id,
        };
        self.group(resource).operations.push(operation);
    }

    fn group(&mut self, name: &str) -> &mut Group {
        let at = self.groups.iter().position(|group| group.name == name).unwrap_or_else(|| {
            let class = self.types.name(&format!("{}Api", camel(name)));
            self.groups.push(Group { name: name.to_owned(), class, operations: Vec::new() });
            self.groups.len() - 1
        });
        &mut self.groups[at]
    }

    /// A parameter. Equal parameters of the operations of a resource have one type.
    fn parameter(&mut self, node: &'a Value, resource: &str) -> Property {
        let name = text(node, "name");
        let wanted = camel(&format!("{resource}_{name}"));
        let of = self.types.shared(&format!("{resource} {name} {}", node["schema"]), |types| {
            let of = types.type_of(&node["schema"], &wanted);
            named(types, parameter_type(node, of), &wanted)
        });
        let description = text(node, "description").to_owned();
        Property { name: name.to_owned(), of, is_required: node["required"] == true, description }
    }

    /// The parameters, and for a list the name of those that all of its pages share.
    fn query(
        &mut self,
        nodes: &[&'a Value],
        wanted: &str,
        resource: &str,
        is_list: bool,
    ) -> (Option<Query>, Option<String>) {
        let (mut whole, mut selection, mut paging) = (Vec::new(), Vec::new(), Vec::new());
        for node in nodes {
            let name = text(node, "name");
            if OTHER_MEDIA.contains(&name) {
                continue;
            }
            if node["style"] == "deepObject" {
                let of = self.filters(node, resource);
                let description = text(node, "description").to_owned();
                whole.push(Property { name: name.to_owned(), of, is_required: false, description });
                continue;
            }
            let property = self.parameter(node, resource);
            match name {
                _ if SELECTION.contains(&name) => selection.push(property),
                "page" | "cursor" if is_list => paging.push(property),
                _ => whole.push(property),
            }
        }
        if whole.is_empty() && selection.is_empty() {
            return (None, None);
        }
        let names = whole.iter().chain(&selection).chain(&paging).map(|property| property.name.clone()).collect();
        // A summary has no fields, so a view selects nothing.
        if !selection.iter().any(|property| property.name == "fields") {
            whole.append(&mut selection);
        }
        let is_required = whole.iter().any(|property| property.is_required);
        let each = is_list.then(|| self.types.name(&format!("{wanted}EachParams")));
        if let Some(name) = &each {
            let properties = std::mem::take(&mut whole);
            self.types.add(name.clone(), "", Shape::Parameters { base: None, properties });
        }
        whole.extend(paging);
        let name = self.types.name(&format!("{wanted}Params"));
        self.types.add(name.clone(), "", Shape::Parameters { base: each.clone(), properties: whole });
        (Some(Query { name, is_required, names, selection }), each)
    }

    fn filters(&mut self, node: &'a Value, resource: &str) -> Type {
        let wanted = format!("{}Filters", camel(resource));
        self.types.shared(&format!("q {resource}"), |types| {
            let name = types.name(&wanted);
            let properties = node["schema"]["properties"].as_object().into_iter().flatten();
            let properties = properties
                .map(|(key, schema)| Property {
                    name: key.clone(),
                    of: types.filter(schema, &format!("{name}{}", camel(key))),
                    is_required: false,
                    description: String::new(),
                })
                .collect();
            types.add(name, "", Shape::Filters(properties))
        })
    }

    fn body(&mut self, node: &'a Value, wanted: &str) -> Option<Body> {
        let (media, content) = node["content"].as_object()?.iter().next()?;
        // The flat form; the other one has the fields under the name of the resource.
        let schema = &content["schema"];
        let schema = schema["anyOf"].as_array().and_then(|forms| forms.first()).unwrap_or(schema);
        let of = self.types.type_of(schema, &format!("{wanted}Body"));
        Some(Body { of, is_required: node["required"] == true, is_form: media == "multipart/form-data" })
    }

    fn answer(
        &mut self,
        node: &'a Value,
        wanted: &str,
        query: Option<&Query>,
        each: Option<String>,
    ) -> (Answer, Option<Pages>) {
        let responses = node["responses"].as_object().into_iter().flatten();
        let success =
            responses.filter(|(status, _)| status.starts_with('2')).map(|(_, answer)| self.types.resolve(answer));
        let content = success.filter_map(|answer| answer["content"].as_object()).next();
        let Some((media, content)) = content.and_then(|content| json_first(content)) else {
            return (Answer { media: Media::Nothing, key: None, of: Type::Null, selected: None }, None);
        };
        let media = match media {
            "application/json" => Media::Json,
            media if media.starts_with("text/") => Media::Text,
            _ => Media::Bytes,
        };
        if media != Media::Json {
            return (Answer { media, key: None, of: Type::Text, selected: None }, None);
        }
        let has_selection = query.is_some_and(|query| !query.selection.is_empty());
        let schema = &content["schema"];
        if let Some(parameters) = each {
            return self.list(schema, wanted, parameters);
        }
        let forms: Vec<&'a Value> = match schema["anyOf"].as_array() {
            Some(forms) if has_selection => forms.iter().collect(),
            _ => vec![schema],
        };
        let mut types = Vec::new();
        let mut key = None;
        for form in forms.into_iter().take(2) {
            key = only_key(form).map(|(name, _)| name.clone());
            let inner = only_key(form).map_or(form, |(_, schema)| schema);
            types.push(self.types.type_of(inner, &format!("{wanted}Answer")));
        }
        let selected = (types.len() > 1).then(|| types.remove(1));
        (Answer { media, key, of: union(types), selected }, None)
    }

    /// A page of a list, of whole records and of records with selected fields.
    fn list(&mut self, schema: &'a Value, wanted: &str, parameters: String) -> (Answer, Option<Pages>) {
        let properties = schema["properties"].as_object();
        let records = properties.into_iter().flatten().find(|(_, one)| one["type"] == "array");
        let (key, items) = records.map_or(("", &Value::Null), |(key, one)| (key.as_str(), &one["items"]));
        let forms = items["anyOf"].as_array();
        let form = |at: usize| forms.and_then(|forms| forms.get(at)).unwrap_or(items);
        let record = self.types.type_of(form(0), &format!("{wanted}Item"));
        let selected = self.types.type_of(form(1), &format!("{wanted}Item"));
        let of = self.page(schema, key, &record, &format!("{wanted}Page"));
        let selected_page = self.page(schema, key, &selected, &format!("{wanted}SelectedPage"));
        let answer = Answer { media: Media::Json, key: None, of, selected: Some(selected_page) };
        (answer, Some(Pages { key: key.to_owned(), parameters, record, selected }))
    }

    fn page(&mut self, schema: &'a Value, key: &str, record: &Type, wanted: &str) -> Type {
        let name = self.types.name(wanted);
        let mut properties = Vec::new();
        for (property, one) in schema["properties"].as_object().into_iter().flatten() {
            let of = match property == key {
                true => Type::List(Box::new(record.clone())),
                false => self.types.type_of(one, &format!("{name}{}", camel(property))),
            };
            properties.push(Property { name: property.clone(), of, is_required: true, description: String::new() });
        }
        self.types.add(name, "A page of a list.", Shape::Object { base: None, properties })
    }

    /// Declares the payload of each event.
    fn events(&mut self, webhooks: Option<&'a Map<String, Value>>) -> Vec<(String, String)> {
        let mut events = Vec::new();
        for (event, methods) in webhooks.into_iter().flatten() {
            let schema = &methods["post"]["requestBody"]["content"]["application/json"]["schema"];
            if let Type::Named(name) = self.types.type_of(schema, &format!("{}Event", camel(event))) {
                events.push((event.clone(), name));
            }
        }
        events
    }
}

/// Refuses an action with the name of the method that iterates over a list.
fn refuse_iterators(group: &Group) -> Result<(), String> {
    let iterators = group.operations.iter().filter(|operation| operation.pages.is_some()).map(Operation::iterator);
    let names: Vec<String> = iterators.map(|name| camel(&name)).collect();
    match group.operations.iter().find(|operation| names.contains(&camel(&operation.name))) {
        Some(taken) => Err(format!(
            "the action `{}` of `{}` has the name of the client's method for all pages of a list: rename the action",
            taken.name, group.name
        )),
        None => Ok(()),
    }
}

fn json_first(content: &Map<String, Value>) -> Option<(&str, &Value)> {
    let json = content.get_key_value("application/json");
    json.or_else(|| content.iter().next()).map(|(media, content)| (media.as_str(), content))
}

/// The property of an object that has one, and requires it.
fn only_key(schema: &Value) -> Option<(&String, &Value)> {
    let mut properties = schema["properties"].as_object()?.iter();
    let first = properties.next()?;
    let is_required = schema["required"].as_array().is_some_and(|names| names.iter().any(|name| name == first.0));
    (properties.next().is_none() && is_required).then_some(first)
}
