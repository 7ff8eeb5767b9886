//! Content of list, history and form pages: sort order of logs, names of references, columns, error labels, required
//! marks.

use serde_json::json;

use super::{admin, signed_in};
use crate::support::{Server, on_both};

on_both!(
    a_log_lists_the_newest_entry_first,
    history_shows_references_by_name,
    custom_fields_are_shown_in_the_history_and_on_a_deleted_record,
    errors_use_the_label_of_their_field,
    an_unknown_saved_view_is_an_error,
    a_saved_view_that_cannot_be_applied_is_explained,
    default_columns_are_shown_if_no_known_column_is_chosen,
    required_fields_are_marked,
);

on_both!(
    browser:
    the_tab_of_the_selected_view_is_scrolled_into_sight,
    a_blank_row_is_added_when_the_last_one_is_filled_in,
);

async fn a_log_lists_the_newest_entry_first(server: Server) {
    for name in ["First", "Second"] {
        server.admin().post("/product_groups", json!({ "name": name })).await.created("product_group");
    }
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let page = panel.get("/audit_entries?columns=id").await;
    let first = page.status(200).text.find("href=\"/audit_entries/1?").expect("the oldest");
    let last = page.text.find("href=\"/audit_entries/2?").expect("a newer one");
    assert!(last < first, "the newest is first: {}", page.text);
    // Other lists have the default order of the API.
    let page = panel.get("/product_groups").await;
    let (first, second) = (page.text.find(">First<"), page.text.find(">Second<"));
    assert!(first.is_some() && first < second && !page.text.contains("aria-sort"), "{}", page.text);
}

async fn history_shows_references_by_name(server: Server) {
    let client = server.admin();
    for name in ["Rigging", "Furniture"] {
        client.post("/product_groups", json!({ "name": name })).await.created("product_group");
    }
    client.post("/products", json!({ "name": "Hoist", "product_group_id": 1 })).await.created("product");
    client.put("/products/1", json!({ "product_group_id": 2 })).await.ok();
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let page = panel.get("/products/1/history").await;
    page.status(200)
        .says(">Rigging</a></del>")
        .says(">Furniture</a></ins>")
        .says(">changed</span>")
        .says(">created</span>");
}

async fn custom_fields_are_shown_in_the_history_and_on_a_deleted_record(server: Server) {
    let client = server.admin();
    for (name, label, kind) in [("power", "Power in watts", "integer"), ("rigged", "Rigged already", "boolean")] {
        let field = json!({ "entity_type": "products", "name": name, "label": label, "field_type": kind });
        client.post("/custom_fields", field).await.created("custom_field");
    }
    let lamp = json!({ "name": "Lamp", "custom_fields": { "power": 40, "rigged": false } });
    client.post("/products", lamp).await.created("product");
    client.put("/products/1", json!({ "custom_fields": { "power": 1819 } })).await.ok();
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let page = panel.get("/products/1/history").await;
    let changed = "<summary>1 field</summary><dl class=\"changes\"><dt>Power in watts</dt><dd><del>40</del> \
                   <span aria-hidden=\"true\">→</span> <ins>1,819</ins>";
    page.status(200).says(changed).says("<dt>Rigged already</dt>");
    client.delete("/products/1").await.deleted();
    let deleted = panel.get("/products/1?deleted=only").await;
    deleted.status(200).says("<dt>Power in watts</dt><dd>1,819</dd>").says("<dt>Rigged already</dt>");
}

async fn errors_use_the_label_of_their_field(server: Server) {
    let client = server.admin();
    let field =
        json!({ "entity_type": "products", "name": "power", "label": "Power in watts", "field_type": "integer" });
    client.post("/custom_fields", field).await.created("custom_field");
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let refused = panel.submit("/products", &[("name", "Lamp"), ("custom_fields[power]", "much")]).await;
    refused.status(422).says("<a href=\"#field-custom_fields-power\">Power in watts</a> must be a whole number");
    let row = [("subject", "Call"), ("participants[0][member_id]", "77")];
    let refused = panel.submit("/activities", &row).await;
    refused.status(422).says("<a href=\"#field-participants-0-member_id\">Participants 1: Member</a>");
}

async fn an_unknown_saved_view_is_an_error(server: Server) {
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    for asked in ["view_id=77", "view_id=abc"] {
        panel.get(&format!("/products?{asked}")).await.status(422).says("view");
    }
}

async fn a_saved_view_that_cannot_be_applied_is_explained(server: Server) {
    let client = server.admin();
    client.post("/products", json!({ "name": "Lamp", "weight": 1 })).await.created("product");
    let filter = json!({ "field": "tax_class.name", "predicate": "eq", "value": "Reduced" });
    let view = json!({ "name": "Reduced ones", "entity_type": "products", "visibility": "system", "columns": ["name"], "filters": [filter] });
    let view = client.post("/custom_views", view).await.created("custom_view");
    let (reader, _) = server.user(&[], &["*"]).await;
    let role = json!({ "abilities": ["products:read", "products:write", "custom_views:read", "custom_views:write"] });
    client.put(&format!("/roles/{}", reader["role_ids"][0]), role).await.ok();
    let mut panel = signed_in(&server, &reader).await;
    let address = format!("/products?view_id={}", view["id"]);
    let reason = "is on tax_classes, which requires the ability";
    for more in ["", "&q[name_cont]=l", "&totals=1&columns=name,weight", "&tool=filter"] {
        let page = panel.get(&format!("{address}{more}")).await;
        page.status(422).says("<strong>The view</strong> filters by `tax_class.name_eq`").says(reason).says("Show all");
        assert!(!page.text.contains(">Lamp<"), "{more}: no list without the condition");
    }
    let query = format!("view_id={}", view["id"]);
    let export = panel.get(&format!("/products/export?format=csv&{query}")).await;
    export.status(400).says(reason);
    for step in ["delete", "edit"] {
        let form = [("_all", "1"), ("_query", query.as_str()), ("_step", step)];
        panel.submit("/products/bulk", &form).await.status(400).says(reason);
    }
    let copied = panel.submit("/products/views", &[("clone", &view["id"].to_string()), ("_query", "")]).await;
    copied.status(422).says("The view was not saved").says(reason);
    panel.get("/products").await.status(200).says("Reduced ones").says(">Lamp<");
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    admin.get(&address).await.status(200).says("Reduced ones");
}

async fn default_columns_are_shown_if_no_known_column_is_chosen(server: Server) {
    server.admin().post("/product_groups", json!({ "name": "Lights" })).await.created("product_group");
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    for query in ["columns=", "columns=nothing", "columns=gone,nothing"] {
        panel.get(&format!("/product_groups?{query}")).await.status(200).says("data-open").says(">Lights<");
    }
    let page = panel.get("/product_groups?columns=id,gone").await;
    assert!(!page.status(200).text.contains(">Lights<"), "only chosen columns are shown");
}

async fn the_tab_of_the_selected_view_is_scrolled_into_sight(server: Server) {
    for number in 1..=40 {
        let view =
            json!({ "name": format!("A view of some {number:02}"), "entity_type": "products", "columns": ["name"] });
        server.admin().post("/custom_views", view).await.created("custom_view");
    }
    let mut browser = admin(&server).await;
    browser.open("/products?view_id=30");
    let seen = "(() => { const at = document.querySelector('.views [aria-current]').getBoundingClientRect(), \
                all = document.querySelector('.views nav').getBoundingClientRect(); return at.left >= all.left && at.right <= all.right; })()";
    browser.until(seen);
    browser.is_clean();
}

async fn required_fields_are_marked(server: Server) {
    server.admin().post("/members", json!({ "name": "Ada" })).await.created("member");
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let name = "<label for=\"field-name\">Name <span class=\"required\" title=\"Required\">*</span></label>";
    panel.get("/members/new").await.status(200).says(name);
    panel.get("/members/1/edit").await.status(200).says(name);
    let row = "<label for=\"field-participants-0-member_id\">Member <span class=\"required\" title=\"Required\">*</span></label>";
    panel.get("/activities/new").await.status(200).says(row);
}

async fn a_blank_row_is_added_when_the_last_one_is_filled_in(server: Server) {
    let client = server.admin();
    for name in ["Ada Lovelace", "Grace Hopper", "Mary Somerville"] {
        client.post("/members", json!({ "name": name })).await.created("member");
    }
    let mut browser = admin(&server).await;
    browser.open("/activities/new");
    browser.fill("[name=subject]", "Call about the tent");
    for (row, typed) in ["love", "grace", "mary"].into_iter().enumerate() {
        browser.run(&format!("document.querySelector('#field-participants-{row}-member_id').focus(); 1"));
        browser.type_text(typed);
        browser.until("document.querySelector('.offered:not([hidden]) li') !== null");
        browser.key("Enter", 0);
    }
    let rows = "document.querySelectorAll('[data-embedded]').length";
    assert_eq!(browser.run(rows), 4, "a blank row follows");
    browser.press("[data-embedded]:nth-of-type(2) [data-remove-row]");
    assert_eq!(browser.run(rows), 3);
    browser.follow(".record .primary");
    let activity = client.get("/activities/1").await.record("activity");
    let members: Vec<_> =
        activity["participants"].as_array().expect("a list").iter().map(|row| row["member_id"].clone()).collect();
    assert_eq!(members, [json!(1), json!(3)]);
    browser.is_clean();
}
