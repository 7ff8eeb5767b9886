//! Lists in the browser: filter, columns, saved views, export and bulk edits.

use serde_json::json;

use super::{admin, signed_in};
use crate::support::{Browser, Server, on_both};

on_both!(
    a_saved_view_is_shared_copied_and_combined_with_conditions,
    a_list_shows_the_records_of_its_api_request,
    an_invalid_list_url_shows_the_error,
);

on_both!(
    browser:
    the_filter_form_builds_conditions_in_the_url,
    filter_inputs_fit_every_screen_width,
    conditions_joined_by_or_give_the_result_of_the_api,
    columns_and_sort_order_are_saved_in_a_view,
    selected_records_are_changed_and_deleted_after_a_preview,
    bulk_edit_changes_custom_fields,
    a_list_page_loads_less_than_100_kib,
);

async fn some(server: &Server) {
    let admin = server.admin();
    for (name, kind, weight) in [("Lamp", "rental", "1.5"), ("Lantern", "sale", "2.5"), ("Table", "rental", "30")] {
        let product = json!({ "name": name, "product_type": kind, "weight": weight });
        admin.post("/products", product).await.created("product");
    }
    let field =
        json!({ "entity_type": "products", "name": "colour", "field_type": "choice", "choices": ["red", "blue"] });
    admin.post("/custom_fields", field).await.created("custom_field");
}

/// Fills in a condition of the filter form.
fn condition(browser: &mut Browser, index: usize, field: &str, predicate: &str, value: &str) {
    browser.fill(&format!("[name='f{index}.field']"), field);
    browser.fill(&format!("[name='f{index}.predicate']"), predicate);
    if !value.is_empty() {
        browser.fill(&format!("[name='f{index}.value']"), value);
    }
}

/// The links of the rows.
fn names(browser: &mut Browser) -> Vec<String> {
    let names = browser.run("[...document.querySelectorAll('[data-open]')].map(a => a.innerText)");
    serde_json::from_value(names).expect("texts")
}

async fn the_filter_form_builds_conditions_in_the_url(server: Server) {
    some(&server).await;
    let mut browser = admin(&server).await;
    browser.open("/products");
    browser.unfold("#filter");
    browser.fill("[name='f0.field']", "product_type");
    let offered = browser.run("[...document.querySelector('[name=\"f0.predicate\"]').options].map(o => o.value)");
    assert!(!offered.as_array().expect("a list").contains(&json!("cont")), "an enum contains nothing: {offered}");
    let choices = browser.run("[...document.querySelector('[name=\"f0.value\"]').options].map(o => o.value)");
    assert!(choices.as_array().expect("a list").contains(&json!("loss_and_damage")), "{choices}");
    browser.fill("[name='f0.value']", "rental");
    browser.press("[data-add-condition]");
    condition(&mut browser, 1, "weight", "lt", "10");
    browser.follow("#filter-form .primary");
    assert_eq!(browser.address(), "/products?q[product_type_eq]=rental&q[weight_lt]=10");
    assert_eq!(names(&mut browser), ["Lamp"]);
    assert!(browser.text(".chips").contains("Weight is less than “10”"));
    browser.follow(".chips li:last-child a");
    assert_eq!(names(&mut browser), ["Lamp", "Table"]);
    browser.fill("#search", "tab");
    browser.run("window.leaving = true; document.querySelector('.search').requestSubmit(); 1");
    browser.until("!window.leaving && document.readyState === 'complete'");
    assert_eq!(names(&mut browser), ["Table"]);
    server.admin().post("/product_groups", json!({ "name": "Lights" })).await.created("product_group");
    server.admin().put("/products/1", json!({ "product_group_id": 1 })).await.ok();
    // The predicate changes before a reference is chosen, and conditions are removed and added.
    browser.open("/products");
    browser.unfold("#filter");
    browser.press("[data-add-condition]");
    browser.press("[data-add-condition]");
    browser.press("[data-condition] [data-remove]");
    browser.press("[data-add-condition]");
    browser.fill("[name='f1.field']", "product_group_id");
    browser.fill("[name='f1.predicate']", "not_eq");
    browser.fill("[name='f1.predicate']", "eq");
    browser
        .run("document.querySelector('[name=\"f1.value\"]').closest('.reference').querySelector('input').focus(); 1");
    browser.type_text("ligh");
    browser.offers("Lights");
    browser.key("Enter", 0);
    condition(&mut browser, 2, "weight", "lt", "10");
    condition(&mut browser, 3, "name", "cont", "a");
    browser.follow("#filter-form .primary");
    let asked = "/products?q[product_group_id_eq]=1&q[weight_lt]=10&q[name_cont]=a";
    assert_eq!((browser.address().as_str(), names(&mut browser)), (asked, vec!["Lamp".to_string()]));
    browser.open("/products");
    browser.unfold("#filter");
    condition(&mut browser, 0, "cf.colour", "eq", "red");
    browser.follow("#filter-form .primary");
    browser.sees("matches these conditions");
    browser.is_clean();
}

async fn filter_inputs_fit_every_screen_width(server: Server) {
    some(&server).await;
    let mut browser = admin(&server).await;
    let cut = "(() => { const box = document.querySelector('#filter form').getBoundingClientRect(); \
        return [...document.querySelectorAll('#filter .condition *')].filter(one => { \
        const at = one.getBoundingClientRect(); return at.width > 1 && at.right > box.right + 1; }).length; })()";
    for width in [390, 800, 1000, 1280] {
        browser.size(width, 900);
        browser.open("/products?q[weight_gt]=5&q[created_at_gt]=2026-01-01T10:00:00Z");
        browser.unfold("#filter");
        assert_eq!(browser.run(cut), 0, "{width}");
    }
    browser.is_clean();
}

async fn conditions_joined_by_or_give_the_result_of_the_api(server: Server) {
    some(&server).await;
    let filters = json!([
        { "field": "name", "predicate": "cont", "value": "lan", "logic": "and" },
        { "field": "weight", "predicate": "gt", "value": "10", "logic": "or" },
    ]);
    let admin_client = server.admin();
    let body = admin_client.list("/products", &[("filters", &filters.to_string())]).await;
    assert_eq!(body.column("products", "name"), [json!("Lantern"), json!("Table")]);
    let negated = json!([{ "field": "name", "predicate": "cont", "value": "lan", "logic": "nand" }]).to_string();
    let body = admin_client.list("/products", &[("filters", &negated), ("q[weight_gt]", "10")]).await;
    assert_eq!(body.column("products", "name"), [json!("Table")], "joined with `q`");
    for (wrong, said) in [
        ("[", "must be a JSON list"),
        ("{}", "must be a list of objects"),
        (r#"[{"field":"nope","predicate":"eq","value":"1"}]"#, "unknown field `nope`"),
        (r#"[{"field":"name","predicate":"nope","value":"1"}]"#, "unknown predicate `nope`"),
        (r#"[{"field":"weight","predicate":"gt","value":"x"}]"#, "(filter 1)"),
    ] {
        let refused = admin_client.list("/products", &[("filters", wrong)]).await;
        assert!(refused.status(422).text.contains(said), "{wrong}: {}", refused.text);
    }
    let mut browser = admin(&server).await;
    browser.open("/products");
    browser.unfold("#filter");
    condition(&mut browser, 0, "name", "cont", "lan");
    browser.press("[data-add-condition]");
    browser.fill("[name='f1.logic']", "or");
    condition(&mut browser, 1, "weight", "gt", "10");
    browser.follow("#filter-form .primary");
    assert_eq!(names(&mut browser), ["Lantern", "Table"]);
    assert!(browser.address().starts_with("/products?filters="));
    // Conditions joined by “or” are described, also in the preview of a deletion.
    let conditions = "[...document.querySelectorAll('.chips li')].map(li => li.innerText.replace('×', '').trim())";
    let said = json!(["Name contains “lan”", "or Weight is more than “10”"]);
    assert_eq!(browser.run(conditions), said);
    // A search narrows the result, and its text is shown in the search box.
    for (text, found) in [("tern", "Lantern"), ("able", "Table")] {
        browser.fill("#search", text);
        browser.run("window.leaving = true; document.querySelector('form.search').requestSubmit(); 1");
        browser.until("!window.leaving && document.readyState === 'complete'");
        assert_eq!(names(&mut browser), [found], "another search replaces the previous one");
        assert_eq!(browser.run("document.querySelector('#search').value"), text);
        assert_eq!(browser.run(conditions)[2], json!(format!("Search: “{text}”")));
    }
    let none = json!([
        { "field": "name", "predicate": "cont", "value": "lan", "logic": "nand" },
        { "field": "weight", "predicate": "gt", "value": "10", "logic": "nor" },
    ]);
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let query = format!("filters={none}");
    let all = [("_all", "1"), ("_query", query.as_str()), ("_step", "delete")];
    let page = panel.submit("/products/bulk", &all).await;
    page.status(200).says("<li>not where Name contains “lan”</li>").says("<li>or not Weight is more than “10”</li>");
    browser.is_clean();
}

async fn columns_and_sort_order_are_saved_in_a_view(server: Server) {
    some(&server).await;
    let mut browser = admin(&server).await;
    browser.open("/products");
    browser.unfold("#columns");
    browser.run("document.querySelectorAll('[data-columns] [name=columns]').forEach(box => { box.checked = ['name', 'weight', 'cf.colour'].includes(box.value); }); 1");
    browser.press("[aria-label='Move Weight up']");
    browser.follow("[data-columns] .primary");
    browser.follow("thead th:last-of-type a, thead th:nth-child(3) a");
    let address = browser.address();
    assert!(address.contains("columns=weight,name,cf.colour") && address.contains("sort="), "{address}");
    browser.press(".views details summary");
    browser.fill(".views [name=name]", "By weight");
    browser.follow(".views .menu-part .primary");
    browser.sees("By weight");
    assert!(browser.address().starts_with("/products?view_id="));
    let head = browser.run(
        "[...document.querySelectorAll('.list thead th')].map(th => th.innerText.replace(/ [↑↓]/, '')).filter(Boolean)",
    );
    assert_eq!(head, json!(["Weight", "Name", "Colour"]));
    let view = server.admin().get("/custom_views").await.records("custom_views")[0].clone();
    assert_eq!(view["columns"], json!(["weight", "name", "cf.colour"]));
    assert_eq!(view["entity_type"], "products");
    browser.is_clean();
}

async fn a_saved_view_is_shared_copied_and_combined_with_conditions(server: Server) {
    some(&server).await;
    let (user, _) = server.user(&[], &["*"]).await;
    let mut plain = signed_in(&server, &user).await;
    assert!(
        !plain.get("/products").await.status(200).text.contains("Rentals"),
        "the cached list of views must not hide a new one"
    );
    let filters = json!([{ "field": "product_type", "predicate": "eq", "value": "rental", "logic": "and" }]);
    let view = json!({ "name": "Rentals", "entity_type": "products", "visibility": "system", "columns": ["name"], "filters": filters });
    let view = server.admin().post("/custom_views", view).await.created("custom_view");
    let page = plain.get(&format!("/products?view_id={}", view["id"])).await;
    page.status(200).says("Rentals").says("System").says("Table");
    assert!(
        !page.text.contains("Lantern") && !page.text.contains("Edit view"),
        "the view belongs to the administrator"
    );
    let copied = plain.submit("/products/views", &[("clone", &view["id"].to_string()), ("_query", "")]).await;
    copied.status(303);
    plain.get(copied.header("location")).await.status(200).says("Rentals (Copy)").says("Edit view");
    let narrowed = format!("/products?view_id={}&q[name_cont]=tab", view["id"]);
    let page = plain.get(&narrowed).await;
    assert!(page.text.contains("Table") && !page.text.contains(">Lamp<"), "a condition narrows a view");
    // Conditions of the list are saved with those of the view, if one list of conditions can express both.
    let beside = format!("view_id={}&q[name_cont]=tab", view["id"]);
    let kept = plain.submit("/products/views", &[("name", "Both"), ("columns", "name"), ("_query", &beside)]).await;
    let both = kept.status(303).header("location").rsplit('=').next().expect("an id").to_string();
    let both = server.admin().get(&format!("/custom_views/{both}")).await.record("custom_view");
    assert_eq!(both["filters"].as_array().map(Vec::len), Some(2), "{both}");
    let or = r#"[{"field":"name","predicate":"cont","value":"a"},{"field":"name","predicate":"cont","value":"b","logic":"or"}]"#;
    let beside = format!("view_id={}&filters={or}", view["id"]);
    plain.submit("/products/views", &[("name", "Both"), ("columns", "name"), ("_query", &beside)]).await.status(400);
    let refused = plain.submit("/products/views", &[("name", ""), ("columns", "name"), ("_query", "")]).await;
    refused.status(422).says("Name");
}

async fn selected_records_are_changed_and_deleted_after_a_preview(server: Server) {
    some(&server).await;
    let mut browser = admin(&server).await;
    browser.open("/products");
    // By keyboard: select the second and the third row.
    browser.run("document.activeElement.blur(); 1");
    browser.type_text("jjxjx");
    browser.until("document.querySelector('[data-chosen]').innerText === '2 selected'");
    browser.follow("[data-bulk] [value=edit]");
    browser.fill("#_field", "weight");
    browser.follow(".record .primary");
    browser.fill("#value", "-1");
    browser.follow(".record .primary");
    browser.follow("form .primary");
    browser.sees("Nothing was changed");
    assert!(browser.text("main").contains("at least 0"));
    browser.open("/products");
    browser.press("[data-all]");
    browser.follow("[data-bulk] [value=edit]");
    browser.fill("#_field", "product_type");
    browser.follow(".record .primary");
    browser.fill("#value", "sale");
    browser.follow(".record .primary");
    let rows = browser.text("table");
    assert!(rows.contains("Lamp") && rows.contains("Rental") && rows.contains("Sale"), "{rows}");
    let asked = server.admin().get("/products?q[product_type_eq]=sale").await.ok()["meta"]["total"].clone();
    assert_eq!(asked, 1, "the preview changes nothing");
    browser.follow("form .primary");
    browser.sees("3 products were changed");
    browser.open("/products?q[name_cont]=la");
    browser.press("[data-all]");
    browser.follow("[data-bulk] [value=delete]");
    browser.sees("2 products will be deleted");
    browser.follow("form .danger");
    browser.sees("2 products were deleted");
    browser.follow("p a.primary");
    assert_eq!(browser.address(), "/products?q[name_cont]=la");
    let left = server.admin().get("/products").await;
    assert_eq!(left.column("products", "name"), [json!("Table")]);
    browser.is_clean();
}

async fn bulk_edit_changes_custom_fields(server: Server) {
    some(&server).await;
    let client = server.admin();
    for (name, kind, required) in
        [("power", "integer", true), ("tested", "boolean", false), ("due_at", "timestamp", false)]
    {
        let field = json!({ "entity_type": "products", "name": name, "field_type": kind, "required": required });
        client.post("/custom_fields", field).await.created("custom_field");
    }
    client.put("/products/1", json!({ "custom_fields": { "colour": "blue", "power": 60 } })).await.ok();
    let mut browser = admin(&server).await;
    browser.open("/products?sort=id");
    browser.press("[data-all]");
    browser.follow("[data-bulk] [value=edit]");
    browser.fill("#_field", "custom_fields.colour");
    browser.follow(".record .primary");
    assert_eq!(browser.text("#value"), "–\nred\nblue", "the choices of the field");
    browser.fill("#value", "red");
    browser.follow(".record .primary");
    assert_eq!(browser.text("tbody"), "Lamp\tblue\tred\nLantern\t–\tred\nTable\t–\tred");
    browser.follow("form .primary");
    browser.sees("3 products were changed");
    let product = client.get("/products/1").await.record("product");
    assert_eq!(product["custom_fields"], json!({ "colour": "red", "power": 60 }), "other custom fields stay unchanged");
    browser.is_clean();
    // All matching records, and each type of custom field.
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    let known = [("_all", "1"), ("_query", "q[name_cont]=la")];
    let values = [
        ("tested", "true", "Yes", json!(true)),
        ("due_at", "2026-03-21T10:00:00", "2026", json!("2026-03-21T10:00:00.000Z")),
        ("power", "1200", "1200", json!(1200)),
        ("tested", "", "–", json!(null)),
    ];
    for (name, given, seen, stored) in values {
        let (field, input) = (format!("custom_fields.{name}"), format!("custom_fields[{name}]"));
        let value = [("_field", field.as_str()), (input.as_str(), given)];
        let shown = admin.submit("/products/bulk", &[&known[..], &value, &[("_step", "preview")]].concat()).await;
        shown.status(200).says("2 products will be changed").says(seen).says(&format!("name=\"{input}\""));
        let progress = super::bulk_all_matching::progress(&shown);
        let done = [("_step", "apply"), ("_progress", progress.as_str())];
        let page = admin.submit("/products/bulk", &[&known[..], &value, &done].concat()).await;
        page.status(200).says("2 products were changed");
        let products = client.get("/products?sort=id").await.records("products");
        let had: Vec<_> = products.iter().map(|product| product["custom_fields"][name].clone()).collect();
        assert_eq!(had, [stored.clone(), stored, json!(null)], "{name}");
    }
    // An invalid value is reported next to the input, which keeps it.
    for (name, given, said) in [
        ("custom_fields.power", "much", "Power must be a whole number"),
        ("custom_fields.power", "", "Power is required"),
        ("weight", "much", "Weight must be"),
    ] {
        let input = name.replace("custom_fields.power", "custom_fields[power]");
        let value = [("_field", name), (input.as_str(), given), ("_step", "preview")];
        admin
            .submit("/products/bulk", &[&known[..], &value].concat())
            .await
            .status(422)
            .says(said)
            .says("id=\"value\"");
    }
}

async fn a_list_shows_the_records_of_its_api_request(server: Server) {
    some(&server).await;
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    let page = admin.get("/products?q[weight_lt]=10&sort=-name&columns=name,weight").await;
    page.status(200);
    let text = page.text.replace("&quot;", "\"").replace("&#39;", "'").replace("&amp;", "&");
    let command =
        text.split("data-copy=\"").nth(1).expect("a command").split("\">Copy as curl").next().expect("its end");
    let url = command.split('\'').nth(1).expect("an address");
    let path = url.split("/api/v1").nth(1).expect("a path of the API");
    let answer = server.admin().get(path).await;
    assert_eq!(answer.column("products", "name"), [json!("Lantern"), json!("Lamp")], "{command}");
    assert_eq!(answer.ok()["products"][0], json!({ "id": 2, "name": "Lantern", "weight": "2.5000" }));
}

async fn an_invalid_list_url_shows_the_error(server: Server) {
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    admin.get("/products?q[weight_gt]=x").await.status(422).says("This list cannot be shown").says("Show all");
    admin.get("/products?filters=[{").await.status(422).says("must be a JSON list");
    // An unknown field changes nothing.
    let unknown = [("_step", "apply"), ("_field", "renamed"), ("renamed", "x"), ("id", "1")];
    admin.submit("/products/bulk", &unknown).await.status(404);
    // The page size grows with the square of the conditions, because each has a link with all others.
    let conditions = |count: usize| format!("/products?{}", vec!["q[name_eq]=x"; count].join("&"));
    admin.get(&conditions(100)).await.status(422).says("at most 50");
    admin.get(&conditions(101)).await.status(400).says("more than 100 conditions");
    admin.get("/products?page=0").await.status(422).says("at least 1");
    admin.get("/products?page=99").await.status(200).says("This page is empty");
    admin.get("/products").await.status(200).says("There are no products yet").says("Create the first one");
    admin.get("/nothing").await.status(404).says("Not found");
    admin.get("/products/99").await.status(404).says("Not found");
    admin.get("/products?q[name_cont]=&sort=").await.status(303);
}

async fn a_list_page_loads_less_than_100_kib(server: Server) {
    some(&server).await;
    for n in 0..40 {
        let product = json!({ "name": format!("Product {n}"), "sku": format!("SKU-{n}"), "weight": n.to_string() });
        server.admin().post("/products", product).await.created("product");
    }
    let mut browser = admin(&server).await;
    browser.call("Network.clearBrowserCache", json!({}));
    browser.open("/products");
    browser.run("new Promise(done => setTimeout(done, 300))");
    assert!(browser.received < 100 * 1024, "{} bytes on the first visit", browser.received);
    browser.open("/products?sort=-name");
    browser.run("new Promise(done => setTimeout(done, 300))");
    assert!(browser.received < 20 * 1024, "{} bytes on the second visit", browser.received);
    let shifts = "new Promise(done => { let sum = 0; new PerformanceObserver(list => list.getEntries().forEach(e => { sum += e.value; })).observe({ type: 'layout-shift', buffered: true }); setTimeout(() => done(sum), 300); })";
    assert_eq!(browser.run(shifts), 0, "layout shift");
}
