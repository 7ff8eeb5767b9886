// Generated from tests/golden/product.yaml. `cargo charter expand product` prints it.

use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    name = "product",
    plural = "products",
    table = "products",
    label = "Product",
    type_name = "Product",
    path = "products",
    ability = "products"
)]
#[resource(soft_delete, custom_fields, events)]
#[resource(
    index("product_group_id"),
    index("sku"),
    index("barcode"),
    search("name", "sku")
)]
#[resource(
    include(name = "productGroup", via = "product_group_id"),
    include(name = "taxClass", via = "tax_class_id"),
    include(name = "customFieldValues", custom_fields),
    include(name = "stockLevels", many = "stock_level", by = "product_id"),
    include(name = "accessories", many = "accessory", by = "product_id")
)]
pub struct Model {
    pub id: i64,
    #[field(string(255), required)]
    pub name: String,
    #[field(text)]
    pub description: Option<String>,
    #[field(
        enumeration("rental", "sale", "service", "loss_and_damage"),
        default = "rental"
    )]
    pub product_type: ProductType,
    #[field(reference("product_group"))]
    #[derived("product_group_name", from = "product_group_id.name")]
    pub product_group_id: Option<i64>,
    #[field(string(64))]
    #[field(
        label = "Stock keeping unit",
        help = "As it is printed on the box.",
        group = "Names",
        widget = "monospace"
    )]
    pub sku: Option<String>,
    #[field(string(64))]
    pub barcode: Option<String>,
    #[field(boolean, default = "true")]
    pub is_active: bool,
    #[field(code(1 = "Bulk", 2 = "Serialised"), default = "1")]
    pub stock_method: StockMethod,
    #[field(decimal(12, 4), default = "0", min = "0")]
    pub weight: Decimal<4>,
    #[field(decimal(12, 2), default = "0", min = "0")]
    pub replacement_charge: Decimal<2>,
    pub custom_fields: Json,
    #[field(timestamp(seconds), read_only)]
    pub created_at: DateTimeUtc,
    #[field(timestamp(seconds), read_only)]
    pub updated_at: DateTimeUtc,
    #[field(code(1 = "Rental", 2 = "Sale", 3 = "Both"), default = "1", detail)]
    pub allowed_stock_type: AllowedStockType,
    #[field(decimal(6, 2), default = "0", min = "0", detail)]
    pub buffer_percent: Decimal<2>,
    #[field(integer, default = "0", min = "0", detail)]
    pub post_rent_unavailability: i32,
    #[field(boolean, default = "false", detail)]
    pub accessory_only: bool,
    #[field(boolean, default = "false", detail)]
    pub system: bool,
    #[field(boolean, default = "true", detail)]
    pub discountable: bool,
    #[field(reference("tax_class"), detail)]
    pub tax_class_id: Option<i64>,
    #[field(reference("tax_class"), detail)]
    pub purchase_tax_class_id: Option<i64>,
    #[field(integer, detail)]
    pub rental_revenue_group_id: Option<i32>,
    #[field(integer, detail)]
    pub sale_revenue_group_id: Option<i32>,
    #[field(integer, detail)]
    pub sub_rental_cost_group_id: Option<i32>,
    #[field(decimal(12, 2), default = "0", min = "0", detail)]
    pub sub_rental_price: Decimal<2>,
    #[field(integer, detail)]
    pub purchase_cost_group_id: Option<i32>,
    #[field(decimal(12, 2), default = "0", min = "0", detail)]
    pub purchase_price: Decimal<2>,
    #[field(integer, detail)]
    pub country_of_origin_id: Option<i32>,
    #[field(list(50), detail)]
    pub tag_list: Json,
    #[field(timestamp(seconds), internal)]
    pub deleted_at: Option<DateTimeUtc>,
}

pub fn route() -> Route {
    Route::of::<Entity>()
}
