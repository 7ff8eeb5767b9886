//! Words of a declaration that steer the panel: what fields are called, what helps, where they stand, how they are typed.

use serde_json::json;

use super::{Visitor, visitor};
use crate::support::{Server, on_both};

on_both!(
    a_form_has_the_labels_groups_help_and_inputs_of_the_declaration,
    a_record_is_shown_under_the_headings_of_its_fields,
    what_a_radio_or_a_tall_input_sends_is_stored,
    the_description_of_the_api_has_them_as_titles,
    money_has_its_symbol_where_it_is_shown_and_typed,
    numbers_and_money_are_written_as_the_currency_of_the_settings_says,
);

async fn a_form_has_the_labels_groups_help_and_inputs_of_the_declaration(server: Server) {
    let mut admin = visitor(&server, &json!({ "id": 1 })).await;
    let form = admin.get("/products/new").await;
    form.status(200).says("<legend>Accounting</legend>").says("<legend>Money</legend>").says("Country of origin");
    form.says("One on each line.").says("type=\"radio\" name=\"allowed_stock_type\" value=\"1\" checked");
    assert!(!form.text.contains("<select id=\"field-allowed_stock_type\""), "there is one input of it");
    form.says("<input class=\"code\" type=\"text\" id=\"field-sku\"");
    // Those of a group stand in it, wherever they are declared.
    let (_, money) = form.text.split_once("<legend>Money</legend>").expect("a group");
    let (money, _) = money.split_once("</fieldset>").expect("its end");
    for field in ["replacement_charge", "sub_rental_price", "purchase_price"] {
        assert_eq!(form.text.matches(&format!("id=\"field-{field}\"")).count(), 1);
        assert!(money.contains(&format!("id=\"field-{field}\"")), "{field}: {money}");
    }
    assert!(!money.contains("field-weight"));
    // Problems call a field what its form does.
    let refused = admin.submit("/products", &[("name", "Lamp"), ("country_of_origin_id", "x")]).await;
    refused.status(422).says("<a href=\"#field-country_of_origin_id\">Country of origin</a>");
}

async fn a_record_is_shown_under_the_headings_of_its_fields(server: Server) {
    let lamp = json!({ "name": "Lamp", "sku": "L-1", "purchase_price": "1.50" });
    server.admin().post("/products", lamp).await.created("product");
    let mut admin = visitor(&server, &json!({ "id": 1 })).await;
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

async fn what_a_radio_or_a_tall_input_sends_is_stored(server: Server) {
    let client = server.admin();
    client.post("/products", json!({ "name": "Lamp" })).await.created("product");
    client.post("/activities", json!({ "subject": "Call" })).await.created("activity");
    let mut admin = visitor(&server, &json!({ "id": 1 })).await;
    admin.submit("/products/1", &[("allowed_stock_type", "3")]).await.status(303);
    assert_eq!(client.get("/products/1").await.record("product")["allowed_stock_type"], 3);
    let form = admin.get("/products/1/edit").await;
    form.says("name=\"allowed_stock_type\" value=\"3\" checked");
    // What must be something is not offered nothing.
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

async fn the_description_of_the_api_has_them_as_titles(server: Server) {
    let described = server.anonymous().get("/openapi.json").await.ok();
    let property = |schema: &str, name: &str| described["components"]["schemas"][schema]["properties"][name].clone();
    for schema in ["Product", "ProductCreate", "ProductUpdate"] {
        assert_eq!(property(schema, "country_of_origin_id")["title"], "Country of origin", "{schema}");
        // What helps people with an input misleads clients: their tags are a list.
        let tags = property(schema, "tag_list")["description"].clone();
        assert!(tags.as_str().is_some_and(|text| !text.contains("One on each line")), "{schema}: {tags}");
        assert_eq!(property(schema, "name")["title"], json!(null), "{schema}");
    }
    // What stands in the description already is not told twice.
    let sku = property("Product", "sku")["description"].clone();
    assert!(sku.as_str().is_some_and(|text| text.starts_with("The stock keeping unit.")), "{sku}");
}

async fn money_has_its_symbol_where_it_is_shown_and_typed(server: Server) {
    let mut admin = lamp_that_costs(&server).await;
    admin.get("/products/1").await.status(200).says("<bdi>£</bdi>1,234.50").says("1,500.2500");
    admin.get("/products?columns=name,replacement_charge,weight").await.says("<bdi>£</bdi>1,234.50").says("1,500.2500");
    // It is typed as the API takes it.
    let symbol = "<span class=\"money\"><span class=\"symbol\" aria-hidden=\"true\">£</span><input";
    admin.get("/products/1/edit").await.says(symbol).says("value=\"1234.50\"");
}

async fn numbers_and_money_are_written_as_the_currency_of_the_settings_says(server: Server) {
    server.admin().put("/settings", json!({ "base_currency": "EUR" })).await.ok();
    let mut admin = lamp_that_costs(&server).await;
    let list = admin.get("/products?columns=name,replacement_charge,weight").await;
    list.status(200).says("1.234,50\u{a0}<bdi>€</bdi>").says("1.500,2500");
    admin.get("/products/1/edit").await.says("<span class=\"symbol\" aria-hidden=\"true\">€</span></span>");
}

async fn lamp_that_costs(server: &Server) -> Visitor {
    let lamp = json!({ "name": "Lamp", "replacement_charge": "1234.5", "weight": "1500.25" });
    server.admin().post("/products", lamp).await.created("product");
    visitor(server, &json!({ "id": 1 })).await
}
