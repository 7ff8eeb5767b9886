//! Requests of summaries: paths, errors, limits, abilities, entity tags and query plans.

use std::time::Duration;

use charter_runtime::db::{Dialect, Sql};
use charter_runtime::meta::{Filter, Shown};
use charter_runtime::query::{Function, can_aggregate, has_periods, is_key};
use serde_json::json;

use super::every_list::{List, Maker, lists};
use super::summary::{counts, groups};
use super::total::insert;
use crate::routes::attachments::Form;
use crate::support::{Server, Specimens, on_both};

on_both!(
    every_list_has_a_summary_of_its_fields,
    child_records_and_attachments_have_summaries,
    unknown_and_unfit_names_are_rejected_together,
    groups_keys_and_fields_are_limited,
    summary_has_an_entity_tag_until_a_table_changes,
    summary_needs_the_ability_of_its_list,
    index_serves_the_count_by_a_reference,
);

async fn every_list_has_a_summary_of_its_fields(server: Server) {
    let client = server.admin();
    let lists = lists(&mut Maker::new(&server)).await;
    let mut compared = 0;
    for List { entry, path } in &lists {
        let total = client.get(path).await.ok()["meta"]["total"].as_i64().expect("a total");
        for field in entry.meta.fields.iter().filter(|field| field.shown != Shown::Never) {
            let (name, source) = (field.name, entry.source(field));
            if is_key(&source) {
                let counted = counts(&client, path, name).await;
                assert_eq!(counted.iter().map(|(_, count)| count).sum::<i64>(), total, "{path} by {name}");
            }
            if has_periods(source.kind()) {
                for period in ["day", "week", "month", "year"] {
                    let counted = counts(&client, path, &format!("{name}.{period}")).await;
                    assert_eq!(counted.iter().map(|(_, count)| count).sum::<i64>(), total, "{path} by {name}.{period}");
                }
            }
            if can_aggregate(Function::Sum, &source) {
                groups(&client, path, &[("sum", name), ("avg", name)]).await;
            }
            let is_listed = field.shown == Shown::Always && field.sortable && field.filter == Filter::Fitting;
            if can_aggregate(Function::Max, &source) && is_listed {
                let present = format!("q[{name}_not_null]");
                let last = [("sort", format!("-{name}")), ("per_page", "1".into()), (&present, "1".into())];
                let last: Vec<(&str, &str)> = last.iter().map(|(name, value)| (*name, value.as_str())).collect();
                let last = client.list(path, &last).await.column(entry.meta.plural, name).pop().unwrap_or_default();
                assert_eq!(groups(&client, path, &[("max", name)]).await[0]["max"][name], last, "{path}: {name}");
                compared += 1;
            }
        }
    }
    assert!(lists.len() >= 14 && compared >= 30, "{} lists, {compared} fields", lists.len());
}

async fn child_records_and_attachments_have_summaries(server: Server) {
    let admin = server.admin();
    let mut products = Vec::new();
    for name in ["Lamp", "Stand", "Cable"] {
        products.push(admin.post("/products", json!({ "name": name })).await.created("product")["id"].clone());
    }
    for (product, accessory, quantity) in [(0, 1, 2), (0, 2, 3), (1, 2, 10)] {
        let accessory = json!({ "accessory_product_id": products[accessory], "quantity": quantity });
        admin.post(&format!("/products/{}/accessories", products[product]), accessory).await.created("accessory");
    }
    let of_first = groups(&admin, &format!("/products/{}/accessories", products[0]), &[("sum", "quantity")]).await;
    assert_eq!(of_first[0]["count"], 2);
    assert!(of_first[0]["sum"]["quantity"].as_str().expect("a sum").starts_with('5'), "{of_first:?}");
    admin.get("/products/999999/accessories/summary").await.refused(404, "not_found");

    let member = admin.post("/members", json!({ "name": "Ada" })).await.created("member");
    for text in [&b"one"[..], b"three"] {
        let form = Form::default().field("attachable_type", "Member").field("attachable_id", &member["id"]);
        form.file("note.txt", text).send(&admin).await.created("attachment");
    }
    let path = format!("/members/{}/attachments", member["id"]);
    let files = groups(&admin, &path, &[("sum", "file_size"), ("group", "mime_type")]).await;
    assert_eq!(files, [json!({ "group": { "mime_type": "text/plain" }, "count": 2, "sum": { "file_size": "8" } })]);
    admin.get("/members/999999/attachments/summary").await.refused(404, "not_found");
    admin.get("/settings/summary").await.refused(404, "not_found");
}

async fn unknown_and_unfit_names_are_rejected_together(specimens: Specimens) {
    let admin = specimens.admin();
    for (parameter, value, problem) in [
        ("sum", "qtt", "refers to an unknown field `qtt`; did you mean `qty`?"),
        ("sum", "id", "cannot be of `id`, which is not a number"),
        ("sum", "group_id", "cannot be of `group_id`, which is not a number"),
        ("avg", "name", "cannot be of `name`, which is not a number"),
        ("min", "name", "cannot be of `name`, which is neither a number nor a date or time"),
        ("max", "custom_fields", "cannot be of `custom_fields`, which is neither a number nor a date or time"),
        ("group", "custom_fields", "cannot be `custom_fields`: lists, objects and long texts have no groups"),
        ("group", "created_at", "needs a period of `created_at`: `created_at.month`, for example"),
        ("group", "created_at.hour", "refers to an unknown period `hour`; the periods are day, week, month, year"),
        ("group", "name.day", "cannot take a day of `name`, which is neither a date nor a time"),
        ("group", "opens_at.day", "cannot take a day of `opens_at`, which is neither a date nor a time"),
        ("group", "group.name", "refers to an unknown field `group.name`"),
        ("sum", "cf.rig,weight", "refers to an unknown field `weight`"),
        ("sort", "name", "is a parameter of the list, which a summary does not have"),
        ("page", "1", "is a parameter of the list, which a summary does not have"),
        ("per_page", "1", "is a parameter of the list, which a summary does not have"),
        ("cursor", "", "is a parameter of the list, which a summary does not have"),
        ("count", "none", "is a parameter of the list, which a summary does not have"),
        ("include", "productGroup", "is a parameter of the list, which a summary does not have"),
        ("fields", "id", "is a parameter of the list, which a summary does not have"),
        ("csv", "bom", "is a parameter of the list, which a summary does not have"),
    ] {
        let said = admin.list("/specimens/summary", &[(parameter, value)]).await.invalid(parameter);
        assert!(said.starts_with(problem), "{parameter}={value}: {said}");
    }
    let all = [("sum", "x"), ("min", "y"), ("group", "z"), ("q[qty_eq]", "many"), ("sort", "id"), ("view_id", "x")];
    let mut fields = admin.list("/specimens/summary", &all).await.invalid_fields();
    fields.sort();
    assert_eq!(fields, ["group", "min", "q[qty_eq]", "sort", "sum", "view_id"]);
    admin.get("/specimens/summary?sum=%").await.refused(400, "malformed_request");
}

async fn groups_keys_and_fields_are_limited(specimens: Specimens) {
    let admin = specimens.admin();
    insert(&specimens, 2_001, 3_000).await;
    let thousand = [("q[id_gt]", "2000"), ("group", "id")];
    assert_eq!(groups(&admin, "/specimens", &thousand).await.len(), 1_000);
    let one_more = [("q[id_gteq]", "10"), ("group", "id")];
    let said = admin.list("/specimens/summary", &one_more).await.invalid("group");
    assert_eq!(said, "leads to more than 1000 groups; use fewer keys, a longer period or a filter");
    let three = [("group", "active,size,created_at.day")];
    assert_eq!(groups(&admin, "/specimens", &three).await.len(), 12);
    let said = admin.list("/specimens/summary", &[("group", "active,size,qty,sku")]).await.invalid("group");
    assert_eq!(said, "must have at most 3 keys");
    let names: Vec<String> = (0..21).map(|number| format!("x{number}")).collect();
    let said = admin.list("/specimens/summary", &[("sum", &names.join(","))]).await.invalid("sum");
    assert_eq!(said, "must have at most 20 fields");
    let said = admin.list("/specimens/summary", &[("sum", &names[..20].join(","))]).await.invalid("sum");
    assert!(said.starts_with("refers to an unknown field `x0`"), "{said}");
}

async fn summary_has_an_entity_tag_until_a_table_changes(specimens: Specimens) {
    let admin = specimens.admin();
    let path = "/specimens/summary?group=created_at.month&sum=qty";
    let tag = || async { admin.get(path).await.header("etag").map(String::from).expect("a tag") };
    let first = tag().await;
    assert_eq!(tag().await, first);
    admin.with("if-none-match", &first).get(path).await.status(304);
    for other in ["&group=active", "&sum=rate", "&max=qty", "&q[qty_gt]=1"] {
        let other = admin.get(&format!("{path}{other}")).await;
        assert_ne!(other.header("etag").expect("a tag"), first);
    }
    admin.put("/specimens/1", json!({ "qty": 6 })).await.record("specimen");
    let answer = admin.with("if-none-match", &first).get(path).await;
    assert_eq!(answer.ok()["summary"][0]["sum"]["qty"], "150");
    let before = tag().await;
    admin.put("/settings", json!({ "timezone": "Asia/Tokyo" })).await.record("settings");
    assert_ne!(tag().await, before, "the months are others in another zone");
}

async fn summary_needs_the_ability_of_its_list(server: Server) {
    let (_, reader) = server.user(&[], &["products:read"]).await;
    reader.get("/products/summary").await.ok();
    reader.get("/members/summary").await.refused(403, "ability_missing");
    reader.get("/products/summary?explain=1").await.refused(403, "ability_missing");
    reader.get("/products/summary?deleted=only").await.refused(403, "ability_missing");
    server.anonymous().get("/products/summary").await.refused(401, "unauthenticated");
    reader.post("/products/summary", json!({})).await.refused(405, "method_not_allowed");
}

async fn index_serves_the_count_by_a_reference(server: Server) {
    let (user, _) = server.user(&[], &["*"]).await;
    let is_postgres = server.state.db.dialect() == Dialect::Postgres;
    let numbers = match is_postgres {
        true => "SELECT generate_series(1, 20000) AS n",
        false => "WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 20000) SELECT n FROM s",
    };
    let time = "'2026-03-21T10:00:00+00:00'";
    // The records are much wider than the entries of the index.
    let subject = "x".repeat(250);
    let rows = format!("SELECT '{subject}', CASE n % 4 WHEN 0 THEN {} ELSE 1 END, false, {time}, {time}", user["id"]);
    let columns = "subject, owned_by, completed, created_at, updated_at";
    server.sql(&format!("INSERT INTO activities ({columns}) {rows} FROM ({numbers}) AS s")).await;
    if is_postgres {
        vacuum(&server, "activities").await;
    }
    let admin = server.admin();
    let expected = [(json!(1), 15_000), (user["id"].clone(), 5_000)];
    assert_eq!(counts(&admin, "/activities", "owned_by").await, expected);
    for (query, order, is_covering) in
        [("group=owned_by", json!(["owned_by"]), true), ("q[owned_by_eq]=99&max=starts_at", json!([]), false)]
    {
        let plan = admin.get(&format!("/activities/summary?{query}&explain=1")).await.ok()["plan"].take();
        assert_eq!(plan["order"], order);
        let statement = &plan["statements"][0];
        assert_eq!(statement["reads"], "groups");
        assert!(statement["indexes"].to_string().contains("owned_by"), "{plan}");
        let steps = statement["steps"].to_string();
        let covers = steps.contains("Index Only Scan") || steps.contains("COVERING INDEX");
        assert_eq!(covers, is_covering, "the count by group reads the index alone: {steps}");
    }
}

/// Repeats VACUUM until no older transaction is open: then the records are visible to all, and an index alone can serve
/// a statement.
async fn vacuum(server: &Server, table: &str) {
    let visible = format!("SELECT 1 FROM pg_class WHERE relname = '{table}' AND relallvisible >= relpages - 1");
    loop {
        server.sql(&format!("VACUUM ANALYZE {table}")).await;
        let visible = Sql::new(Dialect::Postgres, visible.as_str());
        if visible.one(server.state.db.reader()).await.expect("it is read").is_some() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
