//! Columns and page size that a user has chosen for a list, and views that are changed on screen.

use serde_json::json;

use super::{CookieClient, admin, signed_in};
use crate::support::{Server, on_both};

on_both!(
    chosen_columns_hold_on_the_next_visit_of_this_user_only,
    columns_of_a_view_are_not_remembered_and_mark_the_view_as_changed,
);

on_both!(browser: columns_are_remembered_by_the_button_of_the_picker);

/// The headings of a list.
pub(super) async fn headings(panel: &mut CookieClient, path: &str) -> Vec<String> {
    let text = panel.get(path).await.status(200).text.clone();
    let head = text.split("<thead>").nth(1).and_then(|rest| rest.split("</thead>").next()).unwrap_or_default();
    let cells = head.split("<th ").skip(1).map(|cell| cell.split_once('>').map_or("", |(_, rest)| rest));
    let text = |cell: &str| {
        cell.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect::<String>()
    };
    cells
        .map(text)
        .map(|cell| cell.trim_end_matches([' ', '↑', '↓']).to_string())
        .filter(|cell| !cell.is_empty())
        .collect()
}

async fn chosen_columns_hold_on_the_next_visit_of_this_user_only(server: Server) {
    server.admin().post("/products", json!({ "name": "Lamp" })).await.created("product");
    let (one, _) = server.user(&[], &["*"]).await;
    let (other, _) = server.user(&[], &["*"]).await;
    let (mut one, mut other) = (signed_in(&server, &one).await, signed_in(&server, &other).await);
    let default = headings(&mut one, "/products").await;
    let chosen = [
        ("columns", "weight"),
        ("columns", "name"),
        ("columns", "nothing"),
        ("columns", "name"),
        ("per_page", "50"),
        ("sort", "-name"),
    ];
    let answer = one.submit("/products/columns", &chosen).await;
    assert_eq!(answer.status(303).header("location"), "/products?columns=weight,name&sort=-name&per_page=50");
    assert_eq!(headings(&mut one, "/products").await, ["Weight", "Name"]);
    one.get("/products").await.says("per_page=50");
    assert_eq!(headings(&mut other, "/products").await, default);
    // The columns of a link come first.
    assert_eq!(headings(&mut one, "/products?columns=name").await, ["Name"]);
    one.get("/products?tool=columns").await.says("Use the default columns");
    one.submit("/products/columns?forget=1", &chosen).await.status(303);
    assert_eq!(headings(&mut one, "/products").await, default);
    for rows in ["much", "0", "101"] {
        one.submit("/products/columns", &[("per_page", rows)]).await.status(400);
    }
    one.post("/products/columns", &[("columns", "name")]).await.status(409);
}

async fn columns_of_a_view_are_not_remembered_and_mark_the_view_as_changed(server: Server) {
    server.admin().post("/products", json!({ "name": "Lamp" })).await.created("product");
    let (user, client) = server.user(&[], &["*"]).await;
    let view =
        json!({ "name": "Short", "entity_type": "products", "columns": ["name"], "filters": [], "per_page": 20 });
    client.post("/custom_views", view).await.created("custom_view");
    let mut panel = signed_in(&server, &user).await;
    let default = headings(&mut panel, "/products").await;
    let page = panel.get("/products?view_id=1").await;
    assert!(!page.status(200).text.contains("is changed on this screen"), "{}", page.text);
    for change in ["columns=weight,name", "sort=-name", "q[weight_gt]=1", "per_page=50", "search=lamp"] {
        let page = panel.get(&format!("/products?view_id=1&{change}")).await;
        page.status(200).says("is changed on this screen").says("Save the view").says("Discard the changes");
    }
    let answer = panel.submit("/products/columns", &[("columns", "weight"), ("view_id", "1")]).await;
    assert_eq!(answer.status(303).header("location"), "/products?view_id=1&columns=weight");
    assert_eq!(headings(&mut panel, "/products").await, default);
    assert_eq!(headings(&mut panel, "/products?view_id=1").await, ["Name"]);
    // Others see the mark, and cannot store the change.
    let shared =
        json!({ "name": "All", "entity_type": "products", "visibility": "system", "columns": ["name"], "filters": [] });
    server.admin().post("/custom_views", shared).await.created("custom_view");
    let page = panel.get("/products?view_id=2&sort=-name").await;
    assert!(
        page.status(200).text.contains("is changed on this screen") && !page.text.contains("Save the view"),
        "{}",
        page.text
    );
}

async fn columns_are_remembered_by_the_button_of_the_picker(server: Server) {
    server.admin().post("/products", json!({ "name": "Lamp" })).await.created("product");
    let mut browser = admin(&server).await;
    browser.open("/products");
    browser.unfold("#columns");
    browser.run("document.querySelectorAll('[data-columns] [name=columns]').forEach(box => { box.checked = ['name', 'weight'].includes(box.value); }); 1");
    browser.follow("[data-columns] .primary");
    assert!(browser.address().contains("columns=name,weight"), "{}", browser.address());
    browser.open("/products");
    assert_eq!(browser.run("[...document.querySelectorAll('thead th:not(.pick)')].map(cell => cell.textContent.trim().replace(/ .*/, ''))"), json!(["Name", "Weight"]));
    browser.is_clean();
}
