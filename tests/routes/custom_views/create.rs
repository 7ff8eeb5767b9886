//! `POST /custom_views`.

use serde_json::{Value, json};

use super::{created, path, view};
use crate::support::{Server, is_utc_time, keys, on_both};

on_both!(
    creating_a_view_returns_201_with_the_view,
    view_requires_name_entity_type_and_columns,
    all_errors_of_a_view_are_reported_at_once,
    view_name_has_at_most_255_characters,
    view_entity_type_is_the_plural_name_of_a_resource,
    view_columns_must_be_fields_of_the_entity_type,
    view_columns_of_custom_fields_have_the_prefix_cf,
    view_per_page_is_from_1_to_100,
    view_enum_values_are_those_of_the_specification,
    view_filters_are_validated_like_query_parameters,
    view_sort_column_must_be_sortable,
    roles_of_a_shared_view_must_exist,
    only_administrators_can_create_system_views,
    creator_of_a_view_is_the_caller_and_ignores_the_body,
    creating_a_view_requires_the_ability_custom_views_write,
);

async fn creating_a_view_returns_201_with_the_view(server: Server) {
    let admin = server.admin();
    let answer = admin.post("/custom_views", view(json!({}))).await;
    let view = answer.created("custom_view");
    assert_eq!(answer.header("location"), Some(format!("/api/v1/custom_views/{}", view["id"]).as_str()));
    let fields = [
        "columns",
        "created_at",
        "entity_type",
        "filters",
        "id",
        "name",
        "per_page",
        "role_ids",
        "sort_column",
        "sort_direction",
        "updated_at",
        "user_id",
        "visibility",
    ];
    assert_eq!(keys(&view), fields);
    assert_eq!([&view["visibility"], &view["sort_direction"]], ["personal", "asc"]);
    assert_eq!([&view["per_page"], &view["user_id"]], [20, 1]);
    assert_eq!([&view["filters"], &view["role_ids"], &view["sort_column"]], [&json!([]), &json!([]), &Value::Null]);
    assert!(is_utc_time(&view["created_at"]), "{view}");
    assert_eq!(admin.get(&path(&view)).await.record("custom_view"), view);
}

async fn view_requires_name_entity_type_and_columns(server: Server) {
    let admin = server.admin();
    let answer = admin.post("/custom_views", json!({})).await;
    assert_eq!(answer.invalid_fields(), ["columns", "entity_type", "name"]);
    let problem = admin.post("/custom_views", view(json!({ "columns": [] }))).await.invalid("columns");
    assert!(problem.contains("at least 1"), "{problem}");
    for bad in [json!(""), json!("name"), json!([1]), json!({ "a": 1 }), json!([null])] {
        admin.post("/custom_views", view(json!({ "columns": bad }))).await.invalid("columns");
    }
}

async fn all_errors_of_a_view_are_reported_at_once(server: Server) {
    let body = json!({
        "entity_type": "products", "columns": ["nam"], "filters": [{ "field": "nope", "predicate": "eq", "value": 1 }],
        "sort_column": "nope", "per_page": 0,
    });
    let answer = server.admin().post("/custom_views", body).await;
    assert_eq!(answer.invalid_fields(), ["columns", "filters", "name", "per_page", "sort_column"]);
    let body = json!({ "name": "", "entity_type": "product", "columns": ["nam"], "filters": "x" });
    let answer = server.admin().post("/custom_views", body).await;
    assert_eq!(answer.invalid_fields(), ["entity_type", "filters", "name"]);
}

async fn view_name_has_at_most_255_characters(server: Server) {
    let admin = server.admin();
    let longest = "ä".repeat(255);
    assert_eq!(created(&admin, json!({ "name": longest })).await["name"], longest.as_str());
    admin.post("/custom_views", view(json!({ "name": format!("{longest}x") }))).await.invalid("name");
    admin.post("/custom_views", view(json!({ "name": " " }))).await.invalid("name");
}

async fn view_entity_type_is_the_plural_name_of_a_resource(server: Server) {
    let admin = server.admin();
    for known in ["products", "members", "currencies", "exchange_rates", "users"] {
        created(&admin, json!({ "entity_type": known, "columns": ["id"] })).await;
    }
    for unknown in ["product", "Products", "nope", "", "events"] {
        admin.post("/custom_views", view(json!({ "entity_type": unknown }))).await.invalid("entity_type");
    }
    let problem = admin.post("/custom_views", view(json!({ "entity_type": "product" }))).await.invalid("entity_type");
    assert!(problem.contains("did you mean `products`?"), "{problem}");
}

async fn view_columns_must_be_fields_of_the_entity_type(server: Server) {
    let admin = server.admin();
    created(&admin, json!({ "columns": ["id", "product_group_name", "buffer_percent", "created_at", "tag_list"] }))
        .await;
    for unknown in ["nam", "deleted_at", "", "product_group", "name ", "cf.power", "cf."] {
        let answer = admin.post("/custom_views", view(json!({ "columns": ["name", unknown] }))).await;
        assert_eq!(answer.invalid_fields(), ["columns"], "{unknown}");
    }
    let problem = admin.post("/custom_views", view(json!({ "columns": ["nam", "skuu"] }))).await.invalid("columns");
    assert!(problem.contains("`nam`; did you mean `name`?") && problem.contains("`skuu`"), "{problem}");
    let tokens = view(json!({ "entity_type": "tokens", "columns": ["token_hash"] }));
    admin.post("/custom_views", tokens).await.invalid("columns");
}

async fn view_columns_of_custom_fields_have_the_prefix_cf(server: Server) {
    let admin = server.admin();
    let definition = json!({ "entity_type": "products", "name": "power", "field_type": "integer" });
    admin.post("/custom_fields", definition).await.created("custom_field");
    created(&admin, json!({ "columns": ["cf.power"], "sort_column": "cf.power" })).await;
    for bad in
        [view(json!({ "columns": ["power"] })), view(json!({ "entity_type": "members", "columns": ["cf.power"] }))]
    {
        admin.post("/custom_views", bad).await.invalid("columns");
    }
}

async fn view_per_page_is_from_1_to_100(server: Server) {
    let admin = server.admin();
    for fine in [1, 100] {
        assert_eq!(created(&admin, json!({ "per_page": fine })).await["per_page"], fine);
    }
    for bad in [json!(0), json!(101), json!(-1), json!(1.5), json!("x"), json!("")] {
        admin.post("/custom_views", view(json!({ "per_page": bad }))).await.invalid("per_page");
    }
}

async fn view_enum_values_are_those_of_the_specification(server: Server) {
    let admin = server.admin();
    for visibility in ["personal", "shared", "system"] {
        assert_eq!(created(&admin, json!({ "visibility": visibility })).await["visibility"], visibility);
    }
    for direction in ["asc", "desc"] {
        assert_eq!(created(&admin, json!({ "sort_direction": direction })).await["sort_direction"], direction);
    }
    admin.post("/custom_views", view(json!({ "visibility": "public" }))).await.invalid("visibility");
    admin.post("/custom_views", view(json!({ "sort_direction": "up" }))).await.invalid("sort_direction");
}

async fn view_filters_are_validated_like_query_parameters(server: Server) {
    let admin = server.admin();
    for logic in ["and", "or", "nand", "nor"] {
        let filter = json!({ "field": "name", "predicate": "cont", "value": "x", "logic": logic });
        assert_eq!(created(&admin, json!({ "filters": [filter] })).await["filters"], json!([filter]));
    }
    // An escaped backslash followed by `u0000` is not a null character.
    let filter = json!({ "field": "name", "predicate": "cont", "value": "C:\\u0000dir", "logic": "and" });
    assert_eq!(created(&admin, json!({ "filters": [filter] })).await["filters"], json!([filter]));
    let holding = json!([{ "field": "name", "predicate": "cont", "value": "a\u{0}b" }]);
    let refused = admin.post("/custom_views", view(json!({ "filters": holding }))).await.invalid("filters");
    assert!(refused.contains("null character"), "{refused}");
    let bad = [
        json!([{ "field": "nope", "predicate": "eq", "value": "x" }]),
        json!([{ "field": "name", "predicate": "like", "value": "x" }]),
        json!([{ "field": "name", "predicate": "eq" }]),
        json!([{ "field": "name", "predicate": "eq", "value": "" }]),
        json!([{ "field": "name", "predicate": "eq", "value": ["x"] }]),
        json!([{ "field": "name", "predicate": "in", "value": [] }]),
        json!([{ "field": "name", "predicate": "eq", "value": { "a": 1 } }]),
        json!([{ "field": "name", "predicate": "eq", "value": "x".repeat(2001) }]),
        json!([{ "field": "name", "predicate": "cont", "value": "a\u{0}b" }]),
        json!([{ "field": "stock_method", "predicate": "eq", "value": "x" }]),
        json!([{ "field": "stock_method", "predicate": "true" }]),
        json!([{ "field": "name", "predicate": "eq", "value": "x", "logic": "xor" }]),
        json!([{ "field": "name", "predicate": "eq", "value": "x", "colour": "red" }]),
        json!([{ "predicate": "eq", "value": "x" }]),
        json!([{ "field": "name" }]),
        json!([["name", "eq", "x"]]),
        json!([1]),
        json!([null]),
        json!({ "field": "name", "predicate": "eq", "value": "x" }),
        json!("name"),
    ];
    for filters in bad {
        let answer = admin.post("/custom_views", view(json!({ "filters": filters }))).await;
        assert_eq!(answer.invalid_fields(), ["filters"], "{filters}");
    }
    assert_eq!(created(&admin, json!({ "filters": null })).await["filters"], json!([]));
}

async fn view_sort_column_must_be_sortable(server: Server) {
    let admin = server.admin();
    assert_eq!(created(&admin, json!({ "sort_column": "sku" })).await["sort_column"], "sku");
    for bad in ["nope", "-sku", "tag_list", "custom_fields", "cf.nope"] {
        admin.post("/custom_views", view(json!({ "sort_column": bad }))).await.invalid("sort_column");
    }
}

async fn roles_of_a_shared_view_must_exist(server: Server) {
    let admin = server.admin();
    let role = admin.post("/roles", json!({ "name": "Office" })).await.created("role");
    let shared = created(&admin, json!({ "visibility": "shared", "role_ids": [role["id"]] })).await;
    assert_eq!(shared["role_ids"], json!([role["id"]]));
    for bad in [json!([999]), json!(["x"]), json!(1), json!([1.5]), json!([9_223_372_036_854_775_807_u64])] {
        admin.post("/custom_views", view(json!({ "role_ids": bad }))).await.invalid("role_ids");
    }
}

async fn only_administrators_can_create_system_views(server: Server) {
    let (_, user) = server.user(&["users.manage", "settings.manage"], &["*"]).await;
    user.post("/custom_views", view(json!({ "visibility": "system" }))).await.invalid("visibility");
    let own = created(&user, json!({})).await;
    user.put(&path(&own), json!({ "visibility": "system" })).await.invalid("visibility");
    created(&server.admin(), json!({ "visibility": "system" })).await;
}

async fn creator_of_a_view_is_the_caller_and_ignores_the_body(server: Server) {
    let (user, client) = server.user(&[], &["custom_views:write"]).await;
    assert_eq!(created(&client, json!({ "user_id": 1 })).await["user_id"], user["id"]);
}

async fn creating_a_view_requires_the_ability_custom_views_write(server: Server) {
    let reader = server.able(&["custom_views:read"]).await;
    reader.post("/custom_views", view(json!({}))).await.refused(403, "ability_missing");
}
