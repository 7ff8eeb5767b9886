//! The peer: what a careful engineer writes by hand for products alone, with axum, sqlx and serde.
//!
//! It runs the same statements as Charter and answers the same bytes. It checks no token and no query parameter but
//! the page: it does less, so that the ratio is against the floor.

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use chrono::{DateTime, Utc};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use sqlx::postgres::PgPoolOptions;
use sqlx::{FromRow, PgPool};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn decimal<const PLACES: u32, S: Serializer>(value: &Decimal, serializer: S) -> Result<S::Ok, S::Error> {
    let mut value = *value;
    value.rescale(PLACES);
    serializer.collect_str(&value)
}

fn seconds<S: Serializer>(value: &DateTime<Utc>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&value.format("%Y-%m-%dT%H:%M:%SZ"))
}

#[derive(Serialize, FromRow)]
struct Product {
    id: i64,
    name: String,
    description: Option<String>,
    product_type: String,
    product_group_id: Option<i64>,
    product_group_name: Option<String>,
    sku: Option<String>,
    barcode: Option<String>,
    is_active: bool,
    stock_method: i32,
    #[serde(serialize_with = "decimal::<4, _>")]
    weight: Decimal,
    #[serde(serialize_with = "decimal::<2, _>")]
    replacement_charge: Decimal,
    custom_fields: sqlx::types::Json<Box<RawValue>>,
    #[serde(serialize_with = "seconds")]
    created_at: DateTime<Utc>,
    #[serde(serialize_with = "seconds")]
    updated_at: DateTime<Utc>,
}

#[derive(Serialize, FromRow)]
struct Whole {
    #[serde(flatten)]
    #[sqlx(flatten)]
    product: Product,
    allowed_stock_type: i32,
    #[serde(serialize_with = "decimal::<2, _>")]
    buffer_percent: Decimal,
    post_rent_unavailability: i32,
    accessory_only: bool,
    system: bool,
    discountable: bool,
    tax_class_id: Option<i64>,
    purchase_tax_class_id: Option<i64>,
    rental_revenue_group_id: Option<i32>,
    sale_revenue_group_id: Option<i32>,
    sub_rental_cost_group_id: Option<i32>,
    #[serde(serialize_with = "decimal::<2, _>")]
    sub_rental_price: Decimal,
    purchase_cost_group_id: Option<i32>,
    #[serde(serialize_with = "decimal::<2, _>")]
    purchase_price: Decimal,
    country_of_origin_id: Option<i32>,
    tag_list: sqlx::types::Json<Box<RawValue>>,
}

#[derive(Serialize)]
struct One {
    product: Whole,
}

#[derive(Serialize)]
struct Many {
    products: Vec<Product>,
    meta: Meta,
}

#[derive(Serialize)]
struct Meta {
    total: i64,
    per_page: i64,
    page: i64,
}

#[derive(Deserialize)]
struct ListQuery {
    page: Option<i64>,
}

struct Failed(StatusCode);

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        (self.0, Json(serde_json::json!({ "message": "failed" }))).into_response()
    }
}

impl From<sqlx::Error> for Failed {
    fn from(error: sqlx::Error) -> Failed {
        match error {
            sqlx::Error::RowNotFound => Failed(StatusCode::NOT_FOUND),
            other => {
                eprintln!("{other}");
                Failed(StatusCode::INTERNAL_SERVER_ERROR)
            }
        }
    }
}

const COLUMNS: &str = "t.id, t.name, t.description, t.product_type, t.product_group_id, g.name AS product_group_name, \
    t.sku, t.barcode, t.is_active, t.stock_method, t.weight, t.replacement_charge, t.custom_fields, t.created_at, t.updated_at";
const DETAIL: &str = "t.allowed_stock_type, t.buffer_percent, t.post_rent_unavailability, t.accessory_only, t.system, \
    t.discountable, t.tax_class_id, t.purchase_tax_class_id, t.rental_revenue_group_id, t.sale_revenue_group_id, \
    t.sub_rental_cost_group_id, t.sub_rental_price, t.purchase_cost_group_id, t.purchase_price, t.country_of_origin_id, t.tag_list";
const FROM: &str = "FROM products AS t LEFT JOIN product_groups AS g ON g.id = t.product_group_id";

async fn list(State(pool): State<PgPool>, Query(query): Query<ListQuery>) -> Result<Json<Many>, Failed> {
    let page = query.page.unwrap_or(1).max(1);
    let offset = if page == 1 { "" } else { " OFFSET $1" };
    let sql = format!("SELECT {COLUMNS} {FROM} WHERE t.deleted_at IS NULL ORDER BY t.id LIMIT 20{offset}");
    let mut query = sqlx::query_as::<_, Product>(sqlx::AssertSqlSafe(sql));
    if page > 1 {
        query = query.bind((page - 1) * 20);
    }
    let products = query.fetch_all(&pool).await?;
    let total = "SELECT COUNT(*) FROM products AS t WHERE t.deleted_at IS NULL";
    let (total,) = sqlx::query_as::<_, (i64,)>(total).fetch_one(&pool).await?;
    Ok(Json(Many { products, meta: Meta { total, per_page: 20, page } }))
}

async fn show(State(pool): State<PgPool>, Path(id): Path<i64>) -> Result<Json<One>, Failed> {
    let sql = format!("SELECT {COLUMNS}, {DETAIL} {FROM} WHERE t.id = $1 AND t.deleted_at IS NULL");
    let product = sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(id).fetch_one(&pool).await?;
    Ok(Json(One { product }))
}

#[tokio::main]
async fn main() {
    let setting = |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("set {name}"));
    let size = setting("POOL").parse().expect("POOL is a number");
    let pool = PgPoolOptions::new().max_connections(size).test_before_acquire(false);
    let pool = pool.connect(&setting("DATABASE_URL")).await.expect("the database answers");
    let app =
        Router::new().route("/api/v1/products", get(list)).route("/api/v1/products/{id}", get(show)).with_state(pool);
    let listener = tokio::net::TcpListener::bind(setting("LISTEN")).await.expect("the address is free");
    axum::serve(listener, app).await.expect("the server runs");
}
