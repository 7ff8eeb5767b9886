//! The panel on a phone: rows as cards, targets for fingers, and links to related records.

use serde_json::{Value, json};

use super::admin;
use crate::support::{Browser, Server, on_both};

on_both!(
    browser:
    rows_of_a_list_are_cards_of_two_lines,
    targets_are_at_least_44_pixels_high,
    the_header_of_a_long_list_stays_visible,
    long_words_do_not_widen_a_page,
);

async fn filled(server: &Server) {
    server.admin().post("/product_groups", json!({ "name": "Furniture" })).await.created("product_group");
    for n in 1..=40 {
        let product = json!({
            "name": format!("Folding chair {n} of a long series with a long name"), "sku": format!("FU-{n}"), "product_group_id": 1,
            "weight": "3.5", "barcode": "5012345678900",
        });
        server.admin().post("/products", product).await.created("product");
    }
}

async fn phone(server: &Server) -> Browser {
    let mut browser = admin(server).await;
    browser.size(390, 800);
    browser.call("Emulation.setTouchEmulationEnabled", json!({ "enabled": true }));
    browser
}

async fn rows_of_a_list_are_cards_of_two_lines(server: Server) {
    filled(&server).await;
    let mut browser = phone(&server).await;
    browser.open("/products?sort=id&columns=name,product_group_name,sku,weight,is_active");
    let card = browser.run(
        "(() => { const row = document.querySelector('[data-row]'), of = (selector) => row.querySelector(selector).getBoundingClientRect(); \
         return [row.getBoundingClientRect().height, of('.lead').bottom, of('[href=\"/product_groups/1\"]').top, of('[href=\"/product_groups/1\"]').bottom - row.getBoundingClientRect().bottom, \
         document.documentElement.scrollWidth]; })()",
    );
    let number = |index: usize| card[index].as_f64().expect("a number");
    assert!(number(0) <= 84.0, "two lines, not {card}");
    assert!(number(1) <= number(2), "the related record is in the second line: {card}");
    assert!(number(3) <= 0.0, "and not cut off: {card}");
    assert!(number(4) <= 390.0, "the page does not scroll sideways: {card}");
    // A number has its label, because the column's heading is far away.
    let label =
        browser.run("getComputedStyle(document.querySelector('[data-row] [data-label=Weight]'), '::before').content");
    assert!(label.as_str().is_some_and(|label| label.contains("Weight")), "{label}");
    // The controls of the list are in one bar.
    let tops = browser.run("new Set([...document.querySelectorAll('.search input:not([type=hidden]), .tool > summary')].map(one => Math.round(one.getBoundingClientRect().top))).size");
    assert_eq!(tops, 1);
    browser.follow("[data-row] [href='/product_groups/1']");
    browser.sees("Furniture");
    browser.is_clean();
}

async fn targets_are_at_least_44_pixels_high(server: Server) {
    filled(&server).await;
    let mut browser = phone(&server).await;
    let small = "[...document.querySelectorAll('button, .button, summary, select, input:not([type=hidden], [type=checkbox], [type=radio]), textarea, .pick label, .list thead a, .views a')] \
         .filter(one => one.checkVisibility({ visibilityProperty: true })).filter(one => one.getBoundingClientRect().height < (one.matches('.sign') ? 42 : 44)) \
         .map(one => one.outerHTML.slice(0, 120))";
    for path in ["/products", "/products/1", "/products/1/edit", "/", "/settings", "/panel/account"] {
        browser.open(path);
        assert_eq!(browser.run(small), json!([]), "{path}");
        let width = browser.run("document.documentElement.scrollWidth");
        assert!(width.as_f64() <= Some(390.0), "{path} scrolls sideways: {width}");
    }
    browser.is_clean();
}

async fn the_header_of_a_long_list_stays_visible(server: Server) {
    filled(&server).await;
    let mut browser = admin(&server).await;
    for (width, height) in [(1280, 700), (390, 800)] {
        browser.size(width, height);
        browser.open("/products?per_page=40");
        browser.run("document.querySelector('[data-row]:last-child').scrollIntoView({ block: 'end' }); 1");
        let visible = browser.run(
            "(() => { const heading = document.querySelector('.list thead').querySelector('th:not(.pick)').getBoundingClientRect(); \
             const found = document.elementFromPoint(heading.x + 20, heading.y + heading.height / 2); return [heading.top >= 0, found?.closest('thead') !== null]; })()",
        );
        assert_eq!(visible, Value::from(vec![true, true]), "{width}");
    }
    browser.is_clean();
}

async fn long_words_do_not_widen_a_page(server: Server) {
    let admin = server.admin();
    admin.post("/products", json!({ "name": "W".repeat(250) })).await.created("product");
    let url = format!("https://hooks.example.com/{}", "x".repeat(200));
    let webhook = json!({ "url": url, "events": ["product.created"] });
    admin.post("/webhooks", webhook).await.created("webhook");
    server.sql("UPDATE webhooks SET failing_since = created_at").await;
    let mut browser = phone(&server).await;
    browser.size(360, 800);
    for path in ["/products/1/delete", "/products/1/edit", "/"] {
        browser.open(path);
        let width = browser.run("document.documentElement.scrollWidth");
        assert!(width.as_f64() <= Some(360.0), "{path} scrolls sideways: {width}");
    }
    browser.is_clean();
}
