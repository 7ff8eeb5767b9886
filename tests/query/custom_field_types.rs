//! Types of custom fields: case sensitivity, and values of other types.

use serde_json::json;

use super::custom_field_indexes::{add, define, ids_of};
use crate::support::{Server, on_both};

on_both!(
    choice_filter_is_case_insensitive,
    number_too_long_for_a_decimal_never_matches_a_decimal_filter,
    redefinition_by_another_process_applies_immediately,
);

async fn choice_filter_is_case_insensitive(server: Server) {
    let admin = server.admin();
    let definition = define(&admin, "field", "choice").await;
    let (new, worn) = (add(&admin, json!("new")).await, add(&admin, json!("Worn")).await);
    assert_eq!(ids_of(&admin, &[("q[cf.field_eq]", "NEW")]).await, [new]);
    assert_eq!(ids_of(&admin, &[("q[cf.field_not_eq]", "worn ")]).await, [new]);
    assert_eq!(ids_of(&admin, &[("q[cf.field_in]", "NEW,worn")]).await, [new, worn]);
    assert_eq!(ids_of(&admin, &[("q[cf.field_eq]", "old")]).await, [0; 0]);
    assert_eq!(ids_of(&admin, &[("q[cf.field_lt]", "O")]).await, [new]);
    // Removed or respelled choices do not change the records that have them.
    let path = format!("/custom_fields/{}", definition["id"]);
    for choices in [json!(["new", "WORN"]), json!(["new"])] {
        admin.put(&path, json!({ "choices": choices })).await.record("custom_field");
        for text in ["Worn", "worn", "WORN"] {
            assert_eq!(ids_of(&admin, &[("q[cf.field_eq]", text)]).await, [worn], "{text}");
            assert_eq!(ids_of(&admin, &[("q[cf.field_not_in]", text)]).await, [new], "{text}");
        }
    }
}

async fn number_too_long_for_a_decimal_never_matches_a_decimal_filter(server: Server) {
    let admin = server.admin();
    let definition = define(&admin, "field", "integer").await;
    let mut created = Vec::new();
    for number in [9_999_999_999_i64, 10_000_000_000, 92_233_720_368, 5_012_345_678_900] {
        created.push(add(&admin, json!(number)).await);
    }
    admin.delete(&format!("/custom_fields/{}", definition["id"])).await.deleted();
    define(&admin, "field", "decimal").await;
    for (predicate, value, expected) in [
        ("gt", "0", &created[..1]),
        ("not_null", "1", &created[..1]),
        ("null", "1", &created[1..]),
        ("eq", "9999999999", &created[..1]),
    ] {
        assert_eq!(ids_of(&admin, &[(&format!("q[cf.field_{predicate}]"), value)]).await, expected, "{predicate}");
    }
}

async fn redefinition_by_another_process_applies_immediately(server: Server) {
    let second = server.second_node().await;
    let (admin, other) = (server.admin(), second.admin());
    let numbered = vec![("q[cf.field_gt]", "5"), ("sort", "cf.field")];
    let by_cursor = [numbered.clone(), vec![("cursor", "")]].concat();
    let uncounted = [numbered.clone(), vec![("count", "none")]].concat();
    for parameters in [numbered, by_cursor, uncounted] {
        let unknown = async || admin.list("/products", &parameters).await.invalid("q[cf.field_gt]");
        let problem = unknown().await;
        assert!(problem.contains("field"), "it is not defined: {problem}");
        let definition = define(&other, "field", "integer").await;
        // 12 is greater than 5 as a number and less as text. 6 is greater both ways.
        let created = [add(&other, json!(12)).await, add(&other, json!(6)).await];
        for _ in 0..2 {
            assert_eq!(ids_of(&admin, &parameters).await, [created[1], created[0]], "{parameters:?}");
        }
        other.delete(&format!("/custom_fields/{}", definition["id"])).await.deleted();
        let definition = define(&other, "field", "string").await;
        let texts = [add(&other, json!("12")).await, add(&other, json!("6")).await];
        for _ in 0..2 {
            assert_eq!(
                ids_of(&admin, &parameters).await,
                [texts[1]],
                "numbers do not match a text field, {parameters:?}"
            );
        }
        other.delete(&format!("/custom_fields/{}", definition["id"])).await.deleted();
        for _ in 0..2 {
            assert_eq!(unknown().await, problem, "it is gone");
        }
        for id in created.into_iter().chain(texts) {
            other.delete(&format!("/products/{id}")).await.deleted();
        }
    }
    second.stop().await;
}
