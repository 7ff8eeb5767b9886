//! Totals below the numeric columns of a list.

use serde_json::json;

use super::signed_in;
use crate::support::{Client, Server, on_both};

on_both!(
    totals_of_all_matching_records_are_shown_on_request,
    totals_follow_conditions_and_views,
    list_without_numbers_offers_no_totals,
);

/// 25 products of which a page shows 20.
async fn products(admin: &Client) {
    for number in 1..=25 {
        let product = json!({ "name": format!("Lamp {number}"), "weight": "1.25", "replacement_charge": "1000.10",
            "product_type": if number > 20 { "sale" } else { "rental" } });
        admin.post("/products", product).await.created("product");
    }
}

/// The text of the last row of the table.
fn footer(page: &str) -> String {
    let row = page.split_once("<tfoot>").and_then(|(_, rest)| rest.split_once("</tfoot>")).map_or("", |(row, _)| row);
    let mut text = String::new();
    let mut is_tag = false;
    for c in row.chars() {
        match c {
            '<' => is_tag = true,
            '>' => {
                is_tag = false;
                text.push(' ');
            }
            c if !is_tag => text.push(c),
            _ => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

async fn totals_of_all_matching_records_are_shown_on_request(server: Server) {
    let admin = server.admin();
    products(&admin).await;
    let user = server.user(&[], &["*"]).await.0;
    let mut panel = signed_in(&server, &user).await;
    let columns = "columns=name,weight,replacement_charge,stock_method,country_of_origin_id";
    let page = panel.get(&format!("/products?{columns}")).await.status(200).text.clone();
    assert!(!page.contains("<tfoot>"), "a sum reads all records, thus it waits for its link");
    let link = page.split("href=\"").find(|rest| rest.contains(">Totals<")).expect("a link to the totals");
    let link = link.split('"').next().expect("an address").replace("&amp;", "&");
    let page = panel.get(&link).await.status(200).text.clone();
    // In the format of the cells: a plain decimal, and an amount of money.
    assert_eq!(footer(&page), "Total 31.2500 £ 25,002.50");
    assert!(page.contains(">Hide totals<") && page.contains("totals=1&amp;page=2"), "the next page shows them too");
}

async fn totals_follow_conditions_and_views(server: Server) {
    let admin = server.admin();
    products(&admin).await;
    let view = json!({ "name": "Sale", "entity_type": "products", "visibility": "system", "columns": ["name", "weight"],
        "filters": [{ "field": "product_type", "predicate": "eq", "value": "sale" }], "sort_column": "weight" });
    let view = admin.post("/custom_views", view).await.created("custom_view");
    let user = server.user(&[], &["*"]).await.0;
    let mut panel = signed_in(&server, &user).await;
    for (query, expected) in [
        ("q[product_type_eq]=rental&columns=weight&totals=1&sort=-weight&per_page=1".to_string(), "Total 25.0000"),
        (format!("view_id={}&totals=1", view["id"]), "Total 6.2500"),
        (format!("view_id={}&q[name_cont]=25&totals=1", view["id"]), "Total 1.2500"),
        ("deleted=only&columns=name,weight&totals=1".into(), ""),
    ] {
        let page = panel.get(&format!("/products?{query}")).await.status(200).text.clone();
        assert_eq!(footer(&page), expected, "{query}");
    }
    let lamp = admin.get("/products?q[name_eq]=Lamp 1").await.records("products")[0]["id"].clone();
    admin.delete(&format!("/products/{lamp}")).await.deleted();
    let page = panel.get("/products?deleted=only&columns=name,weight&totals=1").await.status(200).text.clone();
    assert_eq!(footer(&page), "Total 1.2500");
}

async fn list_without_numbers_offers_no_totals(server: Server) {
    let admin = server.admin();
    admin.post("/members", json!({ "name": "Ada" })).await.created("member");
    let user = server.user(&[], &["*"]).await.0;
    let mut panel = signed_in(&server, &user).await;
    let page = panel.get("/members?columns=name&totals=1").await.status(200).text.clone();
    assert!(!page.contains("<tfoot>") && !page.contains(">Totals<") && !page.contains("Hide totals"));
}
