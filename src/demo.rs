//! Sample data for `charter seed demo`: products, members and activities of a rental business.

mod row;

use std::sync::Arc;

use charter_runtime::Result;
use charter_runtime::app::Demo;
use charter_runtime::auth::user;
use charter_runtime::custom_fields;
use charter_runtime::db::Connection;
use charter_runtime::ops::BoxFuture;
use charter_runtime::ops::State;
use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use sea_orm::sea_query::OnConflict;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, EntityTrait, Iterable, PaginatorTrait, PrimaryKeyToColumn, QueryFilter, QueryOrder,
    QuerySelect, Select,
};

use crate::generated::{
    accessory, activity, activity_participant, exchange_rate, member, product, product_group, stock_level, tax_class,
};

/// Default numbers of records.
pub const DEMO: Demo = Demo {
    // Parents first, because rows refer to existing records.
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

/// Rows per statement, within the limit of bound values of both databases.
const BATCH_ROWS: u64 = 500;

/// Ids of the records that rows refer to, in ascending order.
#[derive(Default)]
struct References {
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
        let references = references(state, resource).await?;
        let wanted = wanted.min(max_rows(resource, &references));
        let (to, references) = (state, &references);
        match resource {
            "tax_classes" => add::<tax_class::Entity>(to, wanted, progress, references, row::tax_class_row).await,
            "product_groups" => {
                add::<product_group::Entity>(to, wanted, progress, references, row::product_group_row).await
            }
            "exchange_rates" => {
                add::<exchange_rate::Entity>(to, wanted, progress, references, row::exchange_rate_row).await
            }
            "custom_fields" => {
                add::<custom_fields::Entity>(to, wanted, progress, references, row::custom_field_row).await
            }
            "products" => add::<product::Entity>(to, wanted, progress, references, row::product_row).await,
            "members" => add::<member::Entity>(to, wanted, progress, references, row::member_row).await,
            "stock_levels" => add::<stock_level::Entity>(to, wanted, progress, references, row::stock_level_row).await,
            "accessories" => add::<accessory::Entity>(to, wanted, progress, references, row::accessory_row).await,
            "activities" => add::<activity::Entity>(to, wanted, progress, references, row::activity_row).await,
            _ => add::<activity_participant::Entity>(to, wanted, progress, references, row::participant_row).await,
        }
    })
}

/// Loads the references of a resource.
async fn references(state: &Arc<State>, resource: &str) -> Result<References> {
    let mut references = References { start: Utc::now().trunc_subsecs(0) - TimeDelta::days(365), ..Default::default() };
    let db = state.db.reader();
    let products = product::Entity::find().filter(product::Column::DeletedAt.is_null());
    match resource {
        "products" => {
            references.groups = ids(product_group::Entity::find(), db).await?;
            references.tax_classes = ids(tax_class::Entity::find(), db).await?;
        }
        "stock_levels" | "accessories" => references.products = ids(products, db).await?,
        "activities" => {
            references.products = ids(products, db).await?;
            references.members = ids(member::Entity::find(), db).await?;
            references.users = ids(user::Entity::find(), db).await?;
        }
        "activity_participants" => {
            references.activities = ids(activity::Entity::find(), db).await?;
            references.members = ids(member::Entity::find(), db).await?;
        }
        _ => {}
    }
    Ok(references)
}

/// The ids of these records, in ascending order.
async fn ids<E: EntityTrait>(records: Select<E>, db: &Connection) -> Result<Vec<i64>> {
    let Some(id) = E::PrimaryKey::iter().map(PrimaryKeyToColumn::into_column).next() else { return Ok(Vec::new()) };
    Ok(records.select_only().column(id).order_by_asc(id).into_tuple().all(db).await?)
}

/// Maximum number of rows of a resource: pairs are unique, and required references need records.
fn max_rows(resource: &str, references: &References) -> u64 {
    let some = |ids: &[i64]| if ids.is_empty() { 0 } else { u64::MAX };
    let count = |ids: &[i64]| ids.len() as u64;
    match resource {
        "exchange_rates" => row::RATES.len() as u64,
        "custom_fields" => row::CUSTOM_FIELDS.len() as u64,
        "stock_levels" => some(&references.products),
        "accessories" => count(&references.products).saturating_mul(count(&references.products).saturating_sub(1)),
        "activities" => some(&references.users),
        "activity_participants" => count(&references.activities).saturating_mul(count(&references.members)),
        _ => u64::MAX,
    }
}

/// Adds rows up to the wanted number, in batches. A row depends only on its index and its references, so that each run creates the
/// same rows.
async fn add<E>(
    state: &Arc<State>,
    wanted: u64,
    progress: &(dyn Fn(u64) + Sync),
    references: &References,
    row: fn(u64, &References) -> E::ActiveModel,
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
        let end = (next + BATCH_ROWS).min(wanted);
        let rows: Vec<E::ActiveModel> = (next..end).map(|index| row(index, references)).collect();
        let transaction = state.db.begin().await?;
        // A row with an existing unique value is not missing.
        let insert = E::insert_many(rows).on_conflict(OnConflict::new().do_nothing().to_owned());
        insert.exec_without_returning(&transaction).await?;
        transaction.commit().await?;
        next = end;
        progress(next);
    }
    Ok(next - present)
}
