//! `/products`: rental and sale products.

mod accessories;
mod create;
mod delete;
mod list;
mod restore;
mod show;
mod update;

use serde_json::{Value, json};

use crate::support::Client;

/// Creates a product of this name with further fields.
async fn created(client: &Client, name: &str, further: Value) -> Value {
    let mut body = json!({ "name": name });
    let fields = further.as_object().expect("an object").clone();
    body.as_object_mut().expect("an object").extend(fields);
    client.post("/products", body).await.created("product")
}

/// Creates a product group and answers its id.
async fn group(client: &Client, name: &str) -> Value {
    client.post("/product_groups", json!({ "name": name })).await.created("product_group")["id"].clone()
}

fn path(product: &Value) -> String {
    format!("/products/{}", product["id"])
}

/// The fields of a list item, sorted.
const LIST_FIELDS: [&str; 15] = [
    "barcode",
    "created_at",
    "custom_fields",
    "description",
    "id",
    "is_active",
    "name",
    "product_group_id",
    "product_group_name",
    "product_type",
    "replacement_charge",
    "sku",
    "stock_method",
    "updated_at",
    "weight",
];

/// The further fields of a single product, sorted.
const DETAIL_FIELDS: [&str; 16] = [
    "accessory_only",
    "allowed_stock_type",
    "buffer_percent",
    "country_of_origin_id",
    "discountable",
    "post_rent_unavailability",
    "purchase_cost_group_id",
    "purchase_price",
    "purchase_tax_class_id",
    "rental_revenue_group_id",
    "sale_revenue_group_id",
    "sub_rental_cost_group_id",
    "sub_rental_price",
    "system",
    "tag_list",
    "tax_class_id",
];
