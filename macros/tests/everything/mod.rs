//! A resource with every key of every attribute.

use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    name = "work_order",
    plural = "work_orders",
    label = "Order",
    type_name = "Work",
    table = "orders",
    path = "jobs",
    ability = "members"
)]
#[resource(read_permission = "orders.see", write_permission = "orders.manage", owner = "user_id")]
#[resource(under(resource = "member", field = "member_id"), operations("list", "show"))]
#[resource(singleton, soft_delete, custom_fields, events, emits("lost"))]
#[resource(
    unique("member_id", "name"),
    index("name"),
    index("weight", "id"),
    search("name", "notes"),
    ordered("weight")
)]
#[resource(
    include(name = "member", via = "member_id", fields("id", "name")),
    include(name = "lines", many = "order_line", by = "work_order_id"),
    include(name = "customFieldValues", custom_fields)
)]
#[resource(
    description = "Work to be done.",
    menu = "Work",
    columns("name", "weight"),
    public(create("name"), limit = "3/day"),
    reveal(name = "key", description = "Opens it.")
)]
#[resource(action(
    name = "close",
    on = "record",
    event = "closed",
    until = "not notes",
    confirm = "It cannot be opened again.",
    reveal(name = "code", description = "Closes it."),
    description = "Ends it."
))]
#[resource(action(name = "copy", on = "record", creates))]
#[resource(action(name = "quote", on = "collection", method = "get", input = QuoteInput, output = QuoteOutput, key = "quote", external, needs_write))]
pub struct Model {
    #[field(no_sort)]
    pub id: i64,
    #[field(
        string(255),
        required,
        min_length = 1,
        pattern = "[A-Z].*",
        description = "The name of the house.",
        example = "Roof"
    )]
    pub name: String,
    #[field(text, filter("eq", "cont"), no_sort)]
    pub notes: Option<String>,
    #[field(reference("member"), immutable, required)]
    #[derived("member_name", from = "member_id.name", detail)]
    #[embedded("lines", resource = "order_line", by = "work_order_id", detail)]
    pub member_id: i64,
    #[field(enumeration("rental", "sale"), default = "rental")]
    pub r#type: String,
    #[field(code(1 = "Bulk", -2 = "Serialised"), default = "-2")]
    #[derived("stock_method_name", from = "stock_method.label", no_filter)]
    pub stock_method: i32,
    #[field(decimal(12, 4), min = "0", max = "1000.5", above = "-1", below = "2000")]
    pub weight: Decimal<4>,
    pub count: i32,
    #[field(value = "count * 2")]
    pub total: i64,
    #[field(rollup(function = "max", of = "loan", by = "order_id", field = "fee", where = "fee > 0"))]
    pub highest: Option<i64>,
    #[field(default = "true")]
    pub active: bool,
    #[field(timestamp(offset), default_now, detail)]
    pub starts_at: DateTimeUtc,
    #[field(timestamp(millis), after = "starts_at", not_before = "created_at")]
    pub ends_at: Option<DateTimeUtc>,
    pub due: Option<Date>,
    pub key: Uuid,
    #[field(list(50), max_length = 3)]
    pub tags: Json,
    #[field(ref_list("role"))]
    pub role_ids: Json,
    pub extra: Json,
    #[field(polymorphic_type("member", "product"))]
    pub regarding_type: Option<String>,
    #[field(polymorphic_id(type_field = "regarding_type"))]
    pub regarding_id: Option<i64>,
    #[field(reference("user"), default_caller, read_only)]
    pub user_id: i64,
    #[field(string(2000), url, secret)]
    pub hook: String,
    #[field(string(255), email, unique, exists = "member.email", differs_from = "hook", no_filter)]
    pub email: String,
    pub custom_fields: Json,
    #[field(read_only)]
    pub created_at: DateTimeUtc,
    pub deleted_at: Option<DateTimeUtc>,
}

#[derive(Clone, Debug, Input)]
pub struct QuoteInput {
    #[field(string(3), required, exists = "currency.code")]
    pub from: String,
    #[field(decimal(18, 8), default = "1")]
    pub amount: Decimal<8>,
    pub at: Option<DateTimeUtc>,
}

#[derive(Clone, Debug, Output)]
pub struct QuoteOutput {
    #[field(string(3))]
    pub from: String,
    pub at: Option<DateTimeUtc>,
    #[field(list(3))]
    pub path: Json,
}
