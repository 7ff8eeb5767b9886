//! Pages and cards of an application in the panel, and headings of the navigation.

use std::sync::OnceLock;

use charter_runtime::{Error, PanelCard, PanelPage};
use maud::html;
use serde_json::json;

use super::signed_in;
use crate::support::{Database, Fixture, Prepared, Server, on_both};

on_both!(
    page_of_the_application_is_in_the_navigation_and_shows_what_the_user_may_read,
    page_without_its_right_is_403_and_in_no_navigation,
    card_that_fails_says_so_and_the_others_are_shown,
    resources_with_a_menu_are_listed_under_its_heading,
);

/// The service with two pages and two cards.
struct Extended(Server);

impl Fixture for Extended {
    async fn start(database: Database) -> Self {
        static SQLITE: OnceLock<Prepared> = OnceLock::new();
        static POSTGRES: OnceLock<Prepared> = OnceLock::new();
        let template = if database == Database::Sqlite { &SQLITE } else { &POSTGRES };
        let app = charter::app()
            .panel_page(PanelPage {
                path: "heavy",
                title: "Heavy products",
                menu: "Reports",
                right: "products:read",
                render: |panel| {
                    Box::pin(async move {
                        let least = panel.parameter("least")?.unwrap_or_else(|| "1".into());
                        let found = panel.get(&format!("/products?q[weight_gteq]={least}")).await?;
                        let products = found["products"].as_array().into_iter().flatten();
                        Ok(html! { ul { @for product in products {
                            li { (product["name"].as_str().unwrap_or_default()) ": " (panel.number(product["weight"].as_str().unwrap_or_default())) }
                        } } })
                    })
                },
            })
            .panel_page(PanelPage {
                path: "open",
                title: "For everybody",
                menu: "",
                right: "",
                render: |panel| Box::pin(async move { Ok(html! { p { (panel.date("2026-03-21")) " " (panel.money("5")) } }) }),
            })
            .panel_card(PanelCard {
                title: "Greeting",
                right: "",
                render: |panel| Box::pin(async move { Ok(html! { p { "Hello at " (panel.time("2026-03-21T10:00:00Z")) } }) }),
            })
            .panel_card(PanelCard {
                title: "Broken",
                right: "",
                render: |_| Box::pin(async { Err(Error::internal("no secret")) }),
            });
        Extended(Server::open(app, database, template, |_| Box::pin(async {}), |_| {}).await)
    }

    fn server(&self) -> &Server {
        &self.0
    }
}

async fn page_of_the_application_is_in_the_navigation_and_shows_what_the_user_may_read(extended: Extended) {
    let server = extended.server();
    for (name, weight) in [("Lamp", "0.5"), ("Stage <1>", "1234.5")] {
        server.admin().post("/products", json!({ "name": name, "weight": weight })).await.created("product");
    }
    let (user, _) = server.user(&[], &["*"]).await;
    let mut panel = signed_in(server, &user).await;
    let page = panel.get("/panel/pages/heavy").await;
    page.status(200).says("<h1>Heavy products</h1>").says("<h2>Reports</h2>").says("Stage &lt;1&gt;: 1,234.5000");
    page.says("<a href=\"/panel/pages/heavy\" aria-current=\"page\">Heavy products</a>");
    assert!(!page.text.contains("Lamp"), "{}", page.text);
    panel.get("/panel/pages/heavy?least=0").await.status(200).says("Lamp");
    panel.get("/panel/pages/heavy?least=much").await.status(422);
    panel.get("/panel/pages/open").await.status(200).says("21 Mar 2026");
    panel.get("/search?q=heavy").await.status(200).says("/panel/pages/heavy");
    panel.get("/panel/pages/other").await.status(404);
    panel.submit("/panel/pages/open", &[]).await.status(405);
}

async fn page_without_its_right_is_403_and_in_no_navigation(extended: Extended) {
    let server = extended.server();
    let (user, _) = server.user(&[], &["members:read"]).await;
    let mut panel = signed_in(server, &user).await;
    panel.get("/panel/pages/heavy").await.status(403);
    let page = panel.get("/panel/pages/open").await;
    assert!(!page.status(200).text.contains("Heavy products"), "{}", page.text);
    // Without a session the browser signs in first.
    let mut stranger = super::CookieClient::new(&server.url());
    stranger.get("/panel/pages/open").await.status(303);
}

async fn card_that_fails_says_so_and_the_others_are_shown(extended: Extended) {
    let server = extended.server();
    let (user, _) = server.user(&[], &["*"]).await;
    let mut panel = signed_in(server, &user).await;
    let page = panel.get("/").await;
    page.status(200).says("<h2>Greeting</h2><p>Hello at 21 Mar 2026, 10:00</p>");
    page.says("<h2>Broken</h2><p class=\"faint\">This could not be loaded.</p>");
    assert!(!page.text.contains("no secret"), "{}", page.text);
}

async fn resources_with_a_menu_are_listed_under_its_heading(extended: Extended) {
    let server = extended.server();
    let (user, _) = server.user(&[], &["*"]).await;
    let mut panel = signed_in(server, &user).await;
    let text = panel.get("/").await.status(200).text.clone();
    let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
    let order = [
        "href=\"/products\"",
        "<h2>Finance</h2>",
        "href=\"/currencies\"",
        "<h2>Reports</h2>",
        "<h2>Administration</h2>",
        "href=\"/settings\"",
    ];
    assert!(order.map(place).is_sorted(), "{text}");
}
