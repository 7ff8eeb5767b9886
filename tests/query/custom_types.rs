//! What the type of a custom field says of its values: whether case counts, and which are of the type at all.

use serde_json::json;

use super::custom::{add, define, ids_of};
use crate::support::{Server, on_both};

on_both!(a_choice_is_asked_for_without_regard_to_case, what_is_too_long_for_a_decimal_is_none_whoever_compares_it,);

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
