//! Links, breadcrumbs and focus; visibility of buttons in long lists; redirects without a session.

use serde_json::json;

use super::{CookieClient, admin, signed_in};
use crate::support::{Server, on_both};

on_both!(
    bulk_texts_distinguish_one_record_from_several,
    dates_and_conditions_are_shown_in_words,
    requests_without_a_session_get_401_or_the_sign_in_page,
);

on_both!(
    browser:
    editing_child_records_returns_to_the_parent_record,
    the_first_input_of_a_new_record_is_focused,
    bulk_buttons_and_row_names_stay_visible_while_scrolling,
);

async fn editing_child_records_returns_to_the_parent_record(server: Server) {
    let client = server.admin();
    for name in ["Lamp", "Bulb"] {
        client.post("/products", json!({ "name": name })).await.created("product");
    }
    let mut browser = admin(&server).await;
    browser.open("/products/1");
    browser.follow("a[href^='/products/1/accessories/new']");
    let trail = browser.text(".trail");
    assert!(trail.contains("Lamp") && !trail.contains("Product 1") && !trail.trim().ends_with('/'), "{trail}");
    browser.follow(".sticky a");
    assert_eq!(browser.address(), "/products/1");
    browser.follow("a[href^='/products/1/accessories/new']");
    browser.fill("#field-quantity", "-1");
    browser.follow(".record .primary");
    browser.sees("The record was not saved");
    browser.run("document.querySelector('#field-accessory_product_id').focus(); 1");
    browser.type_text("Bulb");
    browser.fill("#field-quantity", "2");
    browser.follow(".record .primary");
    assert_eq!(browser.address(), "/products/1", "{}", browser.text("main"));
    browser.follow("a[href^='/products/1/accessories/1/edit']");
    browser.fill("#field-quantity", "3");
    browser.follow(".record .primary");
    assert_eq!(browser.address(), "/products/1");
    assert_eq!(client.get("/products/1/accessories").await.records("accessories")[0]["quantity"], "3.0");
    browser.follow("a[href^='/products/1/accessories/1/delete']");
    browser.follow("main form .danger");
    assert_eq!(browser.address(), "/products/1");
    // Only local return paths are accepted.
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let form = panel.get("/products/new?_back=https://evil.example.com/").await;
    assert!(!form.status(200).text.contains("name=\"_back\""), "{}", form.text);
    let saved = panel.submit("/products", &[("name", "Table"), ("_back", "//evil.example.com")]).await;
    assert_eq!(saved.status(303).header("location"), "/products/3");
    panel.get("/products/3/history").await.status(200).says("<a href=\"/products/3\">Table</a></nav>");
}

async fn the_first_input_of_a_new_record_is_focused(server: Server) {
    let mut browser = admin(&server).await;
    for (path, first) in [("/product_groups/new", "name"), ("/members/new", "name")] {
        browser.open(path);
        browser.until(&format!("document.activeElement.name === {}", json!(first)));
    }
    browser.is_clean();
}

async fn bulk_buttons_and_row_names_stay_visible_while_scrolling(server: Server) {
    let product = |n: usize| json!({ "name": format!("Lamp {n:02}"), "weight": n.to_string() });
    let operations: Vec<_> = (1..=60).map(|n| json!({ "method": "create", "product": product(n) })).collect();
    server.admin().post("/products/bulk", json!({ "operations": operations })).await.ok();
    let mut browser = admin(&server).await;
    browser.size(1024, 800);
    browser.open("/products?per_page=50&sort=name");
    browser.press("[name=id]");
    let seen = |selector: &str| {
        format!(
            "(() => {{ const at = document.querySelector({}).getBoundingClientRect(); \
             return at.height > 0 && at.top >= 0 && at.bottom <= innerHeight; }})()",
            json!(selector)
        )
    };
    assert_eq!(
        browser.run(&seen("[data-bulk] [value=edit]")),
        true,
        "the button is visible after selecting the first row"
    );
    let plain = "getComputedStyle(document.querySelector('tbody tr:nth-child(2)')).backgroundColor";
    let chosen = "getComputedStyle(document.querySelector('tbody tr:nth-child(1)')).backgroundColor";
    assert_ne!(browser.run(plain), browser.run(chosen));
    browser.unfold("#columns");
    assert_eq!(browser.run(&seen("[data-columns] .primary")), true);
    // The name stays visible while a wide table is scrolled.
    let all =
        browser.run("[...document.querySelectorAll('[data-columns] [name=columns]')].map(one => one.value).join(',')");
    browser.open(&format!("/products?columns={}&sort=name", all.as_str().expect("names")));
    browser.run("document.querySelector('.scroll').scrollLeft = 2000; 1");
    let beside = "(() => { const all = document.querySelector('.scroll'), at = document.querySelector('td.lead').getBoundingClientRect(); \
                  return all.scrollLeft > 500 && at.left >= all.getBoundingClientRect().left && at.right <= all.getBoundingClientRect().right; })()";
    assert_eq!(browser.run(beside), true);
    browser.is_clean();
}

async fn bulk_texts_distinguish_one_record_from_several(server: Server) {
    for name in ["Lights", "Sound"] {
        server.admin().post("/product_groups", json!({ "name": name })).await.created("product_group");
    }
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let one = panel.submit("/product_groups/bulk", &[("id", "1"), ("_step", "delete")]).await;
    assert!(!one.status(200).text.contains("all or none"), "{}", one.text);
    one.says("<strong>1 product group will be deleted</strong>.")
        .says("class=\"button\" href=\"/product_groups\">Cancel");
    let two = [("id", "1"), ("id", "2"), ("_step", "delete")];
    panel.submit("/product_groups/bulk", &two).await.status(200).says("will be deleted</strong>, all or none of them.");
    let clears = [("id", "1"), ("_step", "edit"), ("_field", "sku")];
    panel.submit("/products/bulk", &clears).await.status(200).says("Leave the field empty to clear it.");
}

async fn dates_and_conditions_are_shown_in_words(server: Server) {
    let client = server.admin();
    let field = json!({ "entity_type": "products", "name": "bought", "label": "Bought", "field_type": "date" });
    client.post("/custom_fields", field).await.created("custom_field");
    let lamp = json!({ "name": "a,b", "custom_fields": { "bought": "2019-09-01" } });
    client.post("/products", lamp).await.created("product");
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    panel.get("/products?columns=name,cf.bought").await.status(200).says("datetime=\"2019-09-01\">1 Sep 2019</time>");
    panel.get("/products?q[name_eq]=a,b").await.status(200).says("Name is “a,b”");
    panel.get("/products?q[name_in]=a,b").await.status(200).says("Name is one of “a”, “b”");
    panel.get("/products?q[weight_gt]=x").await.status(422).says("<strong>Weight is more than</strong>: must be");
    panel.get("/nothing").await.status(404).says("Go to the overview");
    panel.call("GET", "/nothing", None).await.status(404).says("{\"code\":\"not_found\"");
}

async fn requests_without_a_session_get_401_or_the_sign_in_page(server: Server) {
    signed_in(&server, &json!({ "id": 1 })).await;
    let mut program = CookieClient::new(&server.url()).with("accept", Some("text/csv"));
    program.get("/panel/api/products").await.status(401);
    // A wrong password keeps the notice about the preserved input.
    let mut stranger = CookieClient::new(&server.url());
    stranger.post("/products", &[("name", "Lamp")]).await.status(401).says("Your input is preserved");
    let wrong =
        [("email", "admin@example.com"), ("password", "not the password"), ("to", "/products"), ("draft", "name=Lamp")];
    let again = stranger.post("/panel/sign-in", &wrong).await;
    again.status(422).says("is incorrect").says("Your input is preserved");
    // A button without input redirects to the sign-in page without a notice.
    for path in ["/panel/theme", "/panel/sign-out"] {
        assert_eq!(stranger.post(path, &[]).await.status(303).header("location"), "/panel/sign-in");
    }
    let pressed = stranger.post("/products/bulk", &[("_step", "edit")]).await;
    assert!(!pressed.status(401).text.contains("Your input"), "{}", pressed.text);
}
