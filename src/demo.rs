//! Sample data for `charter seed demo`: a rental business with as many products as asked for.

use std::sync::Arc;

use charter_runtime::Result;
use charter_runtime::app::Demo;
use charter_runtime::context::State;
use charter_runtime::crud::BoxFuture;
use charter_runtime::generated::Decimal;
use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ActiveModelTrait, EntityTrait, PaginatorTrait, QuerySelect};
use serde_json::json;

use crate::generated::{exchange_rate, member, product, product_group, tax_class};

/// What the command makes when nothing else is said.
pub const DEMO: Demo = Demo {
    counts: &[("tax_classes", 3), ("product_groups", 20), ("exchange_rates", 6), ("products", 500), ("members", 100)],
    fill,
};

/// So many rows go in one statement: below the limit of bound values of either database.
const BATCH: u64 = 500;

const KINDS: [&str; 10] =
    ["Lighting", "Audio", "Video", "Staging", "Rigging", "Furniture", "Power", "Cabling", "Tools", "Tents"];
const MAKES: [&str; 10] =
    ["Oak", "Steel", "Black", "Folding", "Compact", "Outdoor", "Vintage", "LED", "Portable", "Modular"];
const THINGS: [&str; 12] = [
    "Lamp",
    "Chair",
    "Table",
    "Speaker",
    "Microphone",
    "Projector",
    "Truss",
    "Stand",
    "Mixer",
    "Tent",
    "Generator",
    "Dimmer",
];
const PRODUCT_TYPES: [&str; 4] = ["rental", "sale", "service", "loss_and_damage"];
const RATES: [(&str, &str, i64, i64); 6] = [
    ("GBP", "EUR", 117_000_000, 85_470_085),
    ("GBP", "USD", 127_000_000, 78_740_157),
    ("GBP", "JPY", 19_050_000_000, 524_934),
    ("GBP", "CHF", 112_500_000, 88_888_889),
    ("GBP", "AUD", 194_000_000, 51_546_392),
    ("GBP", "SEK", 1_338_000_000, 7_473_842),
];

/// What rows refer to.
struct Ground {
    groups: Vec<i64>,
    tax_classes: Vec<i64>,
    start: DateTime<Utc>,
}

fn fill<'a>(
    state: &'a Arc<State>,
    resource: &'a str,
    wanted: u64,
    progress: &'a (dyn Fn(u64) + Sync),
) -> BoxFuture<'a, Result<u64>> {
    Box::pin(async move {
        match resource {
            "tax_classes" => add::<tax_class::Entity>(state, wanted, progress, tax_class_row).await,
            "product_groups" => add::<product_group::Entity>(state, wanted, progress, product_group_row).await,
            "exchange_rates" => {
                add::<exchange_rate::Entity>(state, wanted.min(RATES.len() as u64), progress, exchange_rate_row).await
            }
            "products" => add::<product::Entity>(state, wanted, progress, product_row).await,
            _ => add::<member::Entity>(state, wanted, progress, member_row).await,
        }
    })
}

/// Adds the rows that are missing to the wanted number, in batches. A row is made of its index alone, so that every
/// run makes the same ones.
async fn add<E>(
    state: &Arc<State>,
    wanted: u64,
    progress: &(dyn Fn(u64) + Sync),
    row: fn(u64, &Ground) -> E::ActiveModel,
) -> Result<u64>
where
    E: EntityTrait,
    E::Model: Send + Sync,
    E::ActiveModel: ActiveModelTrait<Entity = E> + Send,
{
    let db = state.db.reader();
    let ground = Ground {
        groups: product_group::Entity::find()
            .select_only()
            .column(product_group::Column::Id)
            .into_tuple()
            .all(db)
            .await?,
        tax_classes: tax_class::Entity::find().select_only().column(tax_class::Column::Id).into_tuple().all(db).await?,
        start: Utc::now().trunc_subsecs(0) - TimeDelta::days(365),
    };
    let present = E::find().count(db).await?;
    let mut next = present;
    progress(next);
    while next < wanted {
        let end = (next + BATCH).min(wanted);
        let rows: Vec<E::ActiveModel> = (next..end).map(|index| row(index, &ground)).collect();
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

/// A number that looks random and is the same on every run (the finaliser of SplitMix64).
fn scatter(index: u64) -> u64 {
    let mut number = index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 16
}

fn pick<T: Copy>(list: &[T], number: u64) -> Option<T> {
    list.get((number % list.len().max(1) as u64) as usize).copied()
}

fn time(ground: &Ground, index: u64) -> DateTime<Utc> {
    ground.start + TimeDelta::seconds((index % 31_000_000) as i64)
}

fn tax_class_row(index: u64, ground: &Ground) -> tax_class::ActiveModel {
    let (name, percentage) =
        pick(&[("Standard", 2000), ("Reduced", 500), ("Zero", 0)], index).unwrap_or(("Standard", 2000));
    let name = if index < 3 { name.to_string() } else { format!("{name} {index}") };
    tax_class::ActiveModel {
        name: Set(name),
        percentage: Set(Decimal::from_scaled(percentage)),
        created_at: Set(time(ground, index)),
        updated_at: Set(time(ground, index)),
        ..Default::default()
    }
}

fn product_group_row(index: u64, ground: &Ground) -> product_group::ActiveModel {
    let kind = pick(&KINDS, index).unwrap_or("Lighting");
    product_group::ActiveModel {
        name: Set(format!("{kind} {}", index / KINDS.len() as u64 + 1)),
        description: Set(Some(format!("{kind} for hire"))),
        created_at: Set(time(ground, index)),
        updated_at: Set(time(ground, index)),
        ..Default::default()
    }
}

fn exchange_rate_row(index: u64, ground: &Ground) -> exchange_rate::ActiveModel {
    let (source, target, rate, inverse) = RATES[index as usize % RATES.len()];
    exchange_rate::ActiveModel {
        source_currency_code: Set(source.to_string()),
        target_currency_code: Set(target.to_string()),
        rate: Set(Decimal::from_scaled(rate)),
        inverse_rate: Set(Decimal::from_scaled(inverse)),
        source: Set("demo".to_string()),
        effective_at: Set(ground.start),
        expires_at: Set(None),
        created_at: Set(ground.start),
        updated_at: Set(ground.start),
        ..Default::default()
    }
}

fn product_row(index: u64, ground: &Ground) -> product::ActiveModel {
    let number = scatter(index);
    let make = pick(&MAKES, number).unwrap_or_default();
    let thing = pick(&THINGS, number >> 8).unwrap_or_default();
    product::ActiveModel {
        name: Set(format!("{make} {thing} {}", index + 1)),
        description: Set(
            (!number.is_multiple_of(3)).then(|| format!("{make} {}, inspected and packed", thing.to_lowercase()))
        ),
        product_type: Set(pick(&PRODUCT_TYPES, (number >> 12) % 7).unwrap_or("rental").to_string()),
        product_group_id: Set(pick(&ground.groups, number >> 16)),
        sku: Set(Some(format!("SKU-{:08}", index + 1))),
        barcode: Set(Some((5_000_000_000_000 + index).to_string())),
        is_active: Set(!number.is_multiple_of(5)),
        stock_method: Set(if (number >> 20).is_multiple_of(3) { 2 } else { 1 }),
        weight: Set(Decimal::from_scaled((number % 1_000_000) as i64)),
        replacement_charge: Set(Decimal::from_scaled((number % 500_000) as i64)),
        custom_fields: Set(json!({})),
        created_at: Set(time(ground, index)),
        updated_at: Set(time(ground, index)),
        allowed_stock_type: Set(1),
        buffer_percent: Set(Decimal::ZERO),
        post_rent_unavailability: Set(0),
        accessory_only: Set(false),
        system: Set(false),
        discountable: Set(true),
        tax_class_id: Set(pick(&ground.tax_classes, number >> 24)),
        sub_rental_price: Set(Decimal::ZERO),
        purchase_price: Set(Decimal::from_scaled((number % 300_000) as i64)),
        tag_list: Set(json!([])),
        ..Default::default()
    }
}

fn member_row(index: u64, ground: &Ground) -> member::ActiveModel {
    let number = scatter(index);
    let first =
        pick(&["Ada", "Grace", "Alan", "Edsger", "Barbara", "Donald", "Radia", "Ken"], number).unwrap_or_default();
    let last =
        pick(&["Field", "Marsh", "Stone", "Brook", "Hill", "Wood", "Lake", "Ford"], number >> 8).unwrap_or_default();
    let organisation = number.is_multiple_of(4);
    member::ActiveModel {
        name: Set(if organisation {
            format!("{last} Events {}", index + 1)
        } else {
            format!("{first} {last} {}", index + 1)
        }),
        membership_type: Set(if organisation { "organisation" } else { "contact" }.to_string()),
        is_active: Set(!number.is_multiple_of(9)),
        custom_fields: Set(json!({})),
        created_at: Set(time(ground, index)),
        updated_at: Set(time(ground, index)),
        ..Default::default()
    }
}
