//! Order of lists: text case-insensitively, then by code point; NULL first; the id last.

use serde_json::json;

use super::ids;
use crate::support::{Specimens, on_both};

on_both!(
    default_order_is_by_id,
    leading_minus_sorts_descending,
    null_sorts_as_the_smallest_value,
    text_is_sorted_case_insensitively_then_by_code_point,
    decimals_are_sorted_exactly,
    id_is_always_the_last_sort_key,
    sort_by_an_unsupported_field_is_ignored,
    last_of_several_sort_parameters_applies,
    pages_of_equal_sort_values_never_overlap,
);

const BY_ID: [i64; 10] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

async fn default_order_is_by_id(specimens: Specimens) {
    assert_eq!(ids(&specimens.admin(), &[]).await, BY_ID);
}

async fn leading_minus_sorts_descending(specimens: Specimens) {
    let client = specimens.admin();
    assert_eq!(ids(&client, &[("sort", "-id")]).await, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    specimens.reverse_creation_times("specimens").await;
    assert_eq!(ids(&client, &[("sort", "-created_at")]).await, BY_ID);
    assert_eq!(ids(&client, &[("sort", "created_at")]).await, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
}

async fn null_sorts_as_the_smallest_value(specimens: Specimens) {
    let client = specimens.admin();
    let cases: [(&str, [i64; 10]); 8] = [
        ("qty", [3, 4, 2, 9, 1, 6, 10, 5, 8, 7]),
        ("-qty", [7, 8, 5, 10, 1, 6, 9, 2, 4, 3]),
        ("active", [3, 7, 2, 5, 9, 1, 4, 6, 8, 10]),
        ("-active", [1, 4, 6, 8, 10, 2, 5, 9, 3, 7]),
        ("group_id", [5, 8, 1, 2, 9, 3, 4, 10, 6, 7]),
        ("-group_id", [6, 7, 3, 4, 10, 1, 2, 9, 5, 8]),
        ("sku", [3, 4, 10, 6, 1, 2, 8, 7, 9, 5]),
        ("-sku", [5, 9, 7, 8, 2, 1, 6, 10, 4, 3]),
    ];
    for (sort, expected) in cases {
        assert_eq!(ids(&client, &[("sort", sort)]).await, expected, "{sort}");
    }
}

async fn text_is_sorted_case_insensitively_then_by_code_point(specimens: Specimens) {
    let client = specimens.admin();
    // NULL, empty, then 50% off, a,b, a_c, abc, back\slash, Lamp, lamp stand, Äpfel: `,` < `_` < `b`, and Ä after z.
    assert_eq!(ids(&client, &[("sort", "name")]).await, [8, 7, 5, 10, 3, 4, 6, 1, 2, 9]);
    assert_eq!(ids(&client, &[("sort", "-name")]).await, [9, 2, 1, 6, 4, 3, 10, 5, 7, 8]);
    // 11 to 18: texts that differ only in case are sorted by code point, capitals first.
    for name in ["lamp", "LAMP", "lAMP", "ΟΔΟΣ", "οδος", "οδοσ", "zebra", "ÄPFEL"] {
        client.post("/specimens", json!({ "name": name })).await.created("specimen");
    }
    let expected = [8, 7, 5, 10, 3, 4, 6, 12, 1, 13, 11, 2, 17, 18, 9, 14, 15, 16];
    assert_eq!(ids(&client, &[("sort", "name")]).await, expected);
    let mut backwards = expected;
    backwards.reverse();
    assert_eq!(ids(&client, &[("sort", "-name")]).await, backwards);
}

async fn decimals_are_sorted_exactly(specimens: Specimens) {
    let client = specimens.admin();
    assert_eq!(ids(&client, &[("sort", "rate")]).await, [5, 9, 10, 3, 2, 6, 1, 4, 7, 8]);
    assert_eq!(ids(&client, &[("sort", "-rate")]).await, [8, 7, 4, 1, 2, 6, 3, 10, 9, 5]);
}

async fn id_is_always_the_last_sort_key(specimens: Specimens) {
    let client = specimens.admin();
    specimens.sql("UPDATE specimens SET name = 'same', qty = 1").await;
    for sort in ["name", "-name", "qty", "-qty", "size", "-bought_on"] {
        assert_eq!(ids(&client, &[("sort", sort)]).await, BY_ID, "{sort}");
    }
}

async fn sort_by_an_unsupported_field_is_ignored(specimens: Specimens) {
    let client = specimens.admin();
    let unsupported = [
        "nope",
        "-nope",
        "",
        "-",
        "--name",
        "+name",
        " name",
        "Name",
        "name,qty",
        "custom_fields",
        "cf.nope",
        "cf.",
        "name desc",
        "product_group.",
        "1",
        "id;",
        "deleted_at",
    ];
    for sort in unsupported {
        assert_eq!(ids(&client, &[("sort", sort)]).await, BY_ID, "{sort:?}");
    }
}

async fn last_of_several_sort_parameters_applies(specimens: Specimens) {
    assert_eq!(ids(&specimens.admin(), &[("sort", "name"), ("sort", "-rate")]).await, [8, 7, 4, 1, 2, 6, 3, 10, 9, 5]);
}

async fn pages_of_equal_sort_values_never_overlap(specimens: Specimens) {
    let client = specimens.admin();
    for sort in ["active", "-group_id", "size", "cf.vip"] {
        let mut seen = Vec::new();
        for page in ["1", "2", "3", "4"] {
            seen.extend(ids(&client, &[("sort", sort), ("per_page", "3"), ("page", page)]).await);
        }
        assert_eq!(seen, ids(&client, &[("sort", sort)]).await, "{sort}");
        seen.sort_unstable();
        assert_eq!(seen, BY_ID, "{sort}");
    }
}
