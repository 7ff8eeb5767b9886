//! Journeys by keyboard alone: shared views, exports, child records, webhooks, exchange rates, help, phone menu, and an
//! ended session.

use charter_runtime::auth::TokenCache;
use charter_runtime::webhook::UrlPolicy;
use serde_json::json;

use super::{CTRL, follow, go, names, press, products, reach, search, write};
use crate::panel::{PASSWORD, admin};
use crate::support::{Receiver, Server, on_both};

on_both!(
    browser:
    a_view_is_saved_for_everyone_and_copied_by_keyboard,
    columns_of_a_view_are_chosen_and_moved_by_keyboard,
    a_list_is_exported_by_keyboard,
    child_records_and_custom_fields_are_edited_by_keyboard,
    a_webhook_is_tested_and_missed_events_are_resent_by_keyboard,
    exchange_rates_are_created_and_help_is_opened_by_keyboard,
    input_is_preserved_by_keyboard_when_the_session_ended,
    the_phone_menu_works_by_keyboard,
);

async fn a_view_is_saved_for_everyone_and_copied_by_keyboard(server: Server) {
    products(&server, 3).await;
    let mut browser = admin(&server).await;
    browser.open("/products?q[name_cont]=lamp&sort=-name");
    press(&mut browser, ".views details summary");
    write(&mut browser, ".views [name=name]", "Lamps");
    write(&mut browser, ".views [name=visibility]", "System");
    follow(&mut browser, ".views form:has([name=name]) .primary");
    press(&mut browser, ".views details summary");
    follow(&mut browser, ".views form:has([name=clone]) button");
    browser.sees("Lamps (Copy)");
    assert_eq!(names(&mut browser)[0], "Lamp 03", "sort order of the view");
    let views = server.admin().get("/custom_views?sort=id").await;
    assert_eq!(views.column("custom_views", "visibility"), ["system", "personal"]);
    browser.is_clean();
}

async fn columns_of_a_view_are_chosen_and_moved_by_keyboard(server: Server) {
    let view = json!({ "name": "Mine", "entity_type": "products", "columns": ["name", "sku"] });
    server.admin().post("/custom_views", view).await.created("custom_view");
    let mut browser = admin(&server).await;
    browser.open("/custom_views/1/edit");
    reach(&mut browser, ".choose [value=name]");
    browser.key(" ", 0);
    press(&mut browser, "[aria-label='Move SKU down']");
    reach(&mut browser, ".choose [value=weight]");
    browser.key(" ", 0);
    press(&mut browser, "[aria-label='Move Weight up']");
    // The arrow stays focused, and a column at the start does not move.
    browser.key("Enter", 0);
    go(&mut browser, "Enter", CTRL);
    let view = server.admin().get("/custom_views/1").await.record("custom_view");
    assert_eq!(view["columns"], json!(["weight", "sku"]));
    browser.is_clean();
}

async fn a_list_is_exported_by_keyboard(server: Server) {
    products(&server, 30).await;
    let mut browser = admin(&server).await;
    let folder = std::env::temp_dir().join(format!("charter-export-{}", server.address.port()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let kept = json!({ "behavior": "allow", "downloadPath": folder.to_str().expect("text") });
    browser.call("Page.setDownloadBehavior", kept);
    browser.open("/products?q[name_cont]=lamp&columns=name,sku");
    press(&mut browser, ".actions .menu summary");
    press(&mut browser, ".actions [name=format][value=csv]");
    let mut text = String::new();
    for _ in 0..400 {
        // The browser has the file under another name until it is complete.
        let files = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|file| file.path());
        let file = files.into_iter().find(|file| file.extension().is_some_and(|ending| ending == "csv"));
        text = file.and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
        if text.contains("Lamp 30") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    // An export contains all records, not one page.
    assert!(text.contains("Lamp 01") && text.contains("Lamp 30"), "{text}");
    browser.is_clean();
}

async fn child_records_and_custom_fields_are_edited_by_keyboard(server: Server) {
    products(&server, 2).await;
    let client = server.admin();
    let field = json!({ "entity_type": "products", "name": "power", "field_type": "integer" });
    client.post("/custom_fields", field).await.created("custom_field");
    let mut browser = admin(&server).await;
    browser.open("/products/1");
    follow(&mut browser, "a[href^='/products/1/accessories/new']");
    search(&mut browser, "#field-accessory_product_id", "lamp 02", "Lamp 02");
    write(&mut browser, "[name=quantity]", "2");
    go(&mut browser, "Enter", CTRL);
    let quantity = || async { client.get("/products/1/accessories").await.column("accessories", "quantity") };
    assert_eq!(quantity().await, ["2.0"]);
    browser.open("/products/1");
    follow(&mut browser, "a[href^='/products/1/accessories/1/edit']");
    write(&mut browser, "[name=quantity]", "3");
    go(&mut browser, "Enter", CTRL);
    assert_eq!(quantity().await, ["3.0"]);
    browser.open("/products/1");
    follow(&mut browser, "a[href^='/products/1/accessories/1/delete']");
    follow(&mut browser, "main form .danger");
    assert!(quantity().await.is_empty());
    browser.open("/products/1");
    go(&mut browser, "e", 0);
    write(&mut browser, "[name='custom_fields[power]']", "60");
    go(&mut browser, "Enter", CTRL);
    assert_eq!(client.get("/products/1").await.record("product")["custom_fields"]["power"], 60);
    browser.is_clean();
}

async fn a_webhook_is_tested_and_missed_events_are_resent_by_keyboard(server: Server) {
    let policy = UrlPolicy { allow_http: true, networks: vec!["127.0.0.0/8".parse().expect("a network")] };
    let server = server.configured(|config| config.webhook_policy = policy).await;
    let receiver = Receiver::answering(200).await;
    let mut browser = admin(&server).await;
    browser.open("/webhooks/new");
    write(&mut browser, "[name=url]", &receiver.url());
    reach(&mut browser, "[value='role.created']");
    browser.key(" ", 0);
    go(&mut browser, "Enter", CTRL);
    follow(&mut browser, "p .primary");
    follow(&mut browser, "form[action$='/test'] button");
    browser.sees("Response status");
    follow(&mut browser, ".record .buttons a");
    follow(&mut browser, "a[href='/webhooks/1/logs/1']");
    browser.sees("Request");
    // Long text is scrolled by keyboard.
    reach(&mut browser, "pre.wrap");
    assert!(browser.text("pre.wrap").starts_with(r#"{"event":"webhook.test","#), "{}", browser.text("pre.wrap"));
    follow(&mut browser, "form[action$='/resend'] button");
    browser.sees("Response status");
    assert_eq!(receiver.received().len(), 2);
    server.admin().post("/roles", json!({ "name": "Missed" })).await.created("role");
    server.sql("UPDATE events SET fanned_out_at = created_at WHERE fanned_out_at IS NULL").await;
    browser.open("/webhooks/1/recover");
    reach(&mut browser, "[name=since]");
    // Month, day, year, hour and minute are separate parts of the input.
    browser.type_text("01012026");
    browser.key("Tab", 0);
    browser.type_text("0100A");
    go(&mut browser, "Enter", CTRL);
    browser.sees("Queued");
    assert_eq!(server.texts("SELECT status AS text FROM webhook_deliveries WHERE status = 'pending'").await.len(), 1);
    browser.is_clean();
}

async fn exchange_rates_are_created_and_help_is_opened_by_keyboard(server: Server) {
    let due = json!({ "subject": "Call", "ends_at": "2020-01-01T10:00:00Z" });
    server.admin().post("/activities", due).await.created("activity");
    let mut browser = admin(&server).await;
    browser.type_text("?");
    browser.until("document.querySelector('#keys').open");
    browser.key("Escape", 0);
    browser.until("!document.querySelector('#keys').open");
    follow(&mut browser, ".columns td.lead a");
    assert_eq!(browser.address(), "/activities/1");
    for rate in ["1.17", "1.19"] {
        browser.open("/exchange_rates");
        go(&mut browser, "n", 0);
        write(&mut browser, "[name=source_currency_code]", "GBP");
        write(&mut browser, "[name=target_currency_code]", "EUR");
        write(&mut browser, "[name=rate]", rate);
        go(&mut browser, "Enter", CTRL);
    }
    let rates = server.admin().get("/exchange_rates?sort=rate").await;
    assert_eq!(rates.column("exchange_rates", "rate"), ["1.17000000", "1.19000000"]);
    browser.is_clean();
}

async fn input_is_preserved_by_keyboard_when_the_session_ended(server: Server) {
    let mut browser = admin(&server).await;
    browser.open("/members/new");
    write(&mut browser, "[name=name]", "Written at length");
    server.sql("DELETE FROM user_sessions").await;
    server.state.extension::<TokenCache>().expect("a token cache").clear();
    go(&mut browser, "Enter", CTRL);
    browser.sees("Your input is preserved");
    write(&mut browser, "#email", "admin@example.com");
    write(&mut browser, "#password", PASSWORD);
    go(&mut browser, "Enter", 0);
    browser.sees("The form was not saved");
    reach(&mut browser, "[name=name]");
    go(&mut browser, "Enter", CTRL);
    browser.sees("Written at length");
    assert!(browser.address().starts_with("/members/"), "{}", browser.address());
    browser.is_clean();
}

async fn the_phone_menu_works_by_keyboard(server: Server) {
    let mut browser = admin(&server).await;
    let open = "document.querySelector('#links').matches(':popover-open')";
    browser.size(390, 800);
    browser.open("/products");
    assert_eq!(browser.run("document.querySelector('#links').checkVisibility()"), false);
    press(&mut browser, ".opens");
    browser.until(open);
    browser.key("Escape", 0);
    browser.until(&format!("!{open}"));
    assert_eq!(browser.run("document.activeElement.matches('.opens')"), true, "the focus returns to the button");
    press(&mut browser, ".opens");
    follow(&mut browser, "#links a[href='/webhooks']");
    browser.sees("There are no webhooks yet");
    browser.size(1280, 900);
    assert_eq!(
        browser.run("document.querySelector('#links').checkVisibility()"),
        true,
        "the navigation is always visible on wide screens"
    );
    browser.is_clean();
}
