//! Brand of an application: its name, logo and color on the pages.

use charter_runtime::config::{Brand, Color, Logo};
use serde_json::json;

use super::{CookieClient, admin, signed_in};
use crate::support::{Server, on_both};

on_both!(browser: links_have_the_color_of_the_application_in_both_themes);
on_both!(pages_have_the_name_and_the_logo_of_the_application);

const LOGO: &str = r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20"><script>alert(1)</script></svg>"#;

async fn branded(server: &Server) -> Server {
    let logo = Logo { media_type: "image/svg+xml", bytes: LOGO.as_bytes().into() };
    let brand = Brand { name: Some("Stage & Light".into()), logo: Some(logo), color: Some(Color([0x8a, 0x1c, 0x4a])) };
    server.configured(|config| config.brand = brand).await
}

async fn pages_have_the_name_and_the_logo_of_the_application(server: Server) {
    let mut plain = signed_in(&server, &json!({ "id": 1 })).await;
    assert!(!plain.get("/").await.text.contains("brand.css"), "an application without a brand loads no further file");
    plain.get("/panel/assets/brand.css").await.status(404);
    plain.get("/panel/assets/logo").await.status(404);
    let server = branded(&server).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let page = panel.get("/").await;
    page.says("<title>Overview · Stage &amp; Light</title>").says("<img class=\"mark logo\" src=\"/panel/assets/logo?");
    CookieClient::new(&server.url()).get("/panel/sign-in").await.says("Sign in to Stage &amp; Light");
    let logo = panel.get("/panel/assets/logo").await;
    assert_eq!((logo.header("content-type"), logo.text.as_str()), ("image/svg+xml", LOGO));
    assert!(logo.header("content-security-policy").starts_with("default-src 'none'"), "a script in it does not run");
    panel.post("/panel/assets/logo", &[]).await.status(405);
}

async fn links_have_the_color_of_the_application_in_both_themes(server: Server) {
    let server = branded(&server).await;
    let mut browser = admin(&server).await;
    browser.open("/products");
    let color = "getComputedStyle(document.querySelector('.primary')).backgroundColor";
    assert_eq!(browser.run(color), "rgb(138, 28, 74)");
    let scheme = json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
    browser.call("Emulation.setEmulatedMedia", scheme);
    assert_ne!(browser.run(color), "rgb(138, 28, 74)", "lighter on a dark ground");
    browser.is_clean();
}
