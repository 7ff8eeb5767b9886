//! Summaries of lists: aggregates and groups, their filters, exactness and time zones.

use serde_json::{Value, json};

use super::total::insert;
use crate::support::{Client, Server, Specimens, on_both};

on_both!(
    groups_have_exact_aggregates_in_the_order_of_their_keys,
    summary_without_a_group_is_one_group,
    summary_selects_the_records_of_its_list,
    sums_are_exact_beyond_64_bits,
    times_are_grouped_by_periods_of_the_company_zone,
    times_at_the_ends_of_the_calendar_are_grouped,
    dates_are_grouped_by_periods,
    keys_have_the_format_of_a_record,
    custom_fields_are_aggregated_and_grouped,
);

/// The groups of a summary.
pub(super) async fn groups(client: &Client, path: &str, parameters: &[(&str, &str)]) -> Vec<Value> {
    client.list(&format!("{path}/summary"), parameters).await.records("summary")
}

/// The values of one key, each with the number of its records.
pub(super) async fn counts(client: &Client, path: &str, key: &str) -> Vec<(Value, i64)> {
    let groups = groups(client, path, &[("group", key)]).await;
    groups.iter().map(|group| (group["group"][key].clone(), group["count"].as_i64().expect("a count"))).collect()
}

async fn groups_have_exact_aggregates_in_the_order_of_their_keys(specimens: Specimens) {
    let admin = specimens.admin();
    let parameters =
        [("group", "group_id"), ("sum", "qty, rate"), ("avg", "qty"), ("min", "rate"), ("max", "rate,created_at")];
    let expected = json!([
        { "group": { "group_id": null }, "count": 2, "sum": { "qty": "30", "rate": "1234567890.12345680" },
          "min": { "rate": "0.00000001" },
          "max": { "rate": "1234567890.12345679", "created_at": "2026-01-08T00:00:00Z" },
          "avg": { "qty": "15.0000" } },
        { "group": { "group_id": 1 }, "count": 3, "sum": { "qty": "8", "rate": "20.10000000" },
          "min": { "rate": "0.10000000" },
          "max": { "rate": "10.50000000", "created_at": "2026-01-09T00:00:00Z" },
          "avg": { "qty": "2.6667" } },
        { "group": { "group_id": 2 }, "count": 3, "sum": { "qty": "6", "rate": "101.57000000" },
          "min": { "rate": "0.30000000" },
          "max": { "rate": "100.00000000", "created_at": "2026-01-10T00:00:00Z" },
          "avg": { "qty": "3.0000" } },
        { "group": { "group_id": 3 }, "count": 2, "sum": { "qty": "105", "rate": "1234567899.62345678" },
          "min": { "rate": "9.50000000" },
          "max": { "rate": "1234567890.12345678", "created_at": "2026-01-07T00:00:00Z" },
          "avg": { "qty": "52.5000" } },
    ]);
    assert_eq!(Value::from(groups(&admin, "/specimens", &parameters).await), expected);
}

async fn summary_without_a_group_is_one_group(specimens: Specimens) {
    let admin = specimens.admin();
    assert_eq!(groups(&admin, "/specimens", &[]).await, [json!({ "group": {}, "count": 10 })]);
    let none = [("q[qty_gt]", "1000"), ("sum", "qty,rate"), ("min", "qty"), ("max", "created_at"), ("avg", "rate")];
    let expected = json!({
        "group": {}, "count": 0, "sum": { "qty": "0", "rate": "0.00000000" }, "min": { "qty": null },
        "max": { "created_at": null }, "avg": { "rate": null },
    });
    assert_eq!(groups(&admin, "/specimens", &none).await, [expected]);
    let grouped = [("q[qty_gt]", "1000"), ("group", "size")];
    assert_eq!(groups(&admin, "/specimens", &grouped).await, [Value::Null; 0]);
    // A null value takes part in no aggregate, and its record is counted.
    let sparse = [("q[name_eq]", "a_c"), ("sum", "qty"), ("avg", "qty")];
    let expected = json!({ "group": {}, "count": 1, "sum": { "qty": "0" }, "avg": { "qty": null } });
    assert_eq!(groups(&admin, "/specimens", &sparse).await, [expected]);
}

async fn summary_selects_the_records_of_its_list(server: Server) {
    let admin = server.admin();
    let mut deleted = Value::Null;
    for (name, weight) in [("Lamp", "1.5"), ("Stand", "2"), ("Lamp 2", "4"), ("Cable", "8"), ("Case", "16")] {
        let product = json!({ "name": name, "weight": weight, "product_type": "sale" });
        deleted = admin.post("/products", product).await.created("product");
    }
    admin.delete(&format!("/products/{}", deleted["id"])).await.deleted();
    let view = json!({ "name": "Lamps", "entity_type": "products", "columns": ["name"], "sort_column": "name",
        "filters": [{ "field": "name", "predicate": "cont", "value": "lamp" }] });
    let view = admin.post("/custom_views", view).await.created("custom_view");
    let id = view["id"].to_string();
    let filters = json!([{ "field": "name", "predicate": "eq", "value": "Cable" },
        { "field": "weight", "predicate": "lt", "value": 2, "logic": "or" }])
    .to_string();
    for (parameters, count, sum) in [
        (vec![], 4, "15.5000"),
        (vec![("q[name_cont]", "lamp")], 2, "5.5000"),
        (vec![("q[name_cont]", "lamp"), ("q[weight_gt]", "2")], 1, "4.0000"),
        (vec![("filters", &filters)], 2, "9.5000"),
        (vec![("view_id", &id)], 2, "5.5000"),
        (vec![("view_id", &id), ("q[weight_lt]", "2")], 1, "1.5000"),
        (vec![("deleted", "only")], 1, "16.0000"),
    ] {
        let listed = admin.list("/products", &parameters).await.ok()["meta"]["total"].clone();
        let asked = [&parameters[..], &[("sum", "weight")]].concat();
        let answer = admin.list("/products/summary", &asked).await.ok();
        assert_eq!(answer["summary"], json!([{ "group": {}, "count": count, "sum": { "weight": sum } }]), "{asked:?}");
        assert_eq!(listed, count, "{parameters:?}");
        let is_viewed = parameters.iter().any(|(name, _)| *name == "view_id");
        let meta = if is_viewed { json!({ "view": { "id": view["id"], "name": "Lamps" } }) } else { json!({}) };
        assert_eq!(answer["meta"], meta);
    }
    admin.get("/products/summary?view_id=999999").await.invalid("view_id");
}

async fn sums_are_exact_beyond_64_bits(specimens: Specimens) {
    let admin = specimens.admin();
    let (first, last) = (1_000, 1_029);
    insert(&specimens, first, last).await;
    for (half, rate) in [("n % 2 = 0", "9999999999.99999999"), ("n % 2 = 1", "-9999999999.99999998")] {
        for id in first..=last {
            if (id % 2 == 0) == half.ends_with('0') {
                admin.put(&format!("/specimens/{id}"), json!({ "rate": rate, "qty": i32::MAX })).await.ok();
            }
        }
    }
    let of = async |condition: (&str, &str)| {
        let parameters = [("q[id_gteq]", "1000"), condition, ("sum", "rate,qty"), ("avg", "rate,qty")];
        groups(&admin, "/specimens", &parameters).await.remove(0)
    };
    // 15 times the value, which SQLite stores as an integer, exceeds 64 bits.
    let high = of(("q[rate_gt]", "0")).await;
    assert_eq!(
        (&high["sum"]["rate"], &high["avg"]["rate"]),
        (&json!("149999999999.99999985"), &json!("9999999999.999999990000"))
    );
    assert_eq!((&high["sum"]["qty"], &high["avg"]["qty"]), (&json!("32212254705"), &json!("2147483647.0000")));
    let low = of(("q[rate_lt]", "0")).await;
    assert_eq!(
        (&low["sum"]["rate"], &low["avg"]["rate"]),
        (&json!("-149999999999.99999970"), &json!("-9999999999.999999980000"))
    );
    let all = of(("q[id_lteq]", "1029")).await;
    assert_eq!((&all["sum"]["rate"], &all["avg"]["rate"]), (&json!("0.00000015"), &json!("0.000000005000")));
    assert_eq!(all["count"], 30);
}

async fn times_are_grouped_by_periods_of_the_company_zone(server: Server) {
    let admin = server.admin();
    for starts_at in [
        Some("2027-01-03T22:59:59.999Z"), // Sunday of week 53 of 2026 in Berlin
        Some("2027-01-03T23:00:00Z"),     // Monday
        Some("2026-12-31T23:30:00Z"),     // 2027 in Berlin
        Some("2026-03-28T23:00:00Z"),     // 29 March has 23 hours
        Some("2026-03-29T21:59:59Z"),
        Some("2026-03-29T22:00:00Z"),
        Some("2026-10-24T22:00:00Z"), // 25 October has 25 hours
        Some("2026-10-25T22:59:59Z"),
        Some("2026-10-25T23:00:00Z"),
        Some("1893-03-31T22:00:00Z"), // one of the last hours of the local mean time
        None,
    ] {
        admin.post("/activities", json!({ "subject": "A", "starts_at": starts_at })).await.created("activity");
    }
    let set = async |zone: &str| admin.put("/settings", json!({ "timezone": zone })).await.record("settings");
    let labels = async |period: &str| {
        let counts = counts(&admin, "/activities", &format!("starts_at.{period}")).await;
        let label = |(value, count): &(Value, i64)| format!("{}×{count}", value.as_str().unwrap_or("null"));
        counts.iter().map(label).collect::<Vec<_>>().join(" ")
    };
    set("Europe/Berlin").await;
    assert_eq!(
        labels("day").await,
        "null×1 1893-03-31×1 2026-03-29×2 2026-03-30×1 2026-10-25×2 2026-10-26×1 2027-01-01×1 2027-01-03×1 2027-01-04×1"
    );
    assert_eq!(
        labels("week").await,
        "null×1 1893-W13×1 2026-W13×2 2026-W14×1 2026-W43×2 2026-W44×1 2026-W53×2 2027-W01×1"
    );
    assert_eq!(labels("month").await, "null×1 1893-03×1 2026-03×3 2026-10×3 2027-01×3");
    assert_eq!(labels("year").await, "null×1 1893×1 2026×6 2027×3");
    set("UTC").await;
    assert_eq!(
        labels("day").await,
        "null×1 1893-03-31×1 2026-03-28×1 2026-03-29×2 2026-10-24×1 2026-10-25×2 2026-12-31×1 2027-01-03×2"
    );
    set("Pacific/Kiritimati").await;
    assert_eq!(labels("year").await, "null×1 1893×1 2026×6 2027×3");
    let zoned = [("group", "starts_at.month")];
    assert_eq!(
        admin.list("/activities/summary", &zoned).await.ok()["meta"],
        json!({ "timezone": "Pacific/Kiritimati" })
    );
    // A zone that PostgreSQL's own database may lack.
    set("US/Pacific").await;
    assert_eq!(labels("year").await, "null×1 1893×1 2026×7 2027×2");
}

async fn times_at_the_ends_of_the_calendar_are_grouped(server: Server) {
    let admin = server.admin();
    for starts_at in ["0001-01-01T00:00:00Z", "9999-12-31T23:30:00Z"] {
        admin.post("/activities", json!({ "subject": "A", "starts_at": starts_at })).await.created("activity");
    }
    for (zone, labels) in [
        ("UTC", ["0001", "9999"]),
        // Years that a time in UTC cannot have.
        ("America/New_York", ["0000", "9999"]),
        ("Europe/Berlin", ["0001", "+10000"]),
        // A zone without transitions.
        ("Etc/GMT+5", ["0000", "9999"]),
    ] {
        admin.put("/settings", json!({ "timezone": zone })).await.record("settings");
        let expected = labels.map(|label| (json!(label), 1));
        assert_eq!(counts(&admin, "/activities", "starts_at.year").await, expected, "{zone}");
        for period in ["day", "week", "month"] {
            assert_eq!(counts(&admin, "/activities", &format!("starts_at.{period}")).await.len(), 2, "{zone}");
        }
    }
}

async fn dates_are_grouped_by_periods(specimens: Specimens) {
    let admin = specimens.admin();
    for (id, bought_on) in
        [(1, "2024-12-30"), (2, "2024-12-29"), (3, "0001-01-01"), (4, "9999-12-31"), (5, "2024-12-30")]
    {
        admin.put(&format!("/specimens/{id}"), json!({ "bought_on": bought_on })).await.record("specimen");
    }
    let key = "bought_on.week";
    let expected = [
        (Value::Null, 5),
        (json!("0001-W01"), 1),
        (json!("2024-W52"), 1),
        (json!("2025-W01"), 2),
        (json!("9999-W52"), 1),
    ];
    assert_eq!(counts(&admin, "/specimens", key).await, expected);
    let parameters = [("group", "bought_on.year,active"), ("q[bought_on_gt]", "2000-01-01"), ("min", "bought_on")];
    let expected = json!([
        { "group": { "bought_on.year": "2024", "active": false }, "count": 2, "min": { "bought_on": "2024-12-29" } },
        { "group": { "bought_on.year": "2024", "active": true }, "count": 1, "min": { "bought_on": "2024-12-30" } },
        { "group": { "bought_on.year": "9999", "active": true }, "count": 1, "min": { "bought_on": "9999-12-31" } },
    ]);
    let answer = admin.list("/specimens/summary", &parameters).await.ok();
    assert_eq!(answer["summary"], expected);
    assert_eq!(answer["meta"], json!({}), "a date has no time zone");
}

async fn keys_have_the_format_of_a_record(specimens: Specimens) {
    let admin = specimens.admin();
    admin.put("/specimens/1", json!({ "size": "Large", "parent_id": 2, "opens_at": "14:30" })).await.ok();
    admin.put("/specimens/4", json!({ "size": "small", "parent_id": 2, "bought_on": "2026-03-21" })).await.ok();
    let of = async |key: &'static str| counts(&admin, "/specimens", key).await;
    assert_eq!(of("active").await, [(Value::Null, 2), (json!(false), 3), (json!(true), 5)]);
    assert_eq!(of("size").await, [(Value::Null, 8), (json!("Large"), 1), (json!("small"), 1)]);
    assert_eq!(of("parent_name").await, [(Value::Null, 8), (json!("lamp stand"), 2)]);
    assert_eq!(of("opens_at").await, [(Value::Null, 9), (json!("14:30:00"), 1)]);
    assert_eq!(of("bought_on").await, [(Value::Null, 9), (json!("2026-03-21"), 1)]);
    let least = groups(&admin, "/specimens", &[("min", "opens_at"), ("max", "bought_on")]).await.remove(0);
    assert_eq!((&least["min"]["opens_at"], &least["max"]["bought_on"]), (&json!("14:30:00"), &json!("2026-03-21")));
    let rates = of("rate").await;
    assert_eq!((&rates[0], rates[4].1), (&(json!("0.00000001"), 1), 2), "{rates:?}");
    // Text in the order of a list: without regard to case, then by code point.
    let names: Vec<Value> = of("name").await.into_iter().map(|(name, _)| name).collect();
    let sorted = admin.get("/specimens?sort=name").await.column("specimens", "name");
    assert_eq!(names, sorted);
    for type_id in [1001, 1002, 1002] {
        admin.post("/activities", json!({ "subject": "A", "type_id": type_id })).await.created("activity");
    }
    assert_eq!(counts(&admin, "/activities", "type_id").await, [(json!(1001), 1), (json!(1002), 2)]);
    assert_eq!(counts(&admin, "/activities", "activity_type_name").await, [(json!("Call"), 2), (json!("Task"), 1)]);
}

async fn custom_fields_are_aggregated_and_grouped(specimens: Specimens) {
    let admin = specimens.admin();
    let parameters = [("sum", "cf.rig"), ("min", "cf.rig"), ("max", "cf.rig"), ("avg", "cf.rig")];
    let expected = json!({
        "group": {}, "count": 10, "sum": { "cf.rig": "149.5" }, "min": { "cf.rig": "5" }, "max": { "cf.rig": "100" },
        "avg": { "cf.rig": "24.916666666667" },
    });
    assert_eq!(groups(&admin, "/specimens", &parameters).await, [expected]);
    let power = [(Value::Null, 7), (json!(""), 1), (json!("150W"), 1), (json!("150w"), 1)];
    assert_eq!(counts(&admin, "/specimens", "cf.power").await, power);
    let vip = [(Value::Null, 8), (json!(false), 1), (json!(true), 1)];
    assert_eq!(counts(&admin, "/specimens", "cf.vip").await, vip);
    let rig = ["5", "9", "10", "20.5", "100"].map(|number| (json!(number), if number == "5" { 2 } else { 1 }));
    assert_eq!(counts(&admin, "/specimens", "cf.rig").await[1..], rig);
    for (name, field_type) in [("many", "integer"), ("due", "date")] {
        let definition = json!({ "entity_type": "specimens", "name": name, "label": name, "field_type": field_type });
        admin.post("/custom_fields", definition).await.created("custom_field");
    }
    for (id, many) in [(1, 999_999_999_999_999_999_i64), (2, 999_999_999_999_999_999), (3, -1)] {
        let values = json!({ "custom_fields": { "many": many, "due": format!("2026-03-2{id}") } });
        admin.put(&format!("/specimens/{id}"), values).await.record("specimen");
    }
    let parameters = [("sum", "cf.many"), ("max", "cf.many,cf.due"), ("q[id_lteq]", "3")];
    let expected = json!({
        "group": {}, "count": 3, "sum": { "cf.many": "1999999999999999997" },
        "max": { "cf.many": 999_999_999_999_999_999_i64, "cf.due": "2026-03-23" },
    });
    assert_eq!(groups(&admin, "/specimens", &parameters).await, [expected]);
    for (parameter, value, problem) in [
        ("sum", "cf.power", "cannot be of `cf.power`, which is not a number"),
        ("sum", "cf.rgi", "refers to an unknown custom field `rgi`; did you mean `rig`?"),
        ("group", "cf.due.month", "cannot take a period of `cf.due`: custom fields have none"),
    ] {
        assert_eq!(admin.list("/specimens/summary", &[(parameter, value)]).await.invalid(parameter), problem);
    }
}
