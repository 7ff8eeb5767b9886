//! Style sheet of the panel: states win over the components that have them, in both themes.

use serde_json::json;

use super::admin;
use crate::support::{Browser, Server, on_both};

on_both!(
    browser:
    an_invalid_input_is_red_in_both_themes,
    every_rule_of_the_style_sheet_is_in_a_layer,
);

/// The computed color of a property, and that of a token on the same page.
fn colors(browser: &mut Browser, selector: &str, property: &str, token: &str) -> (String, String) {
    let script = format!(
        "(() => {{ const probe = document.createElement('i'); probe.style.color = 'var({token})'; document.body.append(probe); \
         const wanted = getComputedStyle(probe).color; probe.remove(); \
         return [getComputedStyle(document.querySelector({})).{property}, wanted]; }})()",
        json!(selector)
    );
    let found = browser.run(&script);
    let text = |index: usize| found[index].as_str().expect("a color").to_string();
    (text(0), text(1))
}

async fn an_invalid_input_is_red_in_both_themes(server: Server) {
    let mut browser = admin(&server).await;
    browser.open("/products/new");
    let (valid, red) = colors(&mut browser, "#field-name", "borderTopColor", "--bad");
    assert_ne!(valid, red);
    browser.fill("[name=weight]", "heavy");
    browser.follow(".record .primary");
    browser.sees("The record was not saved");
    for theme in ["light", "dark"] {
        let scheme = json!({ "features": [{ "name": "prefers-color-scheme", "value": theme }] });
        browser.call("Emulation.setEmulatedMedia", scheme);
        for input in ["#field-name", "#field-weight"] {
            let (border, red) = colors(&mut browser, input, "borderTopColor", "--bad");
            assert_eq!(border, red, "{input} in the {theme} theme");
        }
        let (border, red) = colors(&mut browser, "#field-sku", "borderTopColor", "--bad");
        assert_ne!(border, red, "a valid input in the {theme} theme");
    }
    browser.is_clean();
}

async fn every_rule_of_the_style_sheet_is_in_a_layer(server: Server) {
    let mut browser = admin(&server).await;
    browser.open("/products");
    let outside = browser.run(
        "[...document.styleSheets].flatMap(sheet => [...sheet.cssRules]) \
         .filter(rule => !(rule instanceof CSSLayerBlockRule) && !(rule instanceof CSSLayerStatementRule)) \
         .map(rule => rule.cssText.slice(0, 80))",
    );
    assert_eq!(outside, json!([]), "a rule outside of a layer wins over every state");
    let layers = browser
        .run("[...document.styleSheets[0].cssRules].find(rule => rule instanceof CSSLayerStatementRule).nameList");
    assert_eq!(layers, json!(["base", "components", "states", "narrow", "print", "utilities"]));
}
