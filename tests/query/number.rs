//! Numbers in filters: exact comparison, also with numbers that the column cannot hold.

use super::{expect, ids};
use crate::support::{Specimens, on_both};

on_both!(
    decimals_are_exact_with_18_digits,
    number_with_more_places_than_the_column_is_compared_exactly,
    number_beyond_the_column_range_is_compared_exactly,
    numbers_are_trimmed_and_may_have_an_exponent,
    text_that_is_not_a_number_is_rejected,
    ids_beyond_every_record_find_nothing,
    number_that_json_cannot_represent_exactly_is_rejected_in_filters,
);

const ALL: [i64; 10] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const NONE: [i64; 0] = [];

async fn decimals_are_exact_with_18_digits(specimens: Specimens) {
    let cases: [(&str, &str, &[i64]); 11] = [
        ("q[rate_eq]", "1234567890.12345678", &[7]),
        ("q[rate_eq]", "1234567890.12345679", &[8]),
        ("q[rate_gt]", "1234567890.12345678", &[8]),
        ("q[rate_gteq]", "1234567890.12345679", &[8]),
        ("q[rate_lt]", "0.1", &[5]),
        ("q[rate_eq]", "0.30000000", &[10]),
        ("q[rate_eq]", "0.00000001", &[5]),
        ("q[rate_not_eq]", "9.5", &[1, 3, 4, 5, 7, 8, 9, 10]),
        ("q[rate_in]", "1234567890.12345678,0.00000001", &[5, 7]),
        ("q[rate_gt]", "9.50000000", &[1, 4, 7, 8]),
        ("q[rate_gt]", "9.49999999", &[1, 2, 4, 6, 7, 8]),
    ];
    expect(&specimens.admin(), &cases).await;
}

async fn number_with_more_places_than_the_column_is_compared_exactly(specimens: Specimens) {
    let cases: [(&str, &str, &[i64]); 13] = [
        ("q[rate_eq]", "9.500000001", &NONE),
        ("q[rate_not_eq]", "9.500000001", &ALL),
        ("q[rate_gt]", "9.500000001", &[1, 4, 7, 8]),
        ("q[rate_gteq]", "9.499999999", &[1, 2, 4, 6, 7, 8]),
        ("q[rate_lt]", "0.000000011", &[5]),
        ("q[rate_in]", "9.5000000001,0.1", &[9]),
        ("q[rate_not_in]", "9.5000000001", &ALL),
        ("q[qty_gt]", "4.5", &[1, 5, 6, 7, 8, 10]),
        ("q[qty_lteq]", "4.5", &[2, 4, 9]),
        ("q[qty_lt]", "-0.5", &[4]),
        ("q[qty_gteq]", "-1.5", &[1, 2, 4, 5, 6, 7, 8, 9, 10]),
        ("q[qty_eq]", "5.0", &[1, 6]),
        ("q[qty_eq]", "5.5", &NONE),
    ];
    expect(&specimens.admin(), &cases).await;
}

async fn number_beyond_the_column_range_is_compared_exactly(specimens: Specimens) {
    let with_qty = [1, 2, 4, 5, 6, 7, 8, 9, 10];
    let cases: [(&str, &str, &[i64]); 17] = [
        ("q[qty_lt]", "2147483648", &with_qty),
        ("q[qty_gt]", "-99999999999999999999", &with_qty),
        ("q[qty_eq]", "99999999999999999999", &NONE),
        ("q[qty_gt]", "9223372036854775807", &NONE),
        ("q[qty_in]", "5,99999999999999999999", &[1, 6]),
        ("q[rate_lt]", "10000000000", &ALL),
        ("q[rate_gt]", "1e400", &NONE),
        ("q[rate_gt]", "1e99999999999", &NONE),
        ("q[rate_lt]", "1e4001", &ALL),
        ("q[rate_gt]", "-1e99999", &ALL),
        ("q[rate_lteq]", "1e400", &ALL),
        ("q[rate_gt]", "-1e400", &ALL),
        ("q[rate_eq]", "92233720368547758.07", &NONE),
        ("q[rate_lt]", "92233720368.54775807", &ALL),
        ("q[id_lt]", "9223372036854775808", &ALL),
        ("q[id_gteq]", "-9223372036854775808", &ALL),
        ("q[id_not_eq]", "9223372036854775808", &ALL),
    ];
    expect(&specimens.admin(), &cases).await;
}

async fn numbers_are_trimmed_and_may_have_an_exponent(specimens: Specimens) {
    let cases: [(&str, &str, &[i64]); 8] = [
        ("q[qty_eq]", " 5 ", &[1, 6]),
        ("q[qty_eq]", "+5", &[1, 6]),
        ("q[qty_eq]", "005", &[1, 6]),
        ("q[qty_eq]", "1e2", &[7]),
        ("q[qty_eq]", "50E-1", &[1, 6]),
        ("q[rate_eq]", "1e-8", &[5]),
        ("q[rate_eq]", ".1", &[9]),
        ("q[rate_eq]", "\t100.\n", &[4]),
    ];
    expect(&specimens.admin(), &cases).await;
}

async fn text_that_is_not_a_number_is_rejected(specimens: Specimens) {
    let client = specimens.admin();
    let bad =
        ["five", "1,5", "0x10", "NaN", "Infinity", "1e", "--1", "1_000", "1 000", ".", "-", "5;", "٥", "1e1.5", "1e+"];
    for value in bad {
        for parameter in ["q[qty_eq]", "q[rate_gt]", "q[id_not_eq]", "q[group_id_lt]"] {
            let problem = client.list("/specimens", &[(parameter, value)]).await.invalid(parameter);
            assert!(problem.starts_with("must be"), "{parameter}={value}: {problem}");
        }
    }
    client.list("/specimens", &[("q[qty_in]", "1,x")]).await.invalid("q[qty_in]");
}

async fn ids_beyond_every_record_find_nothing(specimens: Specimens) {
    let client = specimens.admin();
    for id in ["0", "-1", "11", "2147483648", "9223372036854775807", "9223372036854775808"] {
        assert_eq!(ids(&client, &[("q[id_eq]", id)]).await, NONE, "{id}");
        assert_eq!(ids(&client, &[("q[group_id_eq]", id)]).await, NONE, "{id}");
    }
}

async fn number_that_json_cannot_represent_exactly_is_rejected_in_filters(specimens: Specimens) {
    let client = specimens.admin();
    let filter = |value: &str| format!(r#"[{{"field":"rate","predicate":"eq","value":{value}}}]"#);
    let problem = client.list("/specimens", &[("filters", &filter("1234567890.12345679"))]).await.invalid("filters");
    assert!(problem.contains("too many digits"), "{problem}");
    assert_eq!(ids(&client, &[("filters", &filter("\"1234567890.12345679\""))]).await.len(), 1);
    assert_eq!(ids(&client, &[("filters", &filter("0.1"))]).await, [9]);
}
