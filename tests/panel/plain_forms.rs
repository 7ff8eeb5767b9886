//! Forms without a script: titles in references, inputs that browsers restore, and the heading of a rejected form.

use serde_json::json;

use super::signed_in;
use crate::support::{Server, on_both};

on_both!(
    title_in_a_reference_is_the_record_that_has_it_alone,
    reference_to_records_that_the_user_may_not_list_takes_an_id,
    browser_restores_texts_and_leaves_pickers_alone,
    rejected_form_is_titled_with_the_stored_record,
    notice_of_a_form_gets_the_focus,
    identity_of_a_user_is_unlinked_only_where_there_is_a_provider,
);

async fn title_in_a_reference_is_the_record_that_has_it_alone(server: Server) {
    let admin = server.admin();
    for name in ["Video 1", "Video 10"] {
        admin.post("/product_groups", json!({ "name": name })).await.created("product_group");
    }
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    panel.submit("/products", &[("name", "Lamp"), ("product_group_id", " video 1 ")]).await.status(303);
    assert_eq!(admin.get("/products/1").await.record("product")["product_group_id"], 1);
    for (title, words) in
        [("Video", "No product group is called Video."), ("Nowhere", "No product group is called Nowhere.")]
    {
        let refused = panel.submit("/products/1", &[("name", "Lamp"), ("product_group_id", title)]).await;
        refused.status(422).says(words);
    }
    assert_eq!(admin.get("/products/1").await.record("product")["product_group_id"], 1);
}

async fn reference_to_records_that_the_user_may_not_list_takes_an_id(server: Server) {
    server.admin().post("/product_groups", json!({ "name": "Video 1" })).await.created("product_group");
    let user = crate::rights::user_with(&server, &["products:read", "products:write"], &[]).await;
    let mut panel = signed_in(&server, &user).await;
    panel.get("/products/new").await.status(200).says("Enter the id: product group.");
    let refused = panel.submit("/products", &[("name", "Lamp"), ("product_group_id", "Video 1")]).await;
    refused.status(422).says("Product group must be an id");
    assert!(!refused.text.contains("is called Video 1"), "{}", refused.text);
}

async fn browser_restores_texts_and_leaves_pickers_alone(server: Server) {
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let page = panel.get("/products/new").await;
    let input = |name: &str| {
        let rest = page.text.split(&format!("name=\"{name}\"")).nth(1).and_then(|rest| rest.split('>').next());
        rest.unwrap_or_else(|| panic!("no input {name}: {}", page.text)).to_string()
    };
    for name in ["name", "sku", "weight", "replacement_charge"] {
        assert!(!input(name).contains("autocomplete"), "{name}: {}", input(name));
    }
    assert!(input("product_group_id").contains("autocomplete=\"off\""), "{}", input("product_group_id"));
}

async fn rejected_form_is_titled_with_the_stored_record(server: Server) {
    let admin = server.admin();
    admin.post("/products", json!({ "name": "Lamp" })).await.created("product");
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let refused = panel.submit("/products/1", &[("name", "Torch"), ("weight", "-1")]).await;
    refused.status(422).says("<h1>Edit Lamp</h1>").says("value=\"Torch\"");
    // Somebody else renamed it: a conflict, under the name that it has now.
    let version = admin.get("/products/1").await.header("etag").expect("a version").to_string();
    admin.put("/products/1", json!({ "name": "Beam" })).await.ok();
    let shown = r#"{"zone":"UTC","record":{"name":"Lamp"}}"#;
    let form = [("name", "Torch"), ("_version", version.as_str()), ("_shown", shown)];
    let conflict = panel.submit("/products/1", &form).await;
    assert!(conflict.status != 303 && conflict.text.contains("<h1>Edit Beam</h1>"), "{}", conflict.text);
}

async fn notice_of_a_form_gets_the_focus(server: Server) {
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let token = panel.token().await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let page = panel.post("/product_groups", &[("name", "Written at length"), ("_token", &token)]).await;
    page.status(409).says("<div class=\"notice\" role=\"alert\" tabindex=\"-1\" data-focus>");
}

async fn identity_of_a_user_is_unlinked_only_where_there_is_a_provider(server: Server) {
    let (user, _) = server.user(&[], &["*"]).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let page = panel.get(&format!("/users/{}", user["id"])).await;
    assert!(page.status(200).text.contains("/deactivate") && !page.text.contains("/unlink_identity"), "{}", page.text);
}
