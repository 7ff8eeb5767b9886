//! Filter form: relative values, fields of referred records, and conditions without a value.

use serde_json::json;

use super::{admin, signed_in};
use crate::support::{Server, on_both};

on_both!(
    fields_of_related_records_have_different_names,
    relative_values_are_offered_described_and_applied,
    me_is_offered_for_users,
    fields_of_referred_records_are_offered,
    fields_that_the_api_refuses_are_not_offered,
    condition_without_a_value_stays_in_the_form,
    saved_view_keeps_relative_values_and_conditions_without_a_value,
);

on_both!(
    browser:
    relative_value_is_chosen_with_scripts,
);

async fn relative_values_are_offered_described_and_applied(server: Server) {
    let client = server.admin();
    client
        .post("/activities", json!({ "subject": "Old", "starts_at": "2001-01-01T00:00:00Z" }))
        .await
        .created("activity");
    let now = server.state.clock.now().to_rfc3339();
    client.post("/activities", json!({ "subject": "Current", "starts_at": now })).await.created("activity");
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let page = panel.get("/activities?tool=filter&q[starts_at_eq]=this_year").await;
    page.status(200).says("Starts at is “this year”").says("name=\"f0.word\"").says("name=\"f0.value\" value=\"\"");
    page.says("<option value=\"this_year\" selected>this year</option>")
        .says("<option value=\"-7d\">7 days ago</option>");
    assert!(page.text.contains(">Current<") && !page.text.contains(">Old<"), "{}", page.text);
    let form = "apply=1&f0.logic=and&f0.field=starts_at&f0.predicate=lt&f0.value=&f0.word=now";
    let redirected = panel.get(&format!("/activities?{form}")).await;
    let address = redirected.status(303).header("location").to_string();
    assert!(address.contains("starts_at_lt") && address.ends_with("=now"), "{address}");
    // A value that the form does not offer stays chosen.
    panel
        .get("/activities?tool=filter&q[starts_at_gt]=-45d")
        .await
        .says("<option value=\"-45d\" selected>45 days ago</option>");
    panel
        .get("/activities?tool=filter&q[starts_at_gt]=2001-01-01T00:00:00Z")
        .await
        .says("<option value=\"\">Exact value</option>");
    // Without scripts a new condition has a text input, which takes a word.
    let typed = "apply=1&f0.logic=and&f0.field=starts_at&f0.predicate=eq&f0.value=today";
    let redirected = panel.get(&format!("/activities?{typed}")).await;
    panel.get(redirected.status(303).header("location")).await.status(200).says("Starts at is “today”");
}

async fn me_is_offered_for_users(server: Server) {
    let (user, theirs) = server.user(&[], &["*"]).await;
    theirs.post("/activities", json!({ "subject": "Theirs" })).await.created("activity");
    server.admin().post("/activities", json!({ "subject": "Mine" })).await.created("activity");
    let path = "/activities?tool=filter&q[owned_by_eq]=me";
    let page = signed_in(&server, &json!({ "id": 1 })).await.get(path).await;
    page.status(200).says("Owner is “me”").says("<option value=\"me\" selected>me</option>");
    assert!(page.text.contains(">Mine<") && !page.text.contains(">Theirs<"), "{}", page.text);
    let page = signed_in(&server, &user).await.get(path).await;
    assert!(page.status(200).text.contains(">Theirs<") && !page.text.contains(">Mine<"), "{}", page.text);
}

async fn fields_of_referred_records_are_offered(server: Server) {
    let client = server.admin();
    client.post("/product_groups", json!({ "name": "Lights" })).await.created("product_group");
    for (name, group) in [("Lamp", json!(1)), ("Lantern", json!(null))] {
        client.post("/products", json!({ "name": name, "product_group_id": group })).await.created("product");
    }
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let page = panel.get("/products?tool=filter").await;
    page.status(200).says("<option value=\"product_group.name\">");
    let form = "apply=1&f0.logic=and&f0.field=product_group.name&f0.predicate=start&f0.value=li";
    let redirected = panel.get(&format!("/products?{form}")).await;
    let page = panel.get(redirected.status(303).header("location")).await;
    page.status(200).says("Name begins with “li”");
    assert!(page.text.contains(">Lamp<") && !page.text.contains(">Lantern<"), "{}", page.text);
    let columns = panel.get("/products?tool=columns&q[product_group.name_eq]=Lights").await;
    assert!(!columns.status(200).text.contains("value=\"product_group.name\""), "a list does not show them");
    // A column of that name in the address is ignored.
    panel.get("/products?columns=product_group.name&q[product_group.name_eq]=Lights").await.status(200).says(">Lamp<");
}

async fn fields_that_the_api_refuses_are_not_offered(server: Server) {
    let client = server.admin();
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    for list in ["products", "activities", "stock_levels", "tokens", "custom_views"] {
        let page = panel.get(&format!("/{list}?tool=filter")).await;
        let offered = page.status(200).text.split("<option value=\"").filter_map(|rest| rest.split('"').next());
        let related: Vec<String> =
            offered.filter(|name| name.contains('.') && !name.contains(' ')).map(String::from).collect();
        for name in related {
            let answer = client.list(&format!("/{list}"), &[(&format!("q[{name}_null]"), "true")]).await;
            // A field can declare which predicates it has.
            let is_known = answer.status == 200 || answer.text.contains("does not support the predicate");
            assert!(is_known, "{list}: {name}: {}", answer.text);
        }
    }
}

async fn condition_without_a_value_stays_in_the_form(server: Server) {
    let client = server.admin();
    for name in ["Lamp", "Table"] {
        client.post("/products", json!({ "name": name })).await.created("product");
    }
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let form = "apply=1&f0.logic=and&f0.field=sku&f0.predicate=cont&f0.value=%20&f1.logic=and&f1.field=name&f1.predicate=cont\
                &f1.value=la&f2.logic=and&f2.field=&f2.predicate=eq&f2.value=lost";
    let redirected = panel.get(&format!("/products?{form}")).await;
    let page = panel.get(redirected.status(303).header("location")).await;
    page.status(200).says("Enter a value").says("Choose a field").says("value=\"lost\"");
    page.says("<option value=\"sku\" selected>").says("Name contains “la”");
    assert!(page.text.contains(">Lamp<") && !page.text.contains(">Table<"), "complete conditions apply: {}", page.text);
    let blank = panel.get("/products?tool=filter").await;
    assert!(!blank.status(200).text.contains("Enter a value"), "a blank row is no condition");
}

async fn saved_view_keeps_relative_values_and_conditions_without_a_value(server: Server) {
    let client = server.admin();
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let query = "q[starts_at_eq]=this_week&q[owned_by_eq]=me";
    let saved = panel.submit("/activities/views", &[("name", "Mine"), ("columns", "subject"), ("_query", query)]).await;
    panel.get(saved.status(303).header("location")).await.status(200).says("Starts at is “this week” (from the view)");
    let view = client.get("/custom_views/1").await.record("custom_view");
    let values: Vec<_> = view["filters"].as_array().expect("a list").iter().map(|one| one["value"].clone()).collect();
    assert_eq!(values, [json!("this_week"), json!("me")]);
    let form = panel.get("/custom_views/1/edit").await;
    form.status(200).says("<option value=\"this_week\" selected>").says("<option value=\"me\" selected>");
    let original = view["filters"].to_string();
    let fields = [
        ("name", "Mine"),
        ("_list", "activities"),
        ("columns[]", "subject"),
        ("_filters", original.as_str()),
        ("f0.logic", "and"),
        ("f0.field", "starts_at"),
        ("f0.predicate", "eq"),
        ("f0.value", ""),
        ("f0.word", ""),
    ];
    let refused = panel.submit("/custom_views/1", &fields).await;
    refused.status(422).says("Enter a value").says("<option value=\"starts_at\" selected>");
    assert_eq!(client.get("/custom_views/1").await.record("custom_view")["filters"], view["filters"]);
}

async fn relative_value_is_chosen_with_scripts(server: Server) {
    let client = server.admin();
    let now = server.state.clock.now().to_rfc3339();
    for (subject, starts_at) in [("Current", now.as_str()), ("Old", "2001-01-01T00:00:00Z")] {
        client.post("/activities", json!({ "subject": subject, "starts_at": starts_at })).await.created("activity");
    }
    let mut browser = admin(&server).await;
    browser.open("/activities");
    browser.unfold("#filter");
    browser.fill("[name='f0.field']", "starts_at");
    browser.fill("[name='f0.predicate']", "gteq");
    browser.fill("[name='f0.value']", "2001-01-01T00:00");
    browser.fill("[name='f0.word']", "-7d");
    browser.until("document.querySelector('[name=\"f0.value\"]').value === ''");
    browser.follow("#filter-form .primary");
    browser.sees("Starts at is not before “7 days ago”");
    browser.sees("Current");
    assert_eq!(browser.run("document.querySelectorAll('table.list tbody tr').length"), json!(1));
    browser.is_clean();
}

async fn fields_of_related_records_have_different_names(server: Server) {
    let mut panel = super::signed_in(&server, &serde_json::json!({ "id": 1 })).await;
    let page = panel.get("/products?tool=filter").await;
    let labels = page.status(200).text.split("Accessories: ").skip(1).map(|rest| rest.split(['<', '"', '&']).next());
    let labels: Vec<&str> = labels.flatten().collect();
    assert!(labels.contains(&"Accessory product") && labels.contains(&"Accessory product (record)"), "{labels:?}");
}
