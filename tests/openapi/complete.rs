//! Completeness of the OpenAPI document: routes, fields, filters, codes and events, each with a description.

use std::collections::BTreeSet;

use charter_runtime::error::CODES;
use charter_runtime::meta::{Access, Kind, Operation, Shown};
use charter_runtime::ops::routes;
use charter_runtime::query::{Predicate, allows};
use charter_runtime::webhook::redelivery;
use serde_json::{Value, json};

use super::{document, operations, visit};
use crate::support::schema::resolve;
use crate::support::{Database, Server, run};

/// Operations that belong to no resource.
const SERVICE: [&str; 6] = [
    "GET /api/v1/openapi.json",
    "GET /api/v1/search",
    "GET /files/{uuid}/{part}",
    "GET /health/live",
    "GET /health/metrics",
    "GET /health/ready",
];

#[test]
fn document_describes_exactly_the_routes() {
    run(Database::Sqlite, |server: Server| async move {
        let document = document(&server).await;
        let described: BTreeSet<String> = operations(&document).into_iter().map(|(name, _)| name).collect();
        let routes = routes(&server.state);
        let served = routes.iter().map(|route| format!("{} {}", route.method, route.path));
        assert_eq!(described, served.chain(SERVICE.map(String::from)).collect());
        for route in &routes {
            let operation = &document["paths"][&route.path][route.method.to_lowercase()];
            assert_eq!(operation["x-ability"], route.ability.as_str());
            assert_eq!(operation["x-permission"].as_str(), route.permission.as_deref());
            assert_eq!(operation["security"][0]["bearer"][0], route.ability.as_str());
            let text = operation["description"].as_str().unwrap_or_default();
            assert!(
                text.contains(&route.ability) && text.contains(route.permission.as_deref().unwrap_or_default()),
                "{text}"
            );
        }
        let ids: BTreeSet<&str> =
            operations(&document).iter().filter_map(|(_, operation)| operation["operationId"].as_str()).collect();
        assert_eq!(ids.len(), operations(&document).len(), "two operations share an id");
    });
}

#[test]
fn all_parts_have_descriptions_and_all_references_resolve() {
    run(Database::Sqlite, |server: Server| async move {
        let document = document(&server).await;
        let mut silent = Vec::new();
        let worded = |value: &Value| value["description"].as_str().is_some_and(|text| text.trim().len() > 4);
        for (name, operation) in operations(&document) {
            if !worded(operation) || operation["summary"].as_str().is_none_or(str::is_empty) {
                silent.push(name.clone());
            }
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let parameter = resolve(&document, parameter);
                if !worded(parameter) {
                    silent.push(format!("{name}: {}", parameter["name"]));
                }
            }
            for (status, answer) in operation["responses"].as_object().expect("answers") {
                if !worded(resolve(&document, answer)) {
                    silent.push(format!("{name}: {status}"));
                }
            }
        }
        visit(&document, "", &mut |path, object| {
            if let Some(reference) = object.get("$ref") {
                let pointer = reference.as_str().and_then(|text| text.strip_prefix('#')).expect("a reference");
                assert!(document.pointer(pointer).is_some(), "{path}: {reference} does not exist");
            }
            for (name, property) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
                // The property of a wrapper, and a restricted one, are described in the schema that they refer to.
                let described = worded(property) || property.get("$ref").is_some() || property.get("enum").is_some();
                if !described {
                    silent.push(format!("{path}: {name}"));
                }
            }
        });
        for kind in ["schemas", "parameters", "headers", "responses", "securitySchemes"] {
            for (name, component) in document["components"][kind].as_object().expect("components") {
                if !worded(component) {
                    silent.push(format!("{kind}: {name}"));
                }
            }
        }
        silent
            .extend(document["tags"].as_array().into_iter().flatten().filter(|tag| !worded(tag)).map(Value::to_string));
        assert!(silent.is_empty(), "{}", silent.join("\n"));
    });
}

#[test]
fn document_describes_all_fields_and_filters() {
    run(Database::Sqlite, |server: Server| async move {
        let document = document(&server).await;
        let long = server.anonymous().get("/openapi.json?filters=each").await.ok();
        server.anonymous().get("/openapi.json?filters=all").await.invalid("filters");
        let schema = |name: &str| &document["components"]["schemas"][name];
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
                    let one = (entry.meta.singleton || entry.receives_file()) && verb == "Create";
                    if entry.meta.operations.contains(&operation) && !one {
                        let property = &schema(&format!("{name}{verb}"))["properties"][field.name];
                        let given = property.is_object() && property["readOnly"] != true;
                        assert_eq!(given, written && !fixed, "{name}{verb}.{}", field.name);
                        // A shown field can be sent back.
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
            let parameters = document["paths"][&path]["get"]["parameters"].as_array().expect("parameters");
            let once = parameters.iter().map(|one| resolve(&document, one)).find(|one| one["name"] == "q");
            let once = once.expect("the parameter of all filters");
            assert_eq!([&once["style"], &once["explode"]], [&json!("deepObject"), &json!(true)]);
            let filters = once["schema"]["properties"].as_object().expect("filters");
            // The long form has a parameter for each of the same filters.
            let parameters = long["paths"][&path]["get"]["parameters"].as_array().expect("parameters");
            let each = parameters.iter().filter_map(|one| one["name"].as_str()?.strip_prefix("q[")?.strip_suffix(']'));
            assert_eq!(each.collect::<BTreeSet<_>>(), filters.keys().map(String::as_str).collect(), "{path}");
            for field in entry.meta.fields.iter().filter(|field| field.shown == Shown::Always) {
                let source = entry.source(field);
                let kind = if source.labels.is_some() { Kind::Text } else { source.field.kind };
                for predicate in Predicate::ALL.iter().copied() {
                    let filter = format!("{}_{}", field.name, predicate.name());
                    assert_eq!(filters.contains_key(&filter), allows(field, predicate, kind), "{path}: {filter}");
                }
            }
        }
    });
}

/// Client generators make a type of each pattern, and validators compile it.
#[test]
fn all_patterns_are_anchored_at_both_ends() {
    run(Database::Sqlite, |server: Server| async move {
        for path in ["/openapi.json", "/openapi.json?filters=each"] {
            let document = server.anonymous().get(path).await.ok();
            let (mut count, mut loose) = (0, BTreeSet::new());
            visit(&document, "", &mut |_, object| {
                if let Some(pattern) = object.get("pattern").and_then(Value::as_str) {
                    count += 1;
                    if !(pattern.starts_with('^') && pattern.ends_with('$')) {
                        loose.insert(pattern.to_string());
                    }
                }
            });
            assert!(count > 100 && loose.is_empty(), "{count} {loose:?}");
        }
    });
}

#[test]
fn document_describes_all_error_codes() {
    run(Database::Sqlite, |server: Server| async move {
        let document = document(&server).await;
        let codes = document["components"]["schemas"]["Error"]["properties"]["code"]["enum"].clone();
        for (code, status, meaning) in CODES {
            assert!(codes.as_array().is_some_and(|codes| codes.contains(&(*code).into())), "{code}");
            let answer = &document["components"]["responses"][format!("Error{status}")];
            let narrowed = &answer["content"]["application/json"]["schema"]["allOf"][1]["properties"]["code"]["enum"];
            assert!(narrowed.as_array().is_some_and(|codes| codes.contains(&(*code).into())), "{code}: {narrowed}");
            assert!(document["info"]["description"].as_str().is_some_and(|text| text.contains(meaning)), "{code}");
        }
    });
}

#[test]
fn document_describes_all_events() {
    run(Database::Sqlite, |server: Server| async move {
        let document = document(&server).await;
        let webhooks = document["webhooks"].as_object().expect("webhooks");
        let named = server.state.catalog.events();
        assert!(named.len() > 20, "{named:?}");
        assert_eq!(webhooks.len(), named.len() + 1, "the emitted events, and that of a test");
        for name in named.iter().map(String::as_str).chain([redelivery::TEST_EVENT]) {
            let body = &webhooks[name]["post"]["requestBody"]["content"]["application/json"];
            assert_eq!(body["schema"]["properties"]["event"]["const"], name);
            assert_eq!(body["example"]["event"], name);
        }
    });
}

/// Common client generators skip an operation that has one of these constructs.
#[test]
fn schemas_are_supported_by_client_generators() {
    run(Database::Sqlite, async |server: Server| {
        let document = document(&server).await;
        let mut odd = Vec::new();
        let kind = |value: &Value| match value {
            Value::Null => 0,
            Value::Bool(_) => 1,
            Value::Number(_) => 2,
            Value::String(_) => 3,
            Value::Array(_) => 4,
            Value::Object(_) => 5,
        };
        super::visit(&document, "", &mut |path, object| {
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
                odd.push(path.to_string());
            }
        });
        assert!(odd.is_empty(), "{}", odd.join("\n"));
        let parameters = document["components"]["parameters"].as_object().expect("parameters");
        for (name, parameter) in parameters.iter().filter(|(_, parameter)| parameter["in"] == "header") {
            assert!(parameter["schema"]["type"].is_string(), "{name} has several types");
        }
    });
}
