//! Links in the panel: the picker of a form, the record page, bulk edits and their undo.

use serde_json::json;

use super::fixture::Articles;
use super::{label_ids, labels, made};
use crate::panel::signed_in;
use crate::support::on_both;

on_both!(
    form_has_a_picker_and_sets_the_ids,
    record_page_names_the_linked_records,
    list_shows_the_linked_records,
    bulk_edit_sets_the_ids_and_undo_sets_them_back,
);

async fn form_has_a_picker_and_sets_the_ids(server: Articles) {
    let admin = server.admin();
    let ids = labels(&admin, &["one", "two"]).await;
    let article = made(&admin, "article", json!({ "title": "A", "label_ids": [ids[0]] })).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let form = panel.get(&format!("/articles/{article}/edit")).await;
    form.status(200).says("id=\"field-label_ids\"").says("Labels").says(" checked> one</label>");
    let second = ids[1].to_string();
    panel.submit("/articles", &[("title", "B"), ("label_ids[]", &second)]).await.status(303);
    assert_eq!(admin.get("/articles?q[title_eq]=B").await.column("articles", "label_ids"), [json!([ids[1]])]);
    let refused = panel.submit("/articles", &[("title", "C"), ("label_ids[]", "99")]).await;
    refused.status(422).says("does not refer to an existing label");
}

async fn record_page_names_the_linked_records(server: Articles) {
    let admin = server.admin();
    let ids = labels(&admin, &["one", "two"]).await;
    let article = made(&admin, "article", json!({ "title": "A", "label_ids": ids })).await;
    admin.put(&format!("/articles/{article}"), json!({ "label_ids": [ids[1]] })).await.ok();
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let page = panel.get(&format!("/articles/{article}")).await;
    page.status(200).says(&format!("href=\"/labels/{}\"", ids[1])).says(">two<");
    panel.get(&format!("/articles/{article}/history")).await.status(200).says("Labels");
}

async fn list_shows_the_linked_records(server: Articles) {
    let admin = server.admin();
    let ids = labels(&admin, &["one"]).await;
    made(&admin, "article", json!({ "title": "A", "label_ids": ids })).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    panel.get("/articles?columns=title,label_ids").await.status(200).says(">one<");
}

async fn bulk_edit_sets_the_ids_and_undo_sets_them_back(server: Articles) {
    let admin = server.admin();
    let ids = labels(&admin, &["one", "two"]).await;
    let article = made(&admin, "article", json!({ "title": "A", "label_ids": [ids[0]] })).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let (id, second) = (article.to_string(), ids[1].to_string());
    let form = [("_step", "apply"), ("_field", "label_ids"), ("label_ids[]", second.as_str()), ("id", &id)];
    let page = panel.submit("/articles/bulk", &form).await;
    page.status(200).says("changed.");
    assert_eq!(label_ids(&admin, article).await, json!([ids[1]]));
    let rest = page.text.split_once("name=\"_undo\" value=\"").map(|(_, rest)| rest);
    let sealed = rest.and_then(|rest| rest.split('"').next()).expect("an offer").to_owned();
    panel.submit("/panel/undo", &[("_undo", &sealed)]).await.status(303);
    assert_eq!(label_ids(&admin, article).await, json!([ids[0]]));
}
