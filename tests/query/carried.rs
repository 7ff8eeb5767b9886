//! Filtered totals that are carried over changes, instead of being counted again; and pages that are found once.

use std::time::Duration;

use charter_runtime::db::Dialect;
use charter_runtime::total;
use serde_json::json;
use tokio::time::sleep;

use super::ids;
use super::total::{full, insert, off, on};
use crate::support::{Specimens, on_both};

on_both!(
    a_total_is_carried_over_changes_without_counting,
    totals_are_right_after_every_kind_of_change,
    what_changes_much_at_once_is_counted_again,
    what_is_known_no_longer_is_counted_again,
    room_of_what_was_folded_and_forgotten_is_used_again,
    a_page_is_found_once_until_a_record_of_the_list_changes,
    what_came_and_went_between_two_looks_is_on_no_page,
    what_was_shared_for_a_while_is_listed_to_its_owner_alone,
    what_follows_from_another_record_of_the_table_is_not_carried,
    changes_that_are_folded_out_of_order_are_not_taken_for_known,
    what_another_cluster_knew_is_forgotten_at_the_start,
);

/// Forgets the oldest changes; the server may be folding at this moment, and one does it at a time.
async fn trim(specimens: &Specimens) {
    while !total::trim(&specimens.state.db).await.expect("the oldest are forgotten") {
        sleep(Duration::from_millis(5)).await;
    }
}

async fn a_total_is_carried_over_changes_without_counting(specimens: Specimens) {
    let client = specimens.admin();
    let named = "&q[name_eq]=S";
    insert(&specimens, 100, 109).await;
    assert_eq!(full(&client, named).await, 10, "it is counted");
    specimens.sql("UPDATE specimens SET name = 'T' WHERE id = 109").await;
    assert_eq!(full(&client, named).await, 9, "its members are read");
    // Changes that nobody is told of show that nothing is counted.
    off(&specimens).await;
    specimens.sql("DELETE FROM specimens WHERE id = 100").await;
    on(&specimens).await;
    specimens.sql("UPDATE specimens SET name = 'T' WHERE id IN (101, 102)").await;
    specimens.sql("UPDATE specimens SET name = 'S' WHERE id = 109").await;
    assert_eq!(full(&client, named).await, 8, "what changed is looked at, and nothing else");
    assert_eq!(full(&client, named).await, 8);
    specimens.sql("UPDATE specimens SET id = 500 WHERE id = 103").await;
    specimens.sql("DELETE FROM specimens WHERE id = 104").await;
    insert(&specimens, 110, 111).await;
    assert_eq!(full(&client, named).await, 9, "a record that was moved, one that went, and two that came");
}

/// What is asked again and again, as clients and as SQL ask for it.
const QUESTIONS: [(&str, &str); 5] = [
    ("&q[name_cont]=s", "LOWER(name) LIKE '%s%'"),
    ("&q[active_true]=1", "active"),
    ("&q[name_not_eq]=S&q[id_gt]=40", "name <> 'S' AND id > 40"),
    ("&q[active_false]=1&q[id_lt]=60", "NOT active AND id < 60"),
    ("&q[id_gt]=100000", "id > 100000"),
];

async fn totals_are_right_after_every_kind_of_change(specimens: Specimens) {
    let client = specimens.admin();
    let mut number: u64 = 7;
    for round in 0..40 {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (id, what) = ((number >> 33) % 90 + 1, (number >> 50) % 6);
        match what {
            0 => insert(&specimens, 1_000 + round * 10, 1_000 + round * 10 + (id % 5) as i64).await,
            1 => specimens.sql(&format!("DELETE FROM specimens WHERE id % 97 = {id}")).await,
            2 => specimens.sql(&format!("UPDATE specimens SET name = 'T{id}' WHERE id % 13 = {}", id % 13)).await,
            3 => specimens.sql(&format!("UPDATE specimens SET active = NOT active WHERE id >= {id}")).await,
            4 => specimens.sql(&format!("UPDATE specimens SET id = id + 200000 WHERE id = {}", 1_000 + round)).await,
            _ => specimens.sql("UPDATE specimens SET name = name").await,
        }
        if round % 9 == 0 && specimens.state.db.dialect() == Dialect::Postgres {
            total::fold(&specimens.state.db).await.expect("the changes are folded");
        }
        for (query, condition) in QUESTIONS {
            if (number >> 20).is_multiple_of(3) && round % 2 == 0 {
                continue;
            }
            let counting = format!("SELECT CAST(COUNT(*) AS TEXT) AS text FROM specimens WHERE {condition}");
            let counted = specimens.texts(&counting).await;
            assert_eq!(full(&client, query).await.to_string(), counted[0], "{round}: {query} after {what}");
            for (sort, order) in
                [("-name", "LOWER(name) DESC NULLS LAST, name DESC NULLS LAST, id"), ("-id", "id DESC")]
            {
                let found = format!(
                    "SELECT CAST(id AS TEXT) AS text FROM specimens WHERE {condition} ORDER BY {order} LIMIT 3 OFFSET 3"
                );
                let body = client.get(&format!("/specimens?per_page=3&page=2&sort={sort}{query}")).await.ok();
                let records = body["specimens"].as_array().expect("records");
                let ids: Vec<String> = records.iter().map(|record| record["id"].to_string()).collect();
                assert_eq!(ids, specimens.texts(&found).await, "{round}: {query} by {sort} after {what}");
                assert_eq!(body["meta"]["total"].to_string(), counted[0], "{round}: {query} by {sort} after {what}");
            }
        }
    }
}

async fn what_changes_much_at_once_is_counted_again(specimens: Specimens) {
    let client = specimens.admin();
    for number in 0..3 {
        insert(&specimens, 100 + number, 100 + number).await;
        assert_eq!(full(&client, "&q[name_eq]=S").await, number + 1);
    }
    insert(&specimens, 1_000, 1_000 + 4_999).await;
    assert_eq!(full(&client, "&q[name_eq]=S").await, 5_003);
    specimens.sql("UPDATE specimens SET name = 'T' WHERE id BETWEEN 1000 AND 5989").await;
    assert_eq!(full(&client, "&q[name_eq]=S").await, 13);
    specimens.sql("DELETE FROM specimens").await;
    insert(&specimens, 1, 2).await;
    assert_eq!(full(&client, "&q[name_eq]=S").await, 2);
}

async fn what_is_known_no_longer_is_counted_again(specimens: Specimens) {
    let (client, state) = (specimens.admin(), &specimens.state);
    for number in 0..3 {
        insert(&specimens, 100 + number, 100 + number).await;
        assert_eq!(full(&client, "&q[name_eq]=S").await, number + 1);
    }
    // More changes than are kept, one by one, and none of them seen.
    match state.db.dialect() {
        Dialect::Postgres => {
            let many =
                "DO $$ BEGIN FOR n IN 1..4200 LOOP UPDATE specimens SET name = 'T' || n WHERE id = 1; END LOOP; END $$";
            specimens.sql(many).await;
            let waiting = "SELECT CAST(COUNT(*) AS TEXT) AS text FROM record_changes";
            while specimens.texts(waiting).await != ["0"] {
                total::fold(&state.db).await.expect("the changes are folded");
            }
            trim(&specimens).await;
            let floor = "SELECT CAST(floor AS TEXT) AS text FROM record_totals WHERE \"table\" = 'specimens' AND floor IS NOT NULL";
            assert_eq!(specimens.texts(floor).await.len(), 1, "the oldest have gone");
        }
        Dialect::Sqlite => {
            for _ in 0..600 {
                specimens.sql("UPDATE specimens SET name = 'T' WHERE id < 9").await;
            }
        }
    }
    let kept =
        specimens.texts("SELECT CAST(COUNT(*) AS TEXT) AS text FROM record_recent WHERE \"table\" = 'specimens'").await;
    assert!(kept[0].parse::<i64>().expect("a number") <= 4_096, "{kept:?} are kept");
    off(&specimens).await;
    insert(&specimens, 200, 200).await;
    on(&specimens).await;
    specimens.sql("UPDATE specimens SET name = 'S' WHERE id = 1").await;
    assert_eq!(full(&client, "&q[name_eq]=S").await, 5, "it is counted, and so what nobody was told of is there too");
    // Nor does anything lead over a recount.
    off(&specimens).await;
    insert(&specimens, 201, 201).await;
    on(&specimens).await;
    total::recount(&state.db, &state.catalog, Some("specimens")).await.expect("it is counted");
    assert_eq!(full(&client, "&q[name_eq]=S").await, 6);
}

async fn room_of_what_was_folded_and_forgotten_is_used_again(specimens: Specimens) {
    let state = &specimens.state;
    if state.db.dialect() == Dialect::Sqlite {
        return; // Its triggers change the numbers themselves.
    }
    let size = "SELECT CAST(pg_relation_size('record_changes') + pg_relation_size('record_recent') AS TEXT) AS text";
    let mut sizes = Vec::new();
    for _ in 0..12 {
        let many = "INSERT INTO record_changes (\"table\", block, live, ids) \
                    SELECT 'specimens', 0, 0, ARRAY[n] FROM generate_series(1, 5000) AS n";
        specimens.sql(many).await;
        total::fold(&state.db).await.expect("the changes are folded");
        trim(&specimens).await;
        sizes.push(specimens.texts(size).await[0].parse::<i64>().expect("a number of bytes"));
    }
    assert!(sizes[11] < 3 * sizes[1], "{sizes:?}");
}

async fn a_page_is_found_once_until_a_record_of_the_list_changes(specimens: Specimens) {
    let client = specimens.admin();
    insert(&specimens, 100, 104).await;
    let list = [("q[name_cont]", "s"), ("q[id_gteq]", "100"), ("sort", "-qty"), ("per_page", "2")];
    let mut expected = vec![100, 101];
    for _ in 0..3 {
        // A record of another list, so that the members of this one are known after the second time.
        specimens.sql("UPDATE specimens SET name = name WHERE id = 1").await;
        assert_eq!(ids(&client, &list).await, expected);
    }
    // What nobody is told of shows that the page is not looked for, and that its records are as they are now.
    off(&specimens).await;
    specimens.sql("UPDATE specimens SET qty = 7 WHERE id = 104").await;
    specimens.sql("UPDATE specimens SET sku = 'new' WHERE id = 100").await;
    on(&specimens).await;
    for _ in 0..2 {
        specimens.sql("UPDATE specimens SET name = name WHERE id = 1").await;
        let body = client.list("/specimens", &list).await;
        assert_eq!(body.column("specimens", "id"), [json!(100), json!(101)]);
        assert_eq!(body.column("specimens", "sku")[0], json!("new"));
    }
    specimens.sql("UPDATE specimens SET qty = 3 WHERE id = 102").await;
    expected = vec![104, 102];
    assert_eq!(ids(&client, &list).await, expected, "a record of the list has changed");
    specimens.sql("DELETE FROM specimens WHERE id = 104").await;
    assert_eq!(ids(&client, &list).await, [102, 100], "one has gone");
    specimens.sql("UPDATE specimens SET name = 's', qty = 9, id = 400 WHERE id = 1").await;
    assert_eq!(ids(&client, &list).await, [400, 102], "one has come");
    assert_eq!(ids(&client, &[&list[..], &[("page", "2")]].concat()).await, [100, 101]);
}

async fn what_came_and_went_between_two_looks_is_on_no_page(specimens: Specimens) {
    let client = specimens.admin();
    insert(&specimens, 100, 104).await;
    let page = async |per_page: &str, page: &str| {
        ids(&client, &[("q[name_eq]", "S"), ("per_page", per_page), ("page", page)]).await
    };
    let noise = async || specimens.sql("UPDATE specimens SET qty = qty WHERE id = 1").await;
    for gone in ["UPDATE specimens SET name = 'secret' WHERE id = 9", "DELETE FROM specimens WHERE id = 9"] {
        // The members are known of the state before and the one behind, and the pages of the one in the middle.
        for _ in 0..2 {
            assert_eq!(page("1", "1").await, [100]);
            noise().await;
        }
        specimens.sql("UPDATE specimens SET name = 'S' WHERE id = 9").await;
        assert_eq!(page("50", "1").await, [9, 100, 101, 102, 103, 104]);
        assert_eq!(page("4", "2").await, [103, 104]);
        specimens.sql(gone).await;
        for _ in 0..2 {
            assert_eq!(page("50", "1").await, [100, 101, 102, 103, 104], "{gone}");
            assert_eq!(page("4", "2").await, [104], "{gone}");
            noise().await;
        }
    }
}

async fn what_was_shared_for_a_while_is_listed_to_its_owner_alone(specimens: Specimens) {
    let admin = specimens.admin();
    let (user, reader) = specimens.user(&[], &["*"]).await;
    let view = |name: &str| json!({ "name": name, "entity_type": "products", "columns": ["name"], "role_ids": user["role_ids"] });
    reader.post("/custom_views", view("mine")).await.created("custom_view");
    let id = admin.post("/custom_views", view("salaries")).await.created("custom_view")["id"].to_string();
    let other = admin.post("/custom_views", view("other")).await.created("custom_view")["id"].to_string();
    let names = async |per_page: &str| {
        reader.list("/custom_views", &[("per_page", per_page)]).await.column("custom_views", "name")
    };
    let change = async |id: &str, body| drop(admin.put(&format!("/custom_views/{id}"), body).await.ok());
    for number in 0..2 {
        assert_eq!(names("1").await, ["mine"]);
        change(&other, json!({ "name": number.to_string() })).await;
    }
    change(&id, json!({ "visibility": "shared" })).await;
    assert_eq!(names("50").await, ["mine", "salaries"]);
    change(&id, json!({ "visibility": "personal", "name": "nobody's" })).await;
    for number in 0..2 {
        assert_eq!(names("50").await, ["mine"]);
        change(&other, json!({ "name": number.to_string() })).await;
    }
    reader.get(&format!("/custom_views/{id}")).await.status(404);
}

async fn what_follows_from_another_record_of_the_table_is_not_carried(specimens: Specimens) {
    let client = specimens.admin();
    specimens.sql("UPDATE specimens SET name = 'A' WHERE id = 1").await;
    specimens.sql("UPDATE specimens SET parent_id = 1 WHERE id IN (3, 4, 5)").await;
    let named = "&q[parent_name_eq]=A";
    for _ in 0..3 {
        assert_eq!(full(&client, named).await, 3);
        assert_eq!(ids(&client, &[("q[parent_name_eq]", "A"), ("per_page", "2")]).await, [3, 4]);
        specimens.sql("UPDATE specimens SET qty = qty WHERE id = 9").await;
    }
    specimens.sql("UPDATE specimens SET name = 'B' WHERE id = 1").await;
    assert_eq!(full(&client, &format!("{named}&page=2")).await, 0, "none of the three has changed, and none is found");
    assert_eq!(full(&client, "&q[parent_name_eq]=B").await, 3);
}

async fn changes_that_are_folded_out_of_order_are_not_taken_for_known(specimens: Specimens) {
    if specimens.state.db.dialect() == Dialect::Sqlite {
        // One writes at a time, and changes have their order.
        return;
    }
    let set = "UPDATE record_totals SET floor = '1000000' WHERE \"table\" = 'specimens'";
    specimens.sql(set).await;
    let recent = "INSERT INTO record_recent SELECT 'specimens', '500000', NULL FROM generate_series(1, 5000)";
    specimens.sql(recent).await;
    trim(&specimens).await;
    let floor = "SELECT CAST(floor AS TEXT) AS text FROM record_totals WHERE \"table\" = 'specimens'";
    assert_eq!(specimens.texts(floor).await, ["1000000"], "what is gone stays gone");
}

async fn what_another_cluster_knew_is_forgotten_at_the_start(specimens: Specimens) {
    let (client, state) = (specimens.admin(), &specimens.state);
    if state.db.dialect() == Dialect::Postgres {
        // As after a restore into a cluster that has had fewer transactions.
        specimens.sql("UPDATE record_totals SET floor = '4000000000'").await;
        specimens.sql("INSERT INTO record_recent VALUES ('specimens', '4000000001', NULL)").await;
    }
    total::install(&state.db, &state.catalog).await.expect("nothing is missing");
    if state.db.dialect() == Dialect::Postgres {
        // Nothing is carried while a transaction is under way that is older, and those of other tests are in this cluster too.
        let floor =
            "SELECT CAST(MAX(floor) < pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS text FROM record_totals";
        while specimens.texts(floor).await != ["true"] {
            sleep(Duration::from_millis(5)).await;
        }
    }
    insert(&specimens, 100, 100).await;
    assert_eq!(full(&client, "&q[name_eq]=S").await, 1);
    insert(&specimens, 101, 101).await;
    assert_eq!(full(&client, "&q[name_eq]=S").await, 2);
    off(&specimens).await;
    insert(&specimens, 102, 102).await;
    on(&specimens).await;
    insert(&specimens, 103, 103).await;
    assert_eq!(full(&client, "&q[name_eq]=S").await, 3, "it is carried on");
}
