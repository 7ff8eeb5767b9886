//! `/custom_fields`: definitions and their values.

use serde_json::{Value, json};

use crate::support::{Client, Server, keys, on_both};

on_both!(
    custom_field_definition_has_the_documented_fields,
    custom_field_name_is_snake_case_and_unique_within_its_entity_type,
    custom_field_entity_type_is_the_plural_name_of_a_resource_with_custom_fields,
    only_a_choice_field_has_choices_and_it_requires_them,
    custom_field_entity_type_name_and_type_cannot_change,
    custom_field_values_are_parsed_by_their_definition,
    custom_field_values_that_do_not_match_their_definition_are_refused,
    required_custom_field_is_required_for_new_records_only,
    value_for_an_undefined_custom_field_is_refused,
    concurrent_creates_of_one_custom_field_create_one_definition,
    entity_type_has_at_most_100_custom_fields,
    custom_field_names_that_differ_only_by_a_predicate_prefix_are_refused,
);

async fn entity_type_has_at_most_100_custom_fields(server: Server) {
    let admin = server.admin();
    let create = |from: usize, to: usize| {
        let field = |n: usize| json!({ "method": "create", "custom_field": { "entity_type": "members", "name": format!("f{n}"), "field_type": "text" } });
        json!({ "operations": (from..to).map(field).collect::<Vec<_>>() })
    };
    admin.post("/custom_fields/bulk", create(0, 99)).await.ok();
    admin.post("/custom_fields/bulk", create(99, 101)).await.status(422);
    admin.post("/custom_fields/bulk", create(99, 100)).await.ok();
    let one_more = json!({ "entity_type": "members", "name": "more", "field_type": "text" });
    let problem = admin.post("/custom_fields", one_more).await.invalid("entity_type");
    assert_eq!(problem, "has 100 custom fields, which is the maximum");
    define(&admin, "more", "text", json!({})).await;
}

async fn custom_field_names_that_differ_only_by_a_predicate_prefix_are_refused(server: Server) {
    let admin = server.admin();
    define(&admin, "x", "string", json!({})).await;
    define(&admin, "y_not", "string", json!({})).await;
    for name in ["x_not", "y"] {
        let body = json!({ "entity_type": "products", "name": name, "field_type": "string" });
        assert!(admin.post("/custom_fields", body).await.invalid("name").contains("_not"));
    }
    define(&admin, "x_not", "string", json!({ "entity_type": "members" })).await;
}

async fn define(client: &Client, name: &str, field_type: &str, further: Value) -> Value {
    let mut body = json!({ "entity_type": "products", "name": name, "field_type": field_type });
    body.as_object_mut().expect("an object").extend(further.as_object().expect("an object").clone());
    client.post("/custom_fields", body).await.created("custom_field")
}

async fn custom_field_definition_has_the_documented_fields(server: Server) {
    let admin = server.admin();
    let definition = define(&admin, "max_power", "integer", json!({})).await;
    let fields =
        ["choices", "created_at", "entity_type", "field_type", "id", "label", "name", "required", "updated_at"];
    assert_eq!(keys(&definition), fields);
    assert_eq!([&definition["label"], &definition["required"]], [&json!("Max power"), &json!(false)]);
    let path = format!("/custom_fields/{}", definition["id"]);
    let changed = admin.put(&path, json!({ "label": "Power (W)" })).await.record("custom_field");
    assert_eq!(changed["label"], "Power (W)");
    assert_eq!(admin.get("/custom_fields?q[entity_type_eq]=products").await.records("custom_fields"), [changed]);
    admin.delete(&path).await.deleted();
    admin.get(&path).await.refused(404, "not_found");
    let answer = admin.post("/custom_fields", json!({})).await;
    assert_eq!(answer.invalid_fields(), ["entity_type", "field_type", "name"]);
}

async fn custom_field_name_is_snake_case_and_unique_within_its_entity_type(server: Server) {
    let admin = server.admin();
    define(&admin, "power", "integer", json!({})).await;
    let again = json!({ "entity_type": "products", "name": "power", "field_type": "string" });
    assert!(admin.post("/custom_fields", again).await.invalid("name").contains("already taken"));
    define(&admin, "power", "integer", json!({ "entity_type": "members" })).await;
    define(&admin, &format!("p{}", "x".repeat(62)), "integer", json!({})).await;
    for bad in ["Power", "max power", "1st", "_x", "x-y", "x.y", "ä", "", "x'", "x\"", &"x".repeat(64)] {
        let body = json!({ "entity_type": "products", "name": bad, "field_type": "string" });
        admin.post("/custom_fields", body).await.invalid("name");
    }
}

async fn custom_field_entity_type_is_the_plural_name_of_a_resource_with_custom_fields(server: Server) {
    let admin = server.admin();
    for bad in ["product", "currencies", "nope", ""] {
        let body = json!({ "entity_type": bad, "name": "x", "field_type": "string" });
        admin.post("/custom_fields", body).await.invalid("entity_type");
    }
    let body = json!({ "entity_type": "products", "name": "x", "field_type": "number" });
    let problem = admin.post("/custom_fields", body).await.invalid("field_type");
    assert!(problem.contains("string, text, integer, decimal, boolean, date, time, timestamp, choice"), "{problem}");
}

async fn only_a_choice_field_has_choices_and_it_requires_them(server: Server) {
    let admin = server.admin();
    let choice = define(&admin, "colour", "choice", json!({ "choices": ["red", "blue"] })).await;
    assert_eq!(choice["choices"], json!(["red", "blue"]));
    let body = |field_type: &str, choices: Value| json!({ "entity_type": "products", "name": "x", "field_type": field_type, "choices": choices });
    admin.post("/custom_fields", body("choice", json!([]))).await.invalid("choices");
    admin.post("/custom_fields", body("choice", Value::Null)).await.invalid("choices");
    admin.post("/custom_fields", body("string", json!(["a"]))).await.invalid("choices");
    for blank in [json!([""]), json!(["a", " "])] {
        let answer = admin.post("/custom_fields", body("choice", blank)).await;
        assert!(answer.invalid("choices").contains("blank"), "{}", answer.text);
    }
    let twice = admin.post("/custom_fields", body("choice", json!(["a", "b", "a"]))).await;
    assert_eq!(twice.invalid("choices"), "contain \"a\" twice");
    admin.put(&format!("/custom_fields/{}", choice["id"]), json!({ "choices": "" })).await.invalid("choices");
}

async fn custom_field_entity_type_name_and_type_cannot_change(server: Server) {
    let admin = server.admin();
    let definition = define(&admin, "power", "integer", json!({})).await;
    let path = format!("/custom_fields/{}", definition["id"]);
    let body = json!({ "entity_type": "members", "name": "force", "field_type": "string" });
    let answer = admin.put(&path, body).await;
    assert_eq!(answer.invalid_fields(), ["entity_type", "field_type", "name"]);
    assert_eq!(admin.put(&path, definition.clone()).await.record("custom_field"), definition);
}

async fn custom_field_values_are_parsed_by_their_definition(server: Server) {
    let admin = server.admin();
    for field_type in ["string", "text", "integer", "decimal", "boolean", "date", "timestamp"] {
        define(&admin, &format!("a_{field_type}"), field_type, json!({})).await;
    }
    define(&admin, "a_choice", "choice", json!({ "choices": ["red", "dark blue"] })).await;
    let cases = [
        ("a_string", json!(" padded "), json!(" padded ")),
        ("a_string", json!("ä".repeat(255)), json!("ä".repeat(255))),
        ("a_text", json!("long ".repeat(1000)), json!("long ".repeat(1000))),
        ("a_integer", json!(150), json!(150)),
        ("a_integer", json!(" 150 "), json!(150)),
        ("a_integer", json!(999_999_999_999_999_999_i64), json!(999_999_999_999_999_999_i64)),
        ("a_integer", json!(-5), json!(-5)),
        ("a_decimal", json!(20.5), json!("20.5")),
        ("a_decimal", json!("1234567890.12345678"), json!("1234567890.12345678")),
        ("a_decimal", json!("5.000"), json!("5")),
        ("a_boolean", json!("T"), json!(true)),
        ("a_boolean", json!(0), json!(false)),
        ("a_date", json!("2026-02-28"), json!("2026-02-28")),
        ("a_timestamp", json!("2026-03-21T10:00:00+02:00"), json!("2026-03-21T08:00:00.000Z")),
        ("a_choice", json!("dark blue"), json!("dark blue")),
    ];
    for (name, given, stored) in cases {
        let body = json!({ "name": "x", "custom_fields": { name: given } });
        let product = admin.post("/products", body).await.created("product");
        assert_eq!(product["custom_fields"], json!({ name: stored }), "{name}: {given}");
        let shown = admin.get(&format!("/products/{}", product["id"])).await.record("product");
        assert_eq!(shown["custom_fields"], json!({ name: stored }));
        let path = format!("/products/{}", product["id"]);
        assert_eq!(admin.put(&path, shown.clone()).await.record("product"), shown, "it can be put back");
        let filter = format!("q[cf.{name}_eq]");
        let text = stored.as_str().map_or_else(|| stored.to_string(), str::to_string);
        if text.len() <= 2000 {
            let found = admin.list("/products", &[(&filter, &text), ("sort", "-id")]).await.column("products", "id");
            assert_eq!(found.first(), Some(&product["id"]), "{filter}={text}");
        }
    }
}

async fn custom_field_values_that_do_not_match_their_definition_are_refused(server: Server) {
    let admin = server.admin();
    for field_type in ["string", "text", "integer", "decimal", "boolean", "date", "timestamp"] {
        define(&admin, &format!("a_{field_type}"), field_type, json!({})).await;
    }
    define(&admin, "a_choice", "choice", json!({ "choices": ["red"] })).await;
    let cases = [
        ("a_string", json!(1)),
        ("a_string", json!("x".repeat(256))),
        ("a_string", json!("a\u{0}b")),
        ("a_text", json!(["x"])),
        ("a_text", json!("a\u{0}b")),
        ("a_integer", json!("x")),
        ("a_integer", json!(1.5)),
        ("a_integer", json!(1_000_000_000_000_000_000_i64)),
        ("a_integer", json!(u64::MAX)),
        ("a_decimal", json!("1.123456789")),
        ("a_decimal", json!("12345678901")),
        ("a_decimal", json!("NaN")),
        ("a_boolean", json!("yes")),
        ("a_date", json!("2026-02-30")),
        ("a_timestamp", json!("2026-02-28")),
        ("a_choice", json!("Red")),
        ("a_choice", json!("blue")),
        ("a_choice", json!(["red"])),
    ];
    for (name, value) in cases {
        let answer = admin.post("/products", json!({ "name": "x", "custom_fields": { name: value } })).await;
        assert_eq!(answer.invalid_fields(), [format!("custom_fields.{name}")], "{value}");
    }
    let both = json!({ "a_integer": "x", "a_date": "x" });
    let answer = admin.post("/products", json!({ "custom_fields": both })).await;
    assert_eq!(answer.invalid_fields(), ["custom_fields.a_date", "custom_fields.a_integer", "name"]);
}

async fn required_custom_field_is_required_for_new_records_only(server: Server) {
    let admin = server.admin();
    let old = admin.post("/products", json!({ "name": "old" })).await.created("product");
    define(&admin, "power", "integer", json!({ "required": true })).await;
    for custom_fields in [Value::Null, json!({}), json!({ "power": "" }), json!({ "power": null })] {
        let answer = admin.post("/products", json!({ "name": "x", "custom_fields": custom_fields })).await;
        assert_eq!(answer.invalid("custom_fields.power"), "is required");
    }
    let body = json!({ "name": "x", "custom_fields": { "power": 1 } });
    let product = admin.post("/products", body).await.created("product");
    let path = format!("/products/{}", product["id"]);
    admin.put(&path, json!({ "custom_fields": { "power": "" } })).await.invalid("custom_fields.power");
    define(&admin, "motto", "string", json!({ "required": true })).await;
    let answer = admin.put(&path, json!({ "custom_fields": { "motto": "  " } })).await;
    assert_eq!(answer.invalid("custom_fields.motto"), "must not be blank");
    // An older record can still be changed otherwise.
    admin.put(&format!("/products/{}", old["id"]), json!({ "name": "older" })).await.record("product");
}

async fn value_for_an_undefined_custom_field_is_refused(server: Server) {
    let admin = server.admin();
    define(&admin, "power", "integer", json!({})).await;
    let answer = admin.post("/products", json!({ "name": "x", "custom_fields": { "powr": 1 } })).await;
    assert!(answer.invalid("custom_fields.powr").contains("did you mean `power`?"));
    for name in ["", "Power", "power.x", "a\u{0}b", "$", "'; --"] {
        let answer = admin.post("/products", json!({ "name": "x", "custom_fields": { name: 1 } })).await;
        answer.invalid(&format!("custom_fields.{name}"));
    }
    for bad in [json!([]), json!("x"), json!(1), json!(true)] {
        admin.post("/products", json!({ "name": "x", "custom_fields": bad })).await.invalid("custom_fields");
    }
}

async fn concurrent_creates_of_one_custom_field_create_one_definition(server: Server) {
    let admin = server.admin();
    for round in 0..5 {
        let body = json!({ "entity_type": "products", "name": format!("f{round}"), "field_type": "string" });
        let (one, two) = tokio::join!(admin.post("/custom_fields", body.clone()), admin.post("/custom_fields", body));
        let mut statuses = [one.status, two.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 422], "{} {}", one.text, two.text);
        if one.status == 422 { one } else { two }.invalid("name");
    }
}
