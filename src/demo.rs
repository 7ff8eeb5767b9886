//! Sample data for `charter seed demo`: a rental business with as many products, members and activities as asked for.

mod row;

use std::sync::Arc;

use charter_runtime::Result;
use charter_runtime::app::Demo;
use charter_runtime::auth::user;
use charter_runtime::context::State;
use charter_runtime::custom_field;
use charter_runtime::db::Connection;
use charter_runtime::ops::BoxFuture;
use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use sea_orm::sea_query::OnConflict;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, EntityTrait, Iterable, PaginatorTrait, PrimaryKeyToColumn, QueryFilter, QueryOrder,
    QuerySelect, Select,
};

use crate::generated::{
    accessory, activity, activity_participant, exchange_rate, member, product, product_group, stock_level, tax_class,
};

/// What the command makes when nothing else is said.
pub const DEMO: Demo = Demo {
    // Parents first: a row refers to those that are there.
    counts: &[
        ("tax_classes", 3),
        ("product_groups", 20),
        ("exchange_rates", 6),
        ("custom_fields", 7),
        ("products", 500),
        ("members", 100),
        ("stock_levels", 800),
        ("accessories", 300),
        ("activities", 300),
        ("activity_participants", 450),
    ],
    fill,
};

/// So many rows go in one statement: below the limit of bound values of either database.
const BATCH: u64 = 500;

/// What rows refer to: the ids of each, in their order.
#[derive(Default)]
struct Ground {
    groups: Vec<i64>,
    tax_classes: Vec<i64>,
    products: Vec<i64>,
    members: Vec<i64>,
    activities: Vec<i64>,
    users: Vec<i64>,
    start: DateTime<Utc>,
}

fn fill<'a>(
    state: &'a Arc<State>,
    resource: &'a str,
    wanted: u64,
    progress: &'a (dyn Fn(u64) + Sync),
) -> BoxFuture<'a, Result<u64>> {
    Box::pin(async move {
        let ground = ground(state, resource).await?;
        let wanted = wanted.min(most(resource, &ground));
        let (to, ground) = (state, &ground);
        match resource {
            "tax_classes" => add::<tax_class::Entity>(to, wanted, progress, ground, row::tax_class_row).await,
            "product_groups" => {
                add::<product_group::Entity>(to, wanted, progress, ground, row::product_group_row).await
            }
            "exchange_rates" => {
                add::<exchange_rate::Entity>(to, wanted, progress, ground, row::exchange_rate_row).await
            }
            "custom_fields" => add::<custom_field::Entity>(to, wanted, progress, ground, row::custom_field_row).await,
            "products" => add::<product::Entity>(to, wanted, progress, ground, row::product_row).await,
            "members" => add::<member::Entity>(to, wanted, progress, ground, row::member_row).await,
            "stock_levels" => add::<stock_level::Entity>(to, wanted, progress, ground, row::stock_level_row).await,
            "accessories" => add::<accessory::Entity>(to, wanted, progress, ground, row::accessory_row).await,
            "activities" => add::<activity::Entity>(to, wanted, progress, ground, row::activity_row).await,
            _ => add::<activity_participant::Entity>(to, wanted, progress, ground, row::participant_row).await,
        }
    })
}

/// What the rows of a resource refer to.
async fn ground(state: &Arc<State>, resource: &str) -> Result<Ground> {
    let mut ground = Ground { start: Utc::now().trunc_subsecs(0) - TimeDelta::days(365), ..Default::default() };
    let db = state.db.reader();
    let products = product::Entity::find().filter(product::Column::DeletedAt.is_null());
    match resource {
        "products" => {
            ground.groups = ids(product_group::Entity::find(), db).await?;
            ground.tax_classes = ids(tax_class::Entity::find(), db).await?;
        }
        "stock_levels" | "accessories" => ground.products = ids(products, db).await?,
        "activities" => {
            ground.products = ids(products, db).await?;
            ground.members = ids(member::Entity::find(), db).await?;
            ground.users = ids(user::Entity::find(), db).await?;
        }
        "activity_participants" => {
            ground.activities = ids(activity::Entity::find(), db).await?;
            ground.members = ids(member::Entity::find(), db).await?;
        }
        _ => {}
    }
    Ok(ground)
}

/// The ids of these records, in their order.
async fn ids<E: EntityTrait>(records: Select<E>, db: &Connection) -> Result<Vec<i64>> {
    let Some(id) = E::PrimaryKey::iter().map(PrimaryKeyToColumn::into_column).next() else { return Ok(Vec::new()) };
    Ok(records.select_only().column(id).order_by_asc(id).into_tuple().all(db).await?)
}

/// So many rows of a resource there can be: a pair stands once, and what must refer to something has something.
fn most(resource: &str, ground: &Ground) -> u64 {
    let some = |ids: &[i64]| if ids.is_empty() { 0 } else { u64::MAX };
    let count = |ids: &[i64]| ids.len() as u64;
    match resource {
        "exchange_rates" => row::RATES.len() as u64,
        "custom_fields" => row::CUSTOM_FIELDS.len() as u64,
        "stock_levels" => some(&ground.products),
        "accessories" => count(&ground.products).saturating_mul(count(&ground.products).saturating_sub(1)),
        "activities" => some(&ground.users),
        "activity_participants" => count(&ground.activities).saturating_mul(count(&ground.members)),
        _ => u64::MAX,
    }
}

/// Adds the rows that are missing to the wanted number, in batches. A row is made of its index and of what it refers to
/// alone, so that every run makes the same ones.
async fn add<E>(
    state: &Arc<State>,
    wanted: u64,
    progress: &(dyn Fn(u64) + Sync),
    ground: &Ground,
    row: fn(u64, &Ground) -> E::ActiveModel,
) -> Result<u64>
where
    E: EntityTrait,
    E::Model: Send + Sync,
    E::ActiveModel: ActiveModelTrait<Entity = E> + Send,
{
    let present = E::find().count(state.db.reader()).await?;
    let mut next = present;
    progress(next);
    while next < wanted {
        let end = (next + BATCH).min(wanted);
        let rows: Vec<E::ActiveModel> = (next..end).map(|index| row(index, ground)).collect();
        let transaction = state.db.begin().await?;
        // A row whose unique value is there already is one that is not missing.
        let insert = E::insert_many(rows).on_conflict(OnConflict::new().do_nothing().to_owned());
        insert.exec_without_returning(&transaction).await?;
        transaction.commit().await?;
        next = end;
        progress(next);
    }
    Ok(next - present)
}
