//! Saved views applied to lists by `view_id`.

use serde_json::{Value, json};

use super::ids;
use crate::support::{Answer, Client, Specimens, keys, on_both};

on_both!(
    view_returns_only_its_columns_and_the_id,
    meta_contains_the_id_and_name_of_the_view,
    view_filters_are_combined_from_left_to_right,
    first_filter_uses_only_the_negation_of_its_logic,
    request_filters_are_combined_with_the_view_by_and,
    request_filter_replaces_view_filters_of_the_same_field_and_predicate,
    view_sort_applies_unless_the_request_sorts,
    view_page_size_applies_unless_the_request_sets_one,
    custom_field_columns_are_members_of_custom_fields,
    view_still_works_after_a_column_is_removed,
    view_whose_filter_field_is_removed_or_has_another_type_is_rejected,
    view_with_a_filter_that_the_caller_may_not_use_is_rejected,
    includes_and_fields_can_be_combined_with_a_view,
    view_filter_equals_the_same_query_parameter,
    every_predicate_of_the_specification_works_in_a_view_filter,
    unusable_view_is_rejected_and_never_ignored,
    lists_of_other_resources_accept_views,
);

/// Saves a view of the specimens' names with further fields and returns its id.
async fn save(client: &Client, fields: Value) -> String {
    let mut view = json!({ "name": "Mine", "entity_type": "specimens", "columns": ["name"] });
    view.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
    client.post("/custom_views", view).await.created("custom_view")["id"].to_string()
}

/// Filters of `[logic, field, predicate, value]`.
fn filters(list: &[[&str; 4]]) -> Value {
    let filter = |[logic, field, predicate, value]: &[&str; 4]| json!({ "logic": logic, "field": field, "predicate": predicate, "value": value });
    json!({ "filters": list.iter().map(filter).collect::<Vec<_>>() })
}

async fn found(client: &Client, list: &[[&str; 4]]) -> Vec<i64> {
    let id = save(client, filters(list)).await;
    ids(client, &[("view_id", &id)]).await
}

async fn view_returns_only_its_columns_and_the_id(specimens: Specimens) {
    let client = specimens.admin();
    let id = save(&client, json!({ "columns": ["rate", "name", "created_at"] })).await;
    let records = client.list("/specimens", &[("view_id", &id)]).await.records("specimens");
    assert_eq!(records.len(), 10);
    let expected = json!({ "id": 1, "name": "Lamp", "rate": "10.50000000", "created_at": "2026-01-01T00:00:00Z" });
    assert_eq!(records[0], expected);
    let id = save(&client, json!({ "columns": ["id"] })).await;
    let records = client.list("/specimens", &[("view_id", &id)]).await.records("specimens");
    assert_eq!(records[9], json!({ "id": 10 }));
}

async fn meta_contains_the_id_and_name_of_the_view(specimens: Specimens) {
    let client = specimens.admin();
    let name = "\"Ä\\\" </view>\n";
    let id = save(&client, json!({ "name": name })).await;
    let body = client.list("/specimens", &[("view_id", &id)]).await.ok();
    let view = json!({ "id": id.parse::<i64>().expect("an id"), "name": name });
    assert_eq!(body["meta"], json!({ "total": 10, "per_page": 20, "page": 1, "view": view }));
    let without = client.get("/specimens").await.ok();
    assert_eq!(keys(&without["meta"]), ["page", "per_page", "total"]);
}

async fn view_filters_are_combined_from_left_to_right(specimens: Specimens) {
    let client = specimens.admin();
    let one = ["and", "group_id", "eq", "1"];
    let cases: [(&[[&str; 4]], &[i64]); 7] = [
        (&[one, ["or", "group_id", "eq", "2"], ["and", "active", "true", "1"]], &[1, 4, 10]),
        (&[["and", "active", "true", "1"], one, ["or", "group_id", "eq", "2"]], &[1, 3, 4, 10]),
        (&[["and", "active", "true", "1"], ["nand", "qty", "lteq", "5"]], &[8, 10]),
        (&[one, ["nor", "qty", "lteq", "10"]], &[1, 2, 7, 8, 9]),
        (&[one, ["nand", "name", "cont", "lamp"], ["or", "id", "eq", "5"]], &[5, 9]),
        (&[one, ["or", "id", "eq", "5"], ["nand", "name", "cont", "lamp"]], &[5, 9]),
        (&[one, ["and", "group_id", "eq", "2"]], &[]),
    ];
    for (list, expected) in cases {
        assert_eq!(found(&client, list).await, expected, "{list:?}");
    }
}

async fn first_filter_uses_only_the_negation_of_its_logic(specimens: Specimens) {
    let client = specimens.admin();
    let filter = |logic| [logic, "group_id", "eq", "1"];
    for (logic, expected) in [("and", [1, 2, 9].as_slice()), ("or", &[1, 2, 9])] {
        assert_eq!(found(&client, &[filter(logic)]).await, expected, "{logic}");
    }
    // NULL is excluded from the negation too, as in SQL.
    for logic in ["nand", "nor"] {
        assert_eq!(found(&client, &[filter(logic)]).await, [3, 4, 6, 7, 10], "{logic}");
    }
}

async fn request_filters_are_combined_with_the_view_by_and(specimens: Specimens) {
    let client = specimens.admin();
    let id = save(&client, filters(&[["and", "group_id", "eq", "1"], ["or", "group_id", "eq", "2"]])).await;
    assert_eq!(ids(&client, &[("view_id", &id), ("q[active_true]", "1")]).await, [1, 4, 10]);
    assert_eq!(ids(&client, &[("view_id", &id), ("q[qty_gt]", "4"), ("q[group_id_in]", "1,3")]).await, [1]);
}

async fn request_filter_replaces_view_filters_of_the_same_field_and_predicate(specimens: Specimens) {
    let client = specimens.admin();
    let id = save(&client, filters(&[["and", "group_id", "eq", "1"], ["and", "active", "true", "1"]])).await;
    assert_eq!(ids(&client, &[("view_id", &id)]).await, [1]);
    assert_eq!(ids(&client, &[("view_id", &id), ("q[group_id_eq]", "2")]).await, [4, 10]);
    // Another predicate on the field is an additional condition.
    assert_eq!(ids(&client, &[("view_id", &id), ("q[group_id_in]", "2")]).await, [0; 0]);
    assert_eq!(ids(&client, &[("view_id", &id), ("q[active_true]", "0")]).await, [2, 9]);
    // Both spellings of a relation are the same field.
    let id = save(&client, filters(&[["and", "product_group.name", "eq", "Audio"]])).await;
    assert_eq!(ids(&client, &[("view_id", &id), ("q[productGroup.name_eq]", "Rigging")]).await, [6, 7]);
    assert_eq!(ids(&client, &[("view_id", &id), ("q[group_id.name_eq]", "Rigging")]).await, [6, 7]);
    let id = save(&client, filters(&[["and", "name_or_sku", "eq", "Lamp"]])).await;
    assert_eq!(ids(&client, &[("view_id", &id), ("q[sku_or_name_eq]", "abc")]).await, [4]);
    let id =
        save(&client, filters(&[["and", "name", "eq", "Lamp"], ["or", "name", "eq", "abc"], ["or", "qty", "eq", "7"]]))
            .await;
    assert_eq!(ids(&client, &[("view_id", &id)]).await, [1, 4, 10]);
    assert_eq!(ids(&client, &[("view_id", &id), ("q[name_eq]", "a,b")]).await, [10], "both filters are replaced");
}

async fn view_sort_applies_unless_the_request_sorts(specimens: Specimens) {
    let client = specimens.admin();
    let id = save(&client, json!({ "sort_column": "rate", "sort_direction": "desc" })).await;
    let by_rate = [8, 7, 4, 1, 2, 6, 3, 10, 9, 5];
    assert_eq!(ids(&client, &[("view_id", &id)]).await, by_rate);
    assert_eq!(ids(&client, &[("view_id", &id), ("sort", "")]).await, by_rate, "a blank one is none");
    assert_eq!(ids(&client, &[("view_id", &id), ("sort", "-id")]).await, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    let id = save(&client, json!({ "sort_column": "cf.rig" })).await;
    assert_eq!(ids(&client, &[("view_id", &id)]).await, [3, 4, 6, 7, 1, 10, 5, 2, 9, 8]);
}

async fn view_page_size_applies_unless_the_request_sets_one(specimens: Specimens) {
    let client = specimens.admin();
    let id = save(&client, json!({ "per_page": 3 })).await;
    let body = client.list("/specimens", &[("view_id", &id), ("page", "2")]).await.ok();
    assert_eq!([&body["meta"]["total"], &body["meta"]["per_page"], &body["meta"]["page"]], [10, 3, 2]);
    assert_eq!(body["specimens"].as_array().map(Vec::len), Some(3));
    assert_eq!(ids(&client, &[("view_id", &id), ("per_page", "7")]).await.len(), 7);
    client.list("/specimens", &[("view_id", &id), ("per_page", "0")]).await.invalid("per_page");
}

async fn custom_field_columns_are_members_of_custom_fields(specimens: Specimens) {
    let client = specimens.admin();
    let id = save(&client, json!({ "columns": ["name", "cf.power", "cf.vip"] })).await;
    let records = client.list("/specimens", &[("view_id", &id), ("q[id_in]", "1,6,3")]).await.records("specimens");
    assert_eq!(records[0], json!({ "id": 1, "name": "Lamp", "custom_fields": { "power": "150W" } }));
    assert_eq!(records[1], json!({ "id": 3, "name": "a_c", "custom_fields": {} }));
    assert_eq!(records[2], json!({ "id": 6, "name": "back\\slash", "custom_fields": { "vip": false } }));
}

async fn view_still_works_after_a_column_is_removed(specimens: Specimens) {
    let client = specimens.admin();
    let fields = json!({
        "columns": ["name", "cf.rig"], "sort_column": "cf.rig",
        "filters": [{ "field": "qty", "predicate": "gt", "value": 9 }],
    });
    let id = save(&client, fields).await;
    remove_rig(&client).await;
    let answer = client.list("/specimens", &[("view_id", &id)]).await;
    assert_eq!(answer.column("specimens", "id"), [5, 7, 8]);
    let keys = |record: &Value| record.as_object().expect("a record").keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&answer.records("specimens")[0]), ["id", "name"], "the values that are left are not shown either");
    specimens.sql("UPDATE custom_views SET columns = '[\"name\",\"colour\"]', sort_column = 'colour'").await;
    let answer = client.list("/specimens", &[("view_id", &id)]).await;
    assert_eq!(answer.records("specimens")[0], json!({ "id": 5, "name": "50% off" }));
}

/// Deletes the custom field `rig`.
async fn remove_rig(client: &Client) {
    let definition = client.get("/custom_fields?q[name_eq]=rig").await.records("custom_fields").remove(0);
    client.delete(&format!("/custom_fields/{}", definition["id"])).await.deleted();
}

/// The answers of a list, its summary and its exports with a view.
async fn doors(client: &Client, list: &str, id: &str) -> Vec<Answer> {
    let summary = format!("{list}/summary");
    let mut answers = vec![
        client.list(list, &[("view_id", id)]).await,
        client.list(list, &[("view_id", id), ("fields", "id"), ("cursor", "")]).await,
        client.list(&summary, &[("view_id", id), ("max", "id")]).await,
    ];
    for format in ["text/csv", "application/x-ndjson"] {
        answers.push(client.with("accept", format).list(list, &[("view_id", id)]).await);
    }
    answers
}

async fn view_whose_filter_field_is_removed_or_has_another_type_is_rejected(specimens: Specimens) {
    let client = specimens.admin();
    for logic in ["and", "or"] {
        let id = save(&client, filters(&[["and", "qty", "gt", "1"], [logic, "cf.rig", "gt", "9"]])).await;
        for answer in doors(&client, "/specimens", &id).await {
            answer.status(200);
        }
    }
    let views = ["1", "2"];
    remove_rig(&client).await;
    for id in views {
        for answer in doors(&client, "/specimens", id).await {
            let problem = answer.invalid("view_id");
            assert!(
                problem.starts_with("filters by `cf.rig_gt`: refers to an unknown custom field `rig`"),
                "{problem}"
            );
        }
    }
    let definition = json!({ "entity_type": "specimens", "name": "rig", "field_type": "boolean" });
    client.post("/custom_fields", definition).await.created("custom_field");
    for id in views {
        for answer in doors(&client, "/specimens", id).await {
            let problem = answer.invalid("view_id");
            assert!(problem.starts_with("filters by `cf.rig_gt`: `cf.rig` does not support"), "{problem}");
        }
    }
    // All problems are reported together.
    let fields = [("view_id", "1"), ("q[nothing_eq]", "1"), ("per_page", "x")];
    assert_eq!(client.list("/specimens", &fields).await.invalid_fields(), ["per_page", "q[nothing_eq]", "view_id"]);
}

async fn view_with_a_filter_that_the_caller_may_not_use_is_rejected(specimens: Specimens) {
    let admin = specimens.admin();
    let class = admin.post("/tax_classes", json!({ "name": "Reduced", "percentage": 7 })).await.created("tax_class");
    admin.post("/products", json!({ "name": "Book", "tax_class_id": class["id"] })).await.created("product");
    admin.post("/products", json!({ "name": "Lamp" })).await.created("product");
    let filter = json!({ "field": "tax_class.name", "predicate": "eq", "value": "Reduced" });
    let fields = json!({ "entity_type": "products", "visibility": "system", "filters": [filter] });
    let id = save(&admin, fields).await;
    assert_eq!(admin.list("/products", &[("view_id", &id)]).await.column("products", "name"), ["Book"]);
    let (_, reader) = specimens.user(&[], &["products:read", "custom_views:read", "custom_views:write"]).await;
    let reason = "filters by `tax_class.name_eq`: is on tax_classes, which requires the ability `tax_classes:read`";
    for answer in doors(&reader, "/products", &id).await {
        assert_eq!(answer.invalid("view_id"), reason);
    }
    assert_eq!(reader.get("/products").await.ok()["meta"]["total"], 2, "the list itself is readable");
    let (_, both) = specimens.user(&[], &["products:read", "custom_views:read", "tax_classes:read"]).await;
    for answer in doors(&both, "/products", &id).await {
        answer.status(200);
    }
}

async fn includes_and_fields_can_be_combined_with_a_view(specimens: Specimens) {
    let client = specimens.admin();
    let id = save(&client, json!({})).await;
    let records =
        client.list("/specimens", &[("view_id", &id), ("include", "productGroup")]).await.records("specimens");
    assert_eq!(keys(&records[0]), ["id", "name", "product_group"]);
    assert_eq!(records[0]["product_group"]["name"], "Lighting");
    assert_eq!(records[4]["product_group"], Value::Null);
}

async fn view_filter_equals_the_same_query_parameter(specimens: Specimens) {
    let client = specimens.admin();
    let cases = [
        (json!({ "field": "qty", "predicate": "in", "value": "5,7" }), vec![1, 6, 10]),
        (json!({ "field": "qty", "predicate": "in", "value": "5,7", "logic": null }), vec![1, 6, 10]),
        (json!({ "field": "name", "predicate": "present", "logic": "NOR" }), vec![7, 8]),
        (json!({ "field": "qty", "predicate": "in", "value": [5, "7"] }), vec![1, 6, 10]),
        (json!({ "field": "name", "predicate": "in", "value": ["a,b"] }), vec![10]),
        (json!({ "field": "name", "predicate": "in", "value": "a,b" }), vec![]),
        (json!({ "field": "name", "predicate": "present" }), vec![1, 2, 3, 4, 5, 6, 9, 10]),
        (json!({ "field": "name", "predicate": "null", "value": null }), vec![8]),
        (json!({ "field": "name", "predicate": "blank", "value": "false" }), vec![1, 2, 3, 4, 5, 6, 9, 10]),
        (json!({ "field": "active", "predicate": "true", "value": true }), vec![1, 4, 6, 8, 10]),
        (json!({ "field": "active", "predicate": "false" }), vec![2, 5, 9]),
        (json!({ "field": "rate", "predicate": "eq", "value": 9.5 }), vec![2, 6]),
        (json!({ "field": "group.name", "predicate": "start", "value": "aud" }), vec![3, 4, 10]),
        (json!({ "field": "name_or_sku", "predicate": "cont", "value": "lmp" }), vec![1, 2, 8]),
        (json!({ "field": "cf.vip", "predicate": "not_null" }), vec![5, 6]),
        (
            json!({ "field": "name", "predicate": "eq", "value": "Lamp", "logic": "nand" }),
            vec![2, 3, 4, 5, 6, 7, 9, 10],
        ),
    ];
    for (filter, expected) in cases {
        let id = save(&client, json!({ "filters": [filter] })).await;
        assert_eq!(ids(&client, &[("view_id", &id)]).await, expected, "{filter}");
    }
}

async fn every_predicate_of_the_specification_works_in_a_view_filter(specimens: Specimens) {
    let client = specimens.admin();
    let cases: [([&str; 3], &[i64]); 18] = [
        (["name", "eq", "Lamp"], &[1]),
        (["qty", "not_eq", "5"], &[2, 4, 5, 7, 8, 9, 10]),
        (["name", "cont", "lamp"], &[1, 2]),
        (["name", "not_cont", "lamp"], &[3, 4, 5, 6, 7, 9, 10]),
        (["qty", "gt", "20"], &[7]),
        (["qty", "lt", "0"], &[4]),
        (["qty", "gteq", "20"], &[7, 8]),
        (["qty", "lteq", "0"], &[2, 4]),
        (["active", "true", "true"], &[1, 4, 6, 8, 10]),
        (["active", "false", "true"], &[2, 5, 9]),
        (["qty", "null", "true"], &[3]),
        (["qty", "not_null", "true"], &[1, 2, 4, 5, 6, 7, 8, 9, 10]),
        (["qty", "in", "3,7"], &[9, 10]),
        (["qty", "not_in", "5,10,20,100"], &[2, 4, 9, 10]),
        (["name", "start", "LAM"], &[1, 2]),
        (["name", "end", "OFF"], &[5]),
        (["sku", "present", "true"], &[1, 2, 5, 6, 7, 8, 9, 10]),
        (["sku", "blank", "true"], &[3, 4]),
    ];
    for ([field, predicate, value], expected) in cases {
        assert_eq!(found(&client, &[["and", field, predicate, value]]).await, expected, "{field} {predicate} {value}");
    }
}

async fn unusable_view_is_rejected_and_never_ignored(specimens: Specimens) {
    let client = specimens.admin();
    let id = save(&client, json!({})).await;
    for bad in ["0", "999", "-1", "x", "", "1.5", "99999999999999999999", "1 OR 1=1"] {
        let answer = client.list("/specimens", &[("view_id", bad)]).await;
        assert_eq!(answer.invalid_fields(), ["view_id"], "{bad}");
    }
    client.list("/products", &[("view_id", &id)]).await.invalid("view_id");
    let (_, other) = specimens.user(&[], &["specimens:read"]).await;
    other.list("/specimens", &[("view_id", &id)]).await.invalid("view_id");
    client.delete(&format!("/custom_views/{id}")).await.deleted();
    client.list("/specimens", &[("view_id", &id)]).await.invalid("view_id");
}

async fn lists_of_other_resources_accept_views(specimens: Specimens) {
    let client = specimens.admin();
    let fields = json!({
        "entity_type": "currencies", "columns": ["code"], "per_page": 2, "sort_column": "code",
        "filters": [{ "field": "name", "predicate": "cont", "value": "pound" }],
    });
    let id = save(&client, fields).await;
    let answer = client.list("/currencies", &[("view_id", &id)]).await;
    assert_eq!(answer.column("currencies", "code"), ["EGP", "FKP"]);
    assert_eq!(keys(&answer.records("currencies")[0]), ["code", "id"]);
    let fields = json!({ "entity_type": "users", "columns": ["email"] });
    let id = save(&client, fields).await;
    let users = client.list("/users", &[("view_id", &id)]).await.records("users");
    assert_eq!(users, [json!({ "id": 1, "email": "admin@example.com" })]);
}
