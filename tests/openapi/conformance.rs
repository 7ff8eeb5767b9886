//! Conformance of examples, responses and parameters to the OpenAPI document.

use charter_runtime::meta::Operation;
use serde_json::{Value, json};

use super::{document, operations};
use crate::query::every_list::{List, Maker, lists};
use crate::support::schema::{problems, resolve};
use crate::support::{Server, on_both};

on_both!(
    examples_match_their_schemas,
    responses_match_their_schemas,
    example_bodies_are_accepted,
    documented_parameters_are_accepted,
    derived_field_is_nullable_only_if_its_reference_is,
);

async fn derived_field_is_nullable_only_if_its_reference_is(server: Server) {
    let document = document(&server).await;
    let of = |schema: &str, field: &str| document["components"]["schemas"][schema]["properties"][field]["type"].clone();
    assert_eq!(of("StockLevel", "product_name"), "string", "product_id is required");
    assert_eq!(of("Product", "product_group_name"), json!(["string", "null"]), "product_group_id may be null");
}

#[track_caller]
fn none(found: Vec<String>) {
    assert!(found.is_empty(), "{}", found.join("\n"));
}

async fn examples_match_their_schemas(server: Server) {
    let document = document(&server).await;
    let mut found = Vec::new();
    let mut count = 0;
    let mut check = |schema: &Value, example: &Value, path: &str| {
        count += 1;
        found.extend(problems(&document, schema, example, path));
    };
    for (name, operation) in operations(&document) {
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let parameter = resolve(&document, parameter);
            check(&parameter["schema"], &parameter["example"], &format!("{name} {}", parameter["name"]));
        }
        let answers = operation["responses"].as_object().into_iter().flatten();
        let bodies = answers.map(|(status, answer)| (status.as_str(), resolve(&document, answer)));
        for (what, body) in bodies.chain([("body", &operation["requestBody"])]) {
            for content in body["content"].as_object().into_iter().flat_map(|content| content.values()) {
                check(&content["schema"], &content["example"], &format!("{name} {what}"));
            }
        }
    }
    for (name, message) in document["webhooks"].as_object().into_iter().flatten() {
        let content = &message["post"]["requestBody"]["content"]["application/json"];
        check(&content["schema"], &content["example"], name);
    }
    super::visit(&document, "", &mut |path, schema| {
        for example in schema.get("examples").and_then(Value::as_array).into_iter().flatten() {
            check(&Value::Object(schema.clone()), example, path);
        }
    });
    assert!(count > 500, "{count}");
    none(found);
}

/// Resources without a JSON body for new records: uploads, delivery logs and reports of imports.
const WITHOUT_BODY: [&str; 3] = ["attachment", "import_row", "webhook_log"];

async fn responses_match_their_schemas(server: Server) {
    let document = document(&server).await;
    let mut maker = Maker::new(&server);
    let (mut found, mut asked, mut sent_back) = (Vec::new(), 0, Vec::new());
    // Complete records. The other alternative of the schema is for records with selected fields.
    let mut check = |template: &str, records: &[Value], at: &str| {
        let content = &document["paths"][template]["get"]["responses"]["200"]["content"]["application/json"];
        let schema = content["schema"].pointer(at).unwrap_or(&Value::Null);
        assert!(schema.is_object(), "{template}");
        found.extend(records.iter().flat_map(|record| problems(&document, schema, record, template)));
        asked += 1;
    };
    for List { entry, path } in lists(&mut maker).await {
        let (meta, admin) = (entry.meta, server.admin());
        let includes: Vec<&str> = meta.includes.iter().map(|include| include.name).collect();
        let includes = format!("include={}", includes.join(","));
        let list = admin.get(&format!("{path}?{includes}")).await.ok();
        let template = match meta.under {
            _ if entry.is_attached() => path.replacen(|c: char| c.is_ascii_digit(), "{id}", 1),
            Some(under) => path.replacen(|c: char| c.is_ascii_digit(), &format!("{{{}}}", under.field), 1),
            None => path.clone(),
        };
        let records = list[meta.plural].as_array().expect("a list");
        check(&format!("/api/v1{template}"), records, &format!("/properties/{}/items/anyOf/0", meta.plural));
        let Some(id) = list[meta.plural][0]["id"].as_i64() else {
            assert!(WITHOUT_BODY.contains(&meta.name), "{path} has no record");
            continue;
        };
        if meta.operations.contains(&Operation::Show) {
            let single = admin.get(&format!("{path}/{id}?{includes}")).await.ok();
            check(&format!("/api/v1{template}/{{id}}"), &[single], "/anyOf/0");
        }
        if meta.operations.contains(&Operation::Show) && meta.operations.contains(&Operation::Update) {
            // A record can be sent back as it was read.
            let place = format!("{path}/{id}");
            let record = admin.get(&place).await.record(meta.name);
            let schema = json!({ "$ref": format!("#/components/schemas/{}Update", meta.type_name) });
            sent_back.extend(problems(&document, &schema, &record, &place));
            admin.put(&place, record).await.ok();
        }
    }
    assert!(asked > 20, "{asked}");
    none(found);
    none(sent_back);
}

/// Messages that depend on other records. Other messages are errors of the document.
const ABOUT_OTHER_RECORDS: [&str; 2] = ["does not refer to an existing ", "is already taken"];

async fn example_bodies_are_accepted(server: Server) {
    let document = document(&server).await;
    let (mut wrong, mut sent) = (Vec::new(), 0);
    for (name, operation) in operations(&document) {
        let body = &operation["requestBody"]["content"]["application/json"]["example"];
        let path = name.strip_prefix("POST /api/v1").filter(|path| !path.contains('{') && !path.ends_with("/bulk"));
        let Some(path) = path.filter(|_| body.is_object()) else { continue };
        let answer = server.admin().post(path, body.clone()).await;
        sent += 1;
        if answer.status == 422 {
            for (field, messages) in answer.json()["errors"].as_object().expect("problems") {
                let messages = messages.as_array().into_iter().flatten().filter_map(Value::as_str);
                let own = messages.filter(|said| !ABOUT_OTHER_RECORDS.iter().any(|other| said.starts_with(other)));
                wrong.extend(own.map(|said| format!("{path} {field} {said}")));
            }
        } else if answer.status >= 400 {
            wrong.push(format!("{path} {}", answer.text));
        }
    }
    assert!(sent > 12, "{sent}");
    none(wrong);
}

async fn documented_parameters_are_accepted(server: Server) {
    let admin = server.admin();
    let mut refused = Vec::new();
    let mut asked = 0;
    let (compact, long) = (document(&server).await, admin.get("/openapi.json?filters=each").await.ok());
    for (document, (name, operation)) in [&compact, &long]
        .into_iter()
        .flat_map(|document| operations(document).into_iter().map(move |one| (document, one)))
    {
        let path = name.strip_prefix("GET /api/v1").filter(|path| !path.contains('{')).unwrap_or_default();
        // A view must exist first, and a conversion needs all its parameters.
        if path.is_empty()
            || operation["parameters"].as_array().is_none_or(|all| all.iter().any(|p| p["required"] == true))
        {
            continue;
        }
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let parameter = resolve(document, parameter);
            if parameter["in"] != "query" || parameter["name"] == "view_id" {
                continue;
            }
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), String::from);
            let named = parameter["name"].as_str().expect("a name");
            let (named, value) = match &parameter["example"] {
                Value::Array(elements) => (named.into(), elements.iter().map(text).collect::<Vec<_>>().join(",")),
                // A deep object.
                Value::Object(entries) => {
                    let (key, value) = entries.iter().next().expect("an entry");
                    (format!("{named}[{key}]"), text(value))
                }
                value => (named.to_string(), text(value)),
            };
            // The form of a CSV export applies to no page.
            let client = if named == "csv" { admin.with("accept", "text/csv") } else { admin.with("accept", "*/*") };
            let answer = client.list(path, &[(&named, &value)]).await;
            asked += 1;
            if answer.status != 200 {
                refused.push(format!("{path} {named}={value}: {}", answer.text));
            }
        }
    }
    assert!(asked > 300, "{asked}");
    none(refused);
}
