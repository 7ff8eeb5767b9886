//! Nothing is missing from the description: every route, field, filter, code and event, each in words.

use std::collections::BTreeSet;

use charter_runtime::error::CODES;
use charter_runtime::meta::{Access, Kind, Operation, Shown};
use charter_runtime::ops::routes;
use charter_runtime::query::{Predicate, TABLE};
use charter_runtime::webhook::manual;
use serde_json::Value;

use super::{description, operations, visit};
use crate::support::schema::resolve;
use crate::support::{Database, Server, run};

/// What belongs to no resource.
const SERVICE: [&str; 5] = [
    "GET /api/v1/openapi.json",
    "GET /files/{uuid}/{part}",
    "GET /health/live",
    "GET /health/metrics",
    "GET /health/ready",
];

#[test]
fn every_route_is_described_and_nothing_else() {
    run(Database::Sqlite, |server: Server| async move {
        let description = description(&server).await;
        let described: BTreeSet<String> = operations(&description).into_iter().map(|(name, _)| name).collect();
        let routes = routes(&server.state);
        let served = routes.iter().map(|route| format!("{} {}", route.method, route.path));
        assert_eq!(described, served.chain(SERVICE.map(String::from)).collect());
        for route in &routes {
            let operation = &description["paths"][&route.path][route.method.to_lowercase()];
            assert_eq!(operation["x-ability"], route.ability.as_str());
            assert_eq!(operation["x-permission"].as_str(), route.permission);
            assert_eq!(operation["security"][0]["bearer"][0], route.ability.as_str());
            let told = operation["description"].as_str().unwrap_or_default();
            assert!(told.contains(&route.ability) && told.contains(route.permission.unwrap_or_default()), "{told}");
        }
        let ids: BTreeSet<&str> =
            operations(&description).iter().filter_map(|(_, operation)| operation["operationId"].as_str()).collect();
        assert_eq!(ids.len(), operations(&description).len(), "two operations share an id");
    });
}

#[test]
fn everything_is_described_in_words_and_every_reference_leads_somewhere() {
    run(Database::Sqlite, |server: Server| async move {
        let description = description(&server).await;
        let mut silent = Vec::new();
        let worded = |value: &Value| value["description"].as_str().is_some_and(|text| text.trim().len() > 4);
        for (name, operation) in operations(&description) {
            if !worded(operation) || operation["summary"].as_str().is_none_or(str::is_empty) {
                silent.push(name.clone());
            }
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let parameter = resolve(&description, parameter);
                if !worded(parameter) {
                    silent.push(format!("{name}: {}", parameter["name"]));
                }
            }
            for (status, answer) in operation["responses"].as_object().expect("answers") {
                if !worded(resolve(&description, answer)) {
                    silent.push(format!("{name}: {status}"));
                }
            }
        }
        visit(&description, "", &mut |way, object| {
            if let Some(reference) = object.get("$ref") {
                let pointer = reference.as_str().and_then(|text| text.strip_prefix('#')).expect("a reference");
                assert!(description.pointer(pointer).is_some(), "{way}: {reference} leads nowhere");
            }
            for (name, property) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
                // A wrapper's one property, and a narrowed one, are described where they lead.
                let described = worded(property) || property.get("$ref").is_some() || property.get("enum").is_some();
                if !described {
                    silent.push(format!("{way}: {name}"));
                }
            }
        });
        for kind in ["schemas", "parameters", "headers", "responses", "securitySchemes"] {
            for (name, component) in description["components"][kind].as_object().expect("components") {
                if !worded(component) {
                    silent.push(format!("{kind}: {name}"));
                }
            }
        }
        silent.extend(
            description["tags"].as_array().into_iter().flatten().filter(|tag| !worded(tag)).map(Value::to_string),
        );
        assert!(silent.is_empty(), "{}", silent.join("\n"));
    });
}

#[test]
fn every_field_and_every_filter_is_described() {
    run(Database::Sqlite, |server: Server| async move {
        let description = description(&server).await;
        let schema = |name: &str| &description["components"]["schemas"][name];
        for entry in server.state.catalog.entries().iter().filter(|entry| entry.is_served()) {
            let name: String = entry.meta.type_name.into();
            for field in entry.meta.fields {
                let shown = schema(&name)["properties"][field.name].is_object();
                let mark = entry.meta.keeps_deleted() && field.name == "deleted_at";
                assert_eq!(shown, field.shown != Shown::Never || mark, "{name}.{}", field.name);
                let written = !matches!(field.kind, Kind::Derived { .. } | Kind::Computed { .. })
                    && matches!(field.access, Access::Writable | Access::Secret | Access::Immutable)
                    && entry.meta.under.is_none_or(|under| under.field != field.name);
                for (verb, operation) in [("Create", Operation::Create), ("Update", Operation::Update)] {
                    let fixed = verb == "Update" && field.access == Access::Immutable;
                    let one = (entry.meta.singleton || entry.route.upload.is_some()) && verb == "Create";
                    if entry.meta.operations.contains(&operation) && !one {
                        let property = &schema(&format!("{name}{verb}"))["properties"][field.name];
                        let given = property.is_object() && property["readOnly"] != true;
                        assert_eq!(given, written && !fixed, "{name}{verb}.{}", field.name);
                        // What is shown may be sent back.
                        assert!(
                            given || property.is_object() == (field.shown != Shown::Never),
                            "{name}{verb}.{}",
                            field.name
                        );
                    }
                }
            }
            if !entry.meta.operations.contains(&Operation::List) || entry.meta.singleton {
                continue;
            }
            let end = format!("/{}", entry.meta.path);
            let list = routes(&server.state)
                .into_iter()
                .find(|route| route.resource == entry.meta.name && route.method == "GET" && route.path.ends_with(&end));
            let path = list.expect("a list").path;
            let parameters = description["paths"][&path]["get"]["parameters"].as_array().expect("parameters");
            let named = |name: &str| parameters.iter().any(|parameter| parameter["name"] == name);
            for field in entry.meta.fields.iter().filter(|field| field.shown == Shown::Always) {
                let source = entry.source(field);
                let kind = if source.labels.is_some() { Kind::Text } else { source.field.kind };
                for predicate in TABLE.iter().filter_map(|row| Predicate::from_name(row.1)) {
                    let filter = format!("q[{}_{}]", field.name, predicate.name());
                    assert_eq!(named(&filter), predicate.allowed(field, kind), "{path}: {filter}");
                }
            }
        }
    });
}

#[test]
fn every_code_of_an_error_is_described() {
    run(Database::Sqlite, |server: Server| async move {
        let description = description(&server).await;
        let codes = description["components"]["schemas"]["Error"]["properties"]["code"]["enum"].clone();
        for (code, status, meaning) in CODES {
            assert!(codes.as_array().is_some_and(|codes| codes.contains(&(*code).into())), "{code}");
            let answer = &description["components"]["responses"][format!("Error{status}")];
            let narrowed = &answer["content"]["application/json"]["schema"]["allOf"][1]["properties"]["code"]["enum"];
            assert!(narrowed.as_array().is_some_and(|codes| codes.contains(&(*code).into())), "{code}: {narrowed}");
            assert!(description["info"]["description"].as_str().is_some_and(|text| text.contains(meaning)), "{code}");
        }
    });
}

#[test]
fn every_event_is_described() {
    run(Database::Sqlite, |server: Server| async move {
        let description = description(&server).await;
        let webhooks = description["webhooks"].as_object().expect("webhooks");
        let named = server.state.catalog.events();
        assert!(named.len() > 20, "{named:?}");
        assert_eq!(webhooks.len(), named.len() + 1, "the event of a test, and no other beside those that are emitted");
        for name in named.iter().map(String::as_str).chain([manual::TEST]) {
            let body = &webhooks[name]["post"]["requestBody"]["content"]["application/json"];
            assert_eq!(body["schema"]["properties"]["event"]["const"], name);
            assert_eq!(body["example"]["event"], name);
        }
    });
}

/// What common generators of clients stumble over: they leave out a whole operation for one of these.
#[test]
fn types_can_be_made_of_every_schema() {
    run(Database::Sqlite, async |server: Server| {
        let description = description(&server).await;
        let mut odd = Vec::new();
        let kind = |value: &Value| match value {
            Value::Null => 0,
            Value::Bool(_) => 1,
            Value::Number(_) => 2,
            Value::String(_) => 3,
            Value::Array(_) => 4,
            Value::Object(_) => 5,
        };
        super::visit(&description, "", &mut |way, object| {
            let words = object.get("enum").and_then(Value::as_array).into_iter().flatten();
            let kinds: BTreeSet<u8> = words.map(kind).filter(|kind| *kind > 0).collect();
            let has_list = object.get("type").is_some_and(|said| {
                said == "array" || said.as_array().is_some_and(|all| all.contains(&Value::from("array")))
            });
            let is_parameter =
                ["in", "name"].iter().all(|key| object.contains_key(*key)) && !object.contains_key("type");
            if kinds.len() > 1
                || (has_list && !object.contains_key("items"))
                || (is_parameter && !object.contains_key("schema"))
            {
                odd.push(way.to_string());
            }
        });
        assert!(odd.is_empty(), "{}", odd.join("\n"));
        let parameters = description["components"]["parameters"].as_object().expect("parameters");
        for (name, parameter) in parameters.iter().filter(|(_, parameter)| parameter["in"] == "header") {
            assert!(parameter["schema"]["type"].is_string(), "{name} is of several types");
        }
    });
}
