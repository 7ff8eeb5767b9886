//! Questions before what cannot be taken back: a page, also without scripts, that says in numbers what will happen, and
//! does nothing.

use charter_runtime::webhook::fan_out;
use serde_json::{Value, json};

use super::{CookieClient, PASSWORD, admin, signed_in};
use crate::routes::attachments::attach;
use crate::support::{Client, Server, on_both};

on_both!(
    child_record_is_deleted_only_after_a_page_that_asks,
    attachment_is_deleted_only_after_a_page_that_asks,
    attachment_of_another_record_has_no_page,
    deletion_says_which_files_and_embedded_records_are_deleted_too,
    deletion_that_references_forbid_has_no_button_and_links_to_them,
    soft_deletion_says_what_is_hidden_with_the_record,
    deactivation_says_how_many_sessions_tokens_and_webhooks_end,
    numbers_that_the_caller_may_not_know_are_not_shown,
    subjects_of_one_resource_have_the_labels_of_their_references,
    deleted_role_says_how_many_users_lose_it,
    deleted_webhook_says_how_many_deliveries_are_dropped,
    second_rotation_says_that_the_first_secret_ends_at_once,
    revoked_token_says_which_webhooks_it_disables,
    deleted_custom_field_says_how_many_records_lose_their_value,
    counts_end_at_a_thousand,
    deletion_of_several_records_says_what_belongs_to_all_of_them,
    question_is_refused_without_the_right_and_for_hidden_records,
    cancel_leads_back_to_local_pages_only,
);

on_both!(
    browser:
    record_is_deleted_after_the_question_and_the_list_is_as_it_was,
);

async fn product(client: &Client, name: &str) -> Value {
    client.post("/products", json!({ "name": name })).await.created("product")["id"].clone()
}

/// A session of a user with one role, which grants these abilities alone.
async fn user_with(server: &Server, abilities: &[&str]) -> CookieClient {
    let client = server.admin();
    let role = client.post("/roles", json!({ "name": "Limited", "abilities": abilities })).await.created("role");
    let user = json!({ "name": "Eve", "email": "eve@example.com", "role_ids": [role["id"]] });
    signed_in(server, &client.post("/users", user).await.created("user")).await
}

async fn webhook(client: &Client) -> Value {
    let webhook = json!({ "url": "https://hooks.example.com/", "events": ["*"] });
    client.post("/webhooks", webhook).await.created("webhook")["id"].clone()
}

async fn child_record_is_deleted_only_after_a_page_that_asks(server: Server) {
    let client = server.admin();
    for name in ["Lamp", "Bulb"] {
        product(&client, name).await;
    }
    client.post("/products/1/accessories", json!({ "accessory_product_id": 2 })).await.created("accessory");
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let page = panel.get("/products/1").await;
    let path = "/products/1/accessories/1/delete";
    page.status(200).says(&format!("href=\"{path}?_back=%2Fproducts%2F1\""));
    assert!(!page.text.contains("data-confirm") && !page.text.contains(&format!("action=\"{path}\"")), "{}", page.text);
    let question = panel.get(&format!("{path}?_back=/products/1")).await;
    question.status(200).says("This cannot be undone").says("Delete accessory for good").says("href=\"/products/1\"");
    assert_eq!(client.get("/products/1/accessories").await.ok()["meta"]["total"], 1);
    panel.post(path, &[("_back", "/products/1")]).await.status(409);
    let done = panel.submit(path, &[("_back", "/products/1")]).await;
    assert_eq!(done.status(303).header("location"), "/products/1");
    assert_eq!(client.get("/products/1/accessories").await.ok()["meta"]["total"], 0);
    panel.get(path).await.status(404);
}

async fn subjects_of_one_resource_have_the_labels_of_their_references(server: Server) {
    let client = server.admin();
    for name in ["Lamp", "Bulb"] {
        product(&client, name).await;
    }
    client.post("/products/1/accessories", json!({ "accessory_product_id": 2 })).await.created("accessory");
    client.post("/products/2/accessories", json!({ "accessory_product_id": 1 })).await.created("accessory");
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let page = panel.get("/products/1/delete").await;
    page.status(200).says("1 accessory (Product)").says("1 accessory (Accessory product)");
}

async fn attachment_is_deleted_only_after_a_page_that_asks(server: Server) {
    let member = server.admin().post("/members", json!({ "name": "Ada" })).await.created("member");
    let file = attach(&server, &member, "note.txt", "Minutes of the meeting.").await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let path = format!("/members/{}/attachments/{}/delete", member["id"], file["id"]);
    let page = panel.get("/members/1").await;
    page.status(200).says(&format!("href=\"{path}\""));
    assert!(!page.text.contains("data-confirm") && !page.text.contains(&format!("action=\"{path}\"")), "{}", page.text);
    let question = panel.get(&path).await;
    question.status(200).says("1 file is deleted: note.txt, 23 bytes").says("Delete file for good");
    assert_eq!(server.admin().get("/members/1/attachments").await.ok()["meta"]["total"], 1);
    panel.submit(&path, &[]).await.status(303);
    assert_eq!(server.admin().get("/members/1/attachments").await.ok()["meta"]["total"], 0);
    panel.get(&path).await.status(404);
}

async fn attachment_of_another_record_has_no_page(server: Server) {
    for name in ["Ada", "Eve"] {
        server.admin().post("/members", json!({ "name": name })).await.created("member");
    }
    let file = attach(&server, &json!({ "id": 2 }), "note.txt", "Minutes of the meeting.").await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    panel.get(&format!("/members/1/attachments/{}/delete", file["id"])).await.status(404);
    for odd in ["/members/1/attachments/x/delete", "/members/1/attachments/99/delete", "/members/1/nothing/1/delete"] {
        panel.get(odd).await.status(404);
    }
}

async fn deletion_says_which_files_and_embedded_records_are_deleted_too(server: Server) {
    let client = server.admin();
    let member = client.post("/members", json!({ "name": "Ada" })).await.created("member");
    for name in ["one.txt", "two.txt"] {
        attach(&server, &member, name, "Minutes of the meeting.").await;
    }
    let activity = json!({ "subject": "Call", "participants": [{ "member_id": member["id"] }] });
    client.post("/activities", activity).await.created("activity");
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    panel
        .get("/activities/1/delete")
        .await
        .status(200)
        .says("<strong>1 activity participant</strong> is deleted, too.");
    panel.submit("/activities/1/delete", &[]).await.status(303);
    let question = panel.get("/members/1/delete").await;
    question.status(200).says("<strong>2 files</strong> are deleted, too.").says("Delete member for good");
}

async fn deletion_that_references_forbid_has_no_button_and_links_to_them(server: Server) {
    let client = server.admin();
    client.post("/product_groups", json!({ "name": "Lights" })).await.created("product_group");
    for name in ["Lamp", "Bulb"] {
        client.post("/products", json!({ "name": name, "product_group_id": 1 })).await.created("product");
    }
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let question = panel.get("/product_groups/1/delete").await;
    question.status(200).says("The product group Lights cannot be deleted.");
    question.says("<a href=\"/products?q[product_group_id_eq]=1\">2 products</a></strong> refer to it.");
    assert!(!question.text.contains("for good"), "{}", question.text);
    panel
        .submit("/product_groups/1/delete", &[])
        .await
        .status(409)
        .says("2 products still refer to this record by product_group_id");
    // A caller who may not read products learns that some refer to it, and not how many.
    let mut other = user_with(&server, &["product_groups:read", "product_groups:write"]).await;
    other.get("/product_groups/1/delete").await.status(200).says("Products that you may not see</strong> refer to it.");
}

async fn soft_deletion_says_what_is_hidden_with_the_record(server: Server) {
    let client = server.admin();
    product(&client, "Lamp").await;
    product(&client, "Bulb").await;
    for location in ["A", "B", "C"] {
        client.post("/stock_levels", json!({ "product_id": 1, "location": location })).await.created("stock_level");
    }
    client.post("/products/1/accessories", json!({ "accessory_product_id": 2 })).await.created("accessory");
    let activity = json!({ "subject": "Clean", "regarding_type": "Product", "regarding_id": 1 });
    client.post("/activities", activity).await.created("activity");
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let question = panel.get("/products/1/delete").await;
    question
        .status(200)
        .says("can be restored")
        .says("Delete product<")
        .says(">3 stock levels</a>")
        .says("are hidden, too.");
    question.says(">1 accessory</a>").says(">1 activity</a></strong> keeps the reference to it.");
    panel.submit("/products/1/delete", &[]).await.status(303);
    assert_eq!(client.get("/stock_levels").await.ok()["meta"]["total"], 0);
}

async fn deactivation_says_how_many_sessions_tokens_and_webhooks_end(server: Server) {
    let (user, client) = server.user(&[], &["*"]).await;
    webhook(&client).await;
    signed_in(&server, &user).await;
    let mut phone = CookieClient::new(&server.url());
    let form = [("email", user["email"].as_str().expect("an address")), ("password", PASSWORD)];
    phone.post("/panel/sign-in", &form).await.status(303);
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let path = format!("/users/{}/deactivate", user["id"]);
    let question = panel.get(&path).await;
    question.status(200).says("<strong>2 sessions</strong> end.").says("1 token");
    question
        .says("1 webhook")
        .says("is disabled, and its pending deliveries are dropped.")
        .says(">Deactivate</button>");
    phone.get("/").await.status(200);
    let deletion = panel.get(&format!("/users/{}/delete", user["id"])).await;
    deletion.status(200).says("<strong>2 sessions</strong> and <strong>1 token</strong> end.");
    panel.submit(&path, &[]).await.status(303);
    phone.get("/").await.status(303);
}

async fn numbers_that_the_caller_may_not_know_are_not_shown(server: Server) {
    let (user, _) = server.user(&[], &["*"]).await;
    signed_in(&server, &user).await;
    let (manager, _) = server.user(&["users.manage"], &["*"]).await;
    let mut panel = signed_in(&server, &manager).await;
    let question = panel.get(&format!("/users/{}/deactivate", user["id"])).await;
    question.status(200).says("Sessions that you may not see</strong> end.").says("Tokens that you may not see");
    assert!(!question.text.contains("1 session"), "{}", question.text);
}

async fn deleted_role_says_how_many_users_lose_it(server: Server) {
    let client = server.admin();
    let role = client.post("/roles", json!({ "name": "Bookkeeping" })).await.created("role")["id"].clone();
    for name in ["ada", "eve"] {
        let user = json!({ "name": name, "email": format!("{name}@example.com"), "role_ids": [role] });
        client.post("/users", user).await.created("user");
    }
    let view = json!({ "name": "A", "entity_type": "products", "columns": ["name"], "visibility": "shared", "role_ids": [role] });
    client.post("/custom_views", view).await.created("custom_view");
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let question = panel.get(&format!("/roles/{role}/delete")).await;
    question.status(200).says("<strong>2 users</strong> lose the role.");
    question.says("<strong>1 custom view</strong> is no longer shared with its users.");
    panel
        .get("/custom_views/1/delete")
        .await
        .status(200)
        .says("<strong>2 users</strong> with one of its roles lose it.");
    // The setting for new users forbids the deletion of its role.
    let member = client.get("/settings").await.record("settings")["default_role_id"].clone();
    panel
        .get(&format!("/roles/{member}/delete"))
        .await
        .status(200)
        .says("cannot be deleted")
        .says("The settings</strong> refer to it.");
}

async fn deleted_webhook_says_how_many_deliveries_are_dropped(server: Server) {
    let client = server.admin();
    let id = webhook(&client).await;
    for name in ["One", "Two"] {
        client.post("/roles", json!({ "name": name })).await.created("role");
    }
    fan_out(&server.state, server.state.clock.now()).await.expect("the events are fanned out");
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let question = panel.get(&format!("/webhooks/{id}/delete")).await;
    question.status(200).says("pending deliveries</strong> are dropped.").says("Delete webhook for good");
}

async fn second_rotation_says_that_the_first_secret_ends_at_once(server: Server) {
    let id = webhook(&server.admin()).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let path = format!("/webhooks/{id}/rotate_secret");
    let question = panel.get(&path).await;
    question.status(200).says("1 receiver</strong> has 24 hours to switch").says(">Rotate secret</button>");
    assert!(!question.text.contains("at once"), "{}", question.text);
    panel.submit(&path, &[]).await.status(200).says("shown only once");
    panel.get(&path).await.says("1 secret</strong> of an earlier rotation stops working at once.");
}

async fn revoked_token_says_which_webhooks_it_disables(server: Server) {
    let client = server.able(&["webhooks:write", "*:read"]).await;
    webhook(&client).await;
    let tokens = server.admin().get("/tokens?sort=-id").await.records("tokens");
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let question = panel.get(&format!("/tokens/{}/delete", tokens[0]["id"])).await;
    question.status(200).says("is revoked: the server rejects its clients").says("1 webhook").says(">Revoke token<");
}

async fn deleted_custom_field_says_how_many_records_lose_their_value(server: Server) {
    let client = server.admin();
    let field = json!({ "entity_type": "products", "name": "power", "field_type": "integer" });
    client.post("/custom_fields", field).await.created("custom_field");
    for power in [json!(1), json!(2), Value::Null] {
        let product = json!({ "name": "Lamp", "custom_fields": { "power": power } });
        client.post("/products", product).await.created("product");
    }
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let question = panel.get("/custom_fields/1/delete").await;
    question.status(200).says("<strong>2 products</strong> no longer show their values.");
}

async fn deletion_of_several_records_says_what_belongs_to_all_of_them(server: Server) {
    let client = server.admin();
    for name in ["Ada", "Eve"] {
        let member = client.post("/members", json!({ "name": name })).await.created("member");
        attach(&server, &member, "note.txt", "Minutes of the meeting.").await;
    }
    client.post("/product_groups", json!({ "name": "Lights" })).await.created("product_group");
    client.post("/products", json!({ "name": "Lamp", "product_group_id": 1 })).await.created("product");
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let page = panel.submit("/members/bulk", &[("_step", "delete"), ("id", "1"), ("id", "2")]).await;
    page.status(200).says("<strong>2 files</strong> are deleted, too.").says("Delete 2 members for good");
    let page = panel.submit("/members/bulk", &[("_step", "delete"), ("_all", "1"), ("_query", "")]).await;
    page.status(200).says("<strong>2 files</strong> are deleted, too.");
    let page = panel.submit("/product_groups/bulk", &[("_step", "delete"), ("_all", "1"), ("_query", "")]).await;
    page.status(200).says("Records that others refer to stay").says("Delete 1 product group for good");
    let page = panel.submit("/product_groups/bulk", &[("_step", "delete"), ("id", "1")]).await;
    page.status(200).says("1 product group cannot be deleted.").says(">1 product</a></strong> refers to it.");
    assert!(!page.text.contains("for good"), "{}", page.text);
}

async fn counts_end_at_a_thousand(server: Server) {
    let client = server.admin();
    product(&client, "Lamp").await;
    for _ in 0..2 {
        let stock = |_| json!({ "method": "create", "stock_level": { "product_id": 1 } });
        let operations: Vec<Value> = (0..501).map(stock).collect();
        client.post("/stock_levels/bulk", json!({ "operations": operations })).await.ok();
    }
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    panel
        .get("/products/1/delete")
        .await
        .status(200)
        .says(">More than 1,000 stock levels</a></strong> are hidden, too.");
}

async fn question_is_refused_without_the_right_and_for_hidden_records(server: Server) {
    product(&server.admin(), "Lamp").await;
    let id = webhook(&server.admin()).await;
    let mut panel = user_with(&server, &["products:read", "webhooks:read", "webhooks:write"]).await;
    panel.get("/products/1/delete").await.status(403);
    panel.get("/products/99/delete").await.status(404);
    // A webhook of another user.
    for question in ["delete", "rotate_secret"] {
        panel.get(&format!("/webhooks/{id}/{question}")).await.status(404);
    }
}

async fn cancel_leads_back_to_local_pages_only(server: Server) {
    product(&server.admin(), "Lamp").await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    for back in ["https://evil.example.com/", "//evil.example.com", "/\\evil.example.com", "javascript:alert(1)"] {
        let page = panel.get(&format!("/products/1/delete?_back={back}")).await;
        page.status(200).says("href=\"/products/1\">Cancel");
        assert!(!page.text.contains("name=\"_back\""), "{}", page.text);
    }
    let page = panel.get("/products/1/delete?_back=/products%3Fsort%3D-name").await;
    page.says("href=\"/products/1?_back=%2Fproducts%3Fsort%3D-name\">Cancel").says("value=\"/products?sort=-name\"");
    let done = panel.submit("/products/1/delete", &[("_back", "/products?sort=-name")]).await;
    assert_eq!(done.status(303).header("location"), "/products?sort=-name");
}

async fn record_is_deleted_after_the_question_and_the_list_is_as_it_was(server: Server) {
    product(&server.admin(), "Lamp").await;
    let mut browser = admin(&server).await;
    browser.open("/products/1");
    browser.press(".actions .menu summary");
    browser.follow("a.danger[href*='/delete']");
    assert_eq!(browser.text("h1"), "Delete Lamp?");
    browser.follow("main form a.button");
    browser.sees("Edit");
    browser.open("/products/1/delete?_back=%2Fproducts%3Fsort%3D-name");
    browser.follow("main form .danger");
    assert_eq!(browser.address(), "/products?sort=-name");
    assert_eq!(server.admin().get("/products").await.ok()["meta"]["total"], 0);
    browser.is_clean();
}
