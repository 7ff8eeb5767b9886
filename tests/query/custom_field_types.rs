//! What the type of a custom field says of its values: whether case counts, and which are of the type at all.

use serde_json::json;

use super::custom_field_indexes::{add, define, ids_of};
use crate::support::{Server, on_both};

on_both!(
    a_choice_is_asked_for_without_regard_to_case,
    what_is_too_long_for_a_decimal_is_none_whoever_compares_it,
    what_another_process_has_done_to_a_definition_counts_at_once,
);

async fn a_choice_is_asked_for_without_regard_to_case(server: Server) {
    let admin = server.admin();
    let definition = define(&admin, "field", "choice").await;
    let (new, worn) = (add(&admin, json!("new")).await, add(&admin, json!("Worn")).await);
    assert_eq!(ids_of(&admin, &[("q[cf.field_eq]", "NEW")]).await, [new]);
    assert_eq!(ids_of(&admin, &[("q[cf.field_not_eq]", "worn ")]).await, [new]);
    assert_eq!(ids_of(&admin, &[("q[cf.field_in]", "NEW,worn")]).await, [new, worn]);
    assert_eq!(ids_of(&admin, &[("q[cf.field_eq]", "old")]).await, [0; 0]);
    assert_eq!(ids_of(&admin, &[("q[cf.field_lt]", "O")]).await, [new]);
    // Which choices there are says nothing of the records that have one: it may be spelled anew, or be withdrawn.
    let path = format!("/custom_fields/{}", definition["id"]);
    for choices in [json!(["new", "WORN"]), json!(["new"])] {
        admin.put(&path, json!({ "choices": choices })).await.record("custom_field");
        for text in ["Worn", "worn", "WORN"] {
            assert_eq!(ids_of(&admin, &[("q[cf.field_eq]", text)]).await, [worn], "{text}");
            assert_eq!(ids_of(&admin, &[("q[cf.field_not_in]", text)]).await, [new], "{text}");
        }
    }
}

async fn what_is_too_long_for_a_decimal_is_none_whoever_compares_it(server: Server) {
    let admin = server.admin();
    let definition = define(&admin, "field", "integer").await;
    let mut made = Vec::new();
    for number in [9_999_999_999_i64, 10_000_000_000, 92_233_720_368, 5_012_345_678_900] {
        made.push(add(&admin, json!(number)).await);
    }
    admin.delete(&format!("/custom_fields/{}", definition["id"])).await.deleted();
    define(&admin, "field", "decimal").await;
    for (asked, value, expected) in [
        ("gt", "0", &made[..1]),
        ("not_null", "1", &made[..1]),
        ("null", "1", &made[1..]),
        ("eq", "9999999999", &made[..1]),
    ] {
        assert_eq!(ids_of(&admin, &[(&format!("q[cf.field_{asked}]"), value)]).await, expected, "{asked}");
    }
}

async fn what_another_process_has_done_to_a_definition_counts_at_once(server: Server) {
    let beside = server.beside().await;
    let (admin, other) = (server.admin(), beside.admin());
    let numbered = vec![("q[cf.field_gt]", "5"), ("sort", "cf.field")];
    let by_cursor = [numbered.clone(), vec![("cursor", "")]].concat();
    let uncounted = [numbered.clone(), vec![("count", "none")]].concat();
    for asked in [numbered, by_cursor, uncounted] {
        let unknown = async || admin.list("/products", &asked).await.invalid("q[cf.field_gt]");
        let told = unknown().await;
        assert!(told.contains("field"), "nobody has defined it: {told}");
        let definition = define(&other, "field", "integer").await;
        // 12 is more than 5, and as a text less; 6 is more in either way.
        let made = [add(&other, json!(12)).await, add(&other, json!(6)).await];
        for _ in 0..2 {
            assert_eq!(ids_of(&admin, &asked).await, [made[1], made[0]], "{asked:?}");
        }
        other.delete(&format!("/custom_fields/{}", definition["id"])).await.deleted();
        let definition = define(&other, "field", "string").await;
        let texts = [add(&other, json!("12")).await, add(&other, json!("6")).await];
        for _ in 0..2 {
            assert_eq!(ids_of(&admin, &asked).await, [texts[1]], "numbers are none of its values, {asked:?}");
        }
        other.delete(&format!("/custom_fields/{}", definition["id"])).await.deleted();
        for _ in 0..2 {
            assert_eq!(unknown().await, told, "it is gone");
        }
        for id in made.into_iter().chain(texts) {
            other.delete(&format!("/products/{id}")).await.deleted();
        }
    }
    beside.stop().await;
}
