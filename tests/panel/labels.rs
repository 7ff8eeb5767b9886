//! Declared `label`, `help`, `placeholder`, `group` and `widget` in forms and on record pages; number and money formats.

use serde_json::json;

use super::{CookieClient, signed_in};
use crate::support::{Server, on_both};

on_both!(
    a_form_has_the_declared_labels_groups_help_and_inputs,
    a_record_page_groups_fields_under_their_headings,
    values_of_radio_buttons_and_textareas_are_saved,
    the_openapi_document_has_labels_as_titles,
    money_is_shown_and_entered_with_its_currency_symbol,
    numbers_and_money_have_the_format_of_the_base_currency,
);

async fn a_form_has_the_declared_labels_groups_help_and_inputs(server: Server) {
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    let form = admin.get("/products/new").await;
    form.status(200).says("<legend>Accounting</legend>").says("<legend>Money</legend>").says("Country of origin");
    form.says("One on each line.").says("type=\"radio\" name=\"allowed_stock_type\" value=\"1\" checked");
    assert!(!form.text.contains("<select id=\"field-allowed_stock_type\""), "a radio widget has no select");
    form.says("<input class=\"code\" type=\"text\" id=\"field-sku\"");
    form.says("id=\"field-barcode\" name=\"barcode\" value=\"\" maxlength=\"64\" placeholder=\"EAN-13 or UPC-A\"");
    assert_eq!(form.text.matches("placeholder=\"EAN-13").count(), 1);
    // A group contains its fields wherever they are declared.
    let (_, money) = form.text.split_once("<legend>Money</legend>").expect("a group");
    let (money, _) = money.split_once("</fieldset>").expect("its end");
    for field in ["replacement_charge", "sub_rental_price", "purchase_price"] {
        assert_eq!(form.text.matches(&format!("id=\"field-{field}\"")).count(), 1);
        assert!(money.contains(&format!("id=\"field-{field}\"")), "{field}: {money}");
    }
    assert!(!money.contains("field-weight"));
    // Errors use the label of the form.
    let refused = admin.submit("/products", &[("name", "Lamp"), ("country_of_origin_id", "x")]).await;
    refused.status(422).says("<a href=\"#field-country_of_origin_id\">Country of origin</a>");
}

async fn a_record_page_groups_fields_under_their_headings(server: Server) {
    let lamp = json!({ "name": "Lamp", "sku": "L-1", "purchase_price": "1.50" });
    server.admin().post("/products", lamp).await.created("product");
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    let page = admin.get("/products/1").await;
    page.status(200)
        .says("<h2>Money</h2>")
        .says("<h2>Accounting</h2>")
        .says("<code><span class=\"text\">L-1</span></code>")
        .says("Unavailable after a rental");
    let (_, money) = page.text.split_once("<h2>Money</h2>").expect("a part");
    let (money, _) = money.split_once("</section>").expect("its end");
    assert!(money.contains("Purchase price") && !money.contains("Weight"), "{money}");
    admin.get("/products?columns=name,sku").await.says("<code>L-1</code>");
    admin.get("/activities?columns=subject,time_status&tool=columns").await.says("Time shown as");
}

async fn values_of_radio_buttons_and_textareas_are_saved(server: Server) {
    let client = server.admin();
    client.post("/products", json!({ "name": "Lamp" })).await.created("product");
    client.post("/activities", json!({ "subject": "Call" })).await.created("activity");
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    admin.submit("/products/1", &[("allowed_stock_type", "3")]).await.status(303);
    assert_eq!(client.get("/products/1").await.record("product")["allowed_stock_type"], 3);
    let form = admin.get("/products/1/edit").await;
    form.says("name=\"allowed_stock_type\" value=\"3\" checked");
    // A required choice has no empty option.
    assert!(!form.text.contains("name=\"allowed_stock_type\" value=\"\""), "{}", form.text);
    for name in ["stock_method", "product_type"] {
        let named = format!("name=\"{name}\"");
        let (_, rest) = form.text.split_once(&named).expect("an input");
        let select = rest.split("</select>").next().unwrap_or_default();
        assert!(select.contains("<option") && !select.contains("value=\"\""), "{select}");
    }
    admin.submit("/activities/1", &[("location", "Hall 2\r\nSouth"), ("priority", "2")]).await.status(303);
    let call = client.get("/activities/1").await.record("activity");
    assert_eq!((&call["location"], &call["priority"]), (&json!("Hall 2\nSouth"), &json!(2)));
    let form = admin.get("/activities/1/edit").await;
    form.says("Hall 2\nSouth</textarea>").says("name=\"priority\" value=\"2\" checked");
    let refused = admin.submit("/activities/1", &[("priority", "9")]).await;
    refused.status(422).says("id=\"field-priority-error\"").says("value=\"9\" checked");
}

async fn the_openapi_document_has_labels_as_titles(server: Server) {
    let described = server.anonymous().get("/openapi.json").await.ok();
    let property = |schema: &str, name: &str| described["components"]["schemas"][schema]["properties"][name].clone();
    for schema in ["Product", "ProductCreate", "ProductUpdate"] {
        assert_eq!(property(schema, "country_of_origin_id")["title"], "Country of origin", "{schema}");
        // The help is written for the inputs of the panel: for API clients tags are a list.
        let tags = property(schema, "tag_list")["description"].clone();
        assert!(tags.as_str().is_some_and(|text| !text.contains("One on each line")), "{schema}: {tags}");
        assert_eq!(property(schema, "name")["title"], json!(null), "{schema}");
    }
    // A label that the description repeats is left out.
    let sku = property("Product", "sku")["description"].clone();
    assert!(sku.as_str().is_some_and(|text| text.starts_with("The stock keeping unit.")), "{sku}");
}

async fn money_is_shown_and_entered_with_its_currency_symbol(server: Server) {
    let mut admin = lamp_that_costs(&server).await;
    admin.get("/products/1").await.status(200).says("<bdi>£</bdi>1,234.50").says("1,500.2500");
    admin.get("/products?columns=name,replacement_charge,weight").await.says("<bdi>£</bdi>1,234.50").says("1,500.2500");
    // The input has the API's number format.
    let symbol = "<span class=\"money\"><span class=\"symbol\" aria-hidden=\"true\">£</span><input";
    admin.get("/products/1/edit").await.says(symbol).says("value=\"1234.50\"");
}

async fn numbers_and_money_have_the_format_of_the_base_currency(server: Server) {
    server.admin().put("/settings", json!({ "base_currency": "EUR" })).await.ok();
    let mut admin = lamp_that_costs(&server).await;
    let list = admin.get("/products?columns=name,replacement_charge,weight").await;
    list.status(200).says("1.234,50\u{a0}<bdi>€</bdi>").says("1.500,2500");
    admin.get("/products/1/edit").await.says("<span class=\"symbol\" aria-hidden=\"true\">€</span></span>");
}

async fn lamp_that_costs(server: &Server) -> CookieClient {
    let lamp = json!({ "name": "Lamp", "replacement_charge": "1234.5", "weight": "1500.25" });
    server.admin().post("/products", lamp).await.created("product");
    signed_in(server, &json!({ "id": 1 })).await
}
