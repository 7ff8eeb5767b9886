//! The description against the server: its examples fit its schemas, what it answers fits them too, and every parameter
//! is taken as described.

use serde_json::Value;

use super::schema::problems;
use super::{description, operations, resolve};
use crate::support::{Server, on_both};

on_both!(
    every_example_fits_its_schema,
    every_list_and_every_record_fits_its_schema,
    every_described_parameter_is_taken,
    an_answer_has_no_field_that_is_not_described,
);

#[track_caller]
fn none(found: Vec<String>) {
    assert!(found.is_empty(), "{}", found.join("\n"));
}

async fn every_example_fits_its_schema(server: Server) {
    let description = description(&server).await;
    let mut found = Vec::new();
    let mut count = 0;
    let mut check = |schema: &Value, example: &Value, way: &str| {
        count += 1;
        found.extend(problems(&description, schema, example, way));
    };
    for (name, operation) in operations(&description) {
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let parameter = resolve(&description, parameter);
            check(&parameter["schema"], &parameter["example"], &format!("{name} {}", parameter["name"]));
        }
        let answers = operation["responses"].as_object().into_iter().flatten();
        let bodies = answers.map(|(status, answer)| (status.as_str(), resolve(&description, answer)));
        for (what, body) in bodies.chain([("body", &operation["requestBody"])]) {
            for content in body["content"].as_object().into_iter().flat_map(|content| content.values()) {
                check(&content["schema"], &content["example"], &format!("{name} {what}"));
            }
        }
    }
    for (name, message) in description["webhooks"].as_object().into_iter().flatten() {
        let content = &message["post"]["requestBody"]["content"]["application/json"];
        check(&content["schema"], &content["example"], name);
    }
    super::visit(&description, "", &mut |way, schema| {
        for example in schema.get("examples").and_then(Value::as_array).into_iter().flatten() {
            check(&Value::Object(schema.clone()), example, way);
        }
    });
    assert!(count > 500, "{count}");
    none(found);
}

/// Each list and its first record, as the sample data fills them.
async fn samples(server: &Server) -> Vec<(String, Value, String, Option<Value>)> {
    let mut samples = Vec::new();
    for route in charter_runtime::crud::routes(&server.state).iter().filter(|route| route.method == "GET") {
        let meta = server.state.catalog.get(route.resource).meta;
        if route.path.contains('{') || !route.path.ends_with(&format!("/{}", meta.path)) {
            continue;
        }
        let path = route.path.trim_start_matches("/api/v1").to_string();
        let includes: Vec<&str> = meta.includes.iter().map(|include| include.name).collect();
        let list = server.admin().get(&format!("{path}?include={}", includes.join(","))).await.ok();
        let first = list[meta.plural][0]["id"].as_i64();
        let single = match first {
            Some(id) => Some(server.admin().get(&format!("{path}/{id}?include={}", includes.join(","))).await.ok()),
            None => None,
        };
        samples.push((route.path.clone(), list, meta.plural.to_string(), single));
    }
    samples
}

async fn every_list_and_every_record_fits_its_schema(server: Server) {
    let description = description(&server).await;
    let answer =
        |path: &str| description["paths"][path]["get"]["responses"]["200"]["content"]["application/json"].clone();
    let mut found = Vec::new();
    for (path, list, _, single) in samples(&server).await {
        found.extend(problems(&description, &answer(&path)["schema"], &list, &path));
        if let Some(single) = single {
            let path = format!("{path}/{{id}}");
            found.extend(problems(&description, &answer(&path)["schema"], &single, &path));
        }
    }
    none(found);
}

async fn an_answer_has_no_field_that_is_not_described(server: Server) {
    let description = description(&server).await;
    let schemas = &description["components"]["schemas"];
    for (path, list, plural, single) in samples(&server).await {
        let records = list[&plural].as_array().into_iter().flatten();
        let single = single.as_ref().and_then(|single| single.as_object()?.values().next());
        for record in records.chain(single) {
            let name = server.state.catalog.by_plural(&plural).expect("a resource").meta.type_name;
            for field in record.as_object().expect("a record").keys() {
                assert!(schemas[name]["properties"][field].is_object(), "{path}: {field}");
            }
        }
    }
}

async fn every_described_parameter_is_taken(server: Server) {
    let description = description(&server).await;
    let admin = server.admin();
    let mut refused = Vec::new();
    let mut asked = 0;
    for (name, operation) in operations(&description) {
        let path = name.strip_prefix("GET /api/v1").filter(|path| !path.contains('{')).unwrap_or_default();
        // A view has to be there first, and a conversion needs all of its parameters at once.
        if path.is_empty()
            || operation["parameters"].as_array().is_none_or(|all| all.iter().any(|p| p["required"] == true))
        {
            continue;
        }
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let parameter = resolve(&description, parameter);
            if parameter["in"] != "query" || parameter["name"] == "view_id" {
                continue;
            }
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), String::from);
            let value = match &parameter["example"] {
                // JSON in a parameter has its example where its form is said.
                Value::Null => parameter["content"]["application/json"]["example"].to_string(),
                Value::Array(elements) => elements.iter().map(text).collect::<Vec<_>>().join(","),
                value => text(value),
            };
            let named = parameter["name"].as_str().expect("a name");
            let answer = admin.list(path, &[(named, &value)]).await;
            asked += 1;
            if answer.status != 200 {
                refused.push(format!("{path} {named}={value}: {}", answer.text));
            }
        }
    }
    assert!(asked > 300, "{asked}");
    none(refused);
}
