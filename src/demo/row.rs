//! Sample rows of each resource, derived from an index and the references.

use charter_runtime::custom_fields;
use charter_runtime::generated::Decimal;
use chrono::{DateTime, TimeDelta, Utc};
use sea_orm::ActiveValue::Set;
use serde_json::json;

use super::References;
use crate::generated::activity::{Priority, StatusId, TimeStatus, TypeId};
use crate::generated::member::MembershipType;
use crate::generated::product::{AllowedStockType, ProductType, StockMethod};
use crate::generated::{
    accessory, activity, activity_participant, exchange_rate, member, product, product_group, stock_level, tax_class,
};

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
const PRODUCT_TYPES: [ProductType; 4] =
    [ProductType::Rental, ProductType::Sale, ProductType::Service, ProductType::LossAndDamage];
const LOCATIONS: [&str; 6] = ["Main store", "North store", "Bay 1", "Bay 2", "Workshop", "Truck"];
const ACTIVITIES: [(&str, TypeId); 6] = [
    ("Task", TypeId::Task),
    ("Call", TypeId::Call),
    ("Email", TypeId::Email),
    ("Meeting", TypeId::Meeting),
    ("Note", TypeId::Note),
    ("Letter", TypeId::Letter),
];
/// Each as often as it is here.
const STATUSES: [StatusId; 7] = [
    StatusId::Scheduled,
    StatusId::Scheduled,
    StatusId::Completed,
    StatusId::Completed,
    StatusId::Completed,
    StatusId::Cancelled,
    StatusId::Held,
];
const PRIORITIES: [Priority; 3] = [Priority::Low, Priority::Normal, Priority::High];
const TIME_STATUSES: [TimeStatus; 2] = [TimeStatus::Free, TimeStatus::Busy];
const OCCASIONS: [&str; 8] =
    ["a delivery", "a return", "a quote", "an inspection", "an invoice", "the summer fair", "a repair", "a site visit"];
pub const RATES: [(&str, &str, i64, i64); 6] = [
    ("GBP", "EUR", 117_000_000, 85_470_085),
    ("GBP", "USD", 127_000_000, 78_740_157),
    ("GBP", "JPY", 19_050_000_000, 524_934),
    ("GBP", "CHF", 112_500_000, 88_888_889),
    ("GBP", "AUD", 194_000_000, 51_546_392),
    ("GBP", "SEK", 1_338_000_000, 7_473_842),
];
/// Custom fields of products.
pub const CUSTOM_FIELDS: [(&str, &str, &str); 7] = [
    ("serial", "Serial number", "string"),
    ("power", "Power (W)", "integer"),
    ("day_rate", "Rate a day", "decimal"),
    ("grade", "Grade", "choice"),
    ("outdoor", "Outdoor", "boolean"),
    ("inspected_on", "Inspected on", "date"),
    ("recall", "Recall", "integer"),
];
const GRADES: [&str; 5] = ["new", "good", "fair", "worn", "scrap"];

/// A pseudorandom number that is the same on every run (finalizer of SplitMix64).
fn scatter(index: u64) -> u64 {
    let mut number = index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 16
}

fn pick<T: Copy>(list: &[T], number: u64) -> Option<T> {
    list.get((number % list.len().max(1) as u64) as usize).copied()
}

fn time(references: &References, index: u64) -> DateTime<Utc> {
    references.start + TimeDelta::seconds((index % 31_000_000) as i64)
}

pub fn tax_class_row(index: u64, references: &References) -> tax_class::ActiveModel {
    let (name, percentage) =
        pick(&[("Standard", 2000), ("Reduced", 500), ("Zero", 0)], index).unwrap_or(("Standard", 2000));
    let name = if index < 3 { name.to_string() } else { format!("{name} {index}") };
    tax_class::ActiveModel {
        name: Set(name),
        percentage: Set(Decimal::from_scaled(percentage)),
        created_at: Set(time(references, index)),
        updated_at: Set(time(references, index)),
        ..Default::default()
    }
}

pub fn product_group_row(index: u64, references: &References) -> product_group::ActiveModel {
    let kind = pick(&KINDS, index).unwrap_or("Lighting");
    product_group::ActiveModel {
        name: Set(format!("{kind} {}", index / KINDS.len() as u64 + 1)),
        description: Set(Some(format!("{kind} for hire"))),
        created_at: Set(time(references, index)),
        updated_at: Set(time(references, index)),
        ..Default::default()
    }
}

pub fn exchange_rate_row(index: u64, references: &References) -> exchange_rate::ActiveModel {
    let (source, target, rate, inverse) = RATES[index as usize % RATES.len()];
    exchange_rate::ActiveModel {
        source_currency_code: Set(source.to_string()),
        target_currency_code: Set(target.to_string()),
        rate: Set(Decimal::from_scaled(rate)),
        inverse_rate: Set(Decimal::from_scaled(inverse)),
        source: Set("demo".to_string()),
        effective_at: Set(references.start),
        expires_at: Set(None),
        created_at: Set(references.start),
        updated_at: Set(references.start),
        ..Default::default()
    }
}

pub fn custom_field_row(index: u64, references: &References) -> custom_fields::ActiveModel {
    let (name, label, field_type) = CUSTOM_FIELDS[index as usize % CUSTOM_FIELDS.len()];
    custom_fields::ActiveModel {
        entity_type: Set("products".to_string()),
        name: Set(name.to_string()),
        label: Set(label.to_string()),
        field_type: Set(field_type.to_string()),
        choices: Set(if field_type == "choice" { json!(GRADES) } else { json!([]) }),
        required: Set(false),
        created_at: Set(references.start),
        updated_at: Set(references.start),
        ..Default::default()
    }
}

/// Values of custom fields, in their stored format: decimals are text without trailing zeros.
fn custom_values(index: u64, number: u64) -> serde_json::Value {
    let inspected = DateTime::<Utc>::UNIX_EPOCH + TimeDelta::days(18_000 + (number % 2_000) as i64);
    let mut values = json!({
        "serial": format!("SN-{:012X}", scatter(index + 1_000_000_000)),
        "power": number % 4_000,
        "day_rate": format!("{}.{}", number % 900, number % 9 + 1),
        "grade": pick(&GRADES, number >> 4),
        "outdoor": number.is_multiple_of(3),
        "inspected_on": inspected.date_naive().to_string(),
    });
    if (index + 1).is_multiple_of(10_000) {
        values["recall"] = json!(index / 10_000);
    }
    values
}

pub fn product_row(index: u64, references: &References) -> product::ActiveModel {
    let number = scatter(index);
    let make = pick(&MAKES, number).unwrap_or_default();
    let thing = pick(&THINGS, number >> 8).unwrap_or_default();
    product::ActiveModel {
        name: Set(format!("{make} {thing} {}", index + 1)),
        description: Set(
            (!number.is_multiple_of(3)).then(|| format!("{make} {}, inspected and packed", thing.to_lowercase()))
        ),
        product_type: Set(pick(&PRODUCT_TYPES, (number >> 12) % 7).unwrap_or_default()),
        product_group_id: Set(pick(&references.groups, number >> 16)),
        sku: Set(Some(format!("SKU-{:08}", index + 1))),
        barcode: Set(Some((5_000_000_000_000 + index).to_string())),
        is_active: Set(!number.is_multiple_of(5)),
        stock_method: Set(if (number >> 20).is_multiple_of(3) { StockMethod::Serialised } else { StockMethod::Bulk }),
        weight: Set(Decimal::from_scaled((number % 1_000_000) as i64)),
        replacement_charge: Set(Decimal::from_scaled((number % 500_000) as i64)),
        custom_fields: Set(custom_values(index, number)),
        created_at: Set(time(references, index)),
        updated_at: Set(time(references, index)),
        allowed_stock_type: Set(AllowedStockType::Rental),
        buffer_percent: Set(Decimal::ZERO),
        post_rent_unavailability: Set(0),
        accessory_only: Set(false),
        system: Set(false),
        discountable: Set(true),
        tax_class_id: Set(pick(&references.tax_classes, number >> 24)),
        sub_rental_price: Set(Decimal::ZERO),
        purchase_price: Set(Decimal::from_scaled((number % 300_000) as i64)),
        tag_list: Set(json!([])),
        ..Default::default()
    }
}

pub fn member_row(index: u64, references: &References) -> member::ActiveModel {
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
        membership_type: Set(if organisation { MembershipType::Organisation } else { MembershipType::Contact }),
        is_active: Set(!number.is_multiple_of(9)),
        custom_fields: Set(json!({})),
        created_at: Set(time(references, index)),
        updated_at: Set(time(references, index)),
        ..Default::default()
    }
}

pub fn stock_level_row(index: u64, references: &References) -> stock_level::ActiveModel {
    let number = scatter(index);
    let serialised = number.is_multiple_of(6);
    let count = if serialised { number % 4 } else { number % 60 };
    let serial = |unit: u64| format!("SN-{:07}-{}", index + 1, unit + 1);
    stock_level::ActiveModel {
        product_id: Set(pick(&references.products, index).unwrap_or_default()),
        location: Set(pick(&LOCATIONS, number >> 8).map(str::to_string)),
        quantity_held: Set(Decimal::from_scaled(count as i64 * 10)),
        serial_numbers: Set(if serialised { (0..count).map(serial).collect() } else { json!([]) }),
        created_at: Set(time(references, index)),
        updated_at: Set(time(references, index)),
        ..Default::default()
    }
}

/// The next product as an accessory of each product, then a second one for each product, and so on.
pub fn accessory_row(index: u64, references: &References) -> accessory::ActiveModel {
    let products = references.products.len().max(1) as u64;
    let (turn, number) = (index / products + 1, scatter(index));
    accessory::ActiveModel {
        product_id: Set(pick(&references.products, index).unwrap_or_default()),
        accessory_product_id: Set(pick(&references.products, index + turn).unwrap_or_default()),
        quantity: Set(Decimal::from_scaled((number % 4 + 1) as i64 * 10)),
        included: Set(number.is_multiple_of(3)),
        zero_priced: Set(number.is_multiple_of(5)),
        sort_order: Set(turn as i32),
        created_at: Set(time(references, index)),
        updated_at: Set(time(references, index)),
        ..Default::default()
    }
}

pub fn activity_row(index: u64, references: &References) -> activity::ActiveModel {
    let number = scatter(index);
    let (kind, type_id) = pick(&ACTIVITIES, number).unwrap_or(("Task", TypeId::Task));
    let about = pick(&OCCASIONS, number >> 8).unwrap_or_default();
    let status = pick(&STATUSES, number >> 12).unwrap_or_default();
    let regarding = match (number >> 16) % 10 {
        0..=5 => pick(&references.members, number >> 20).map(|id| ("Member", id)),
        6..=8 => pick(&references.products, number >> 20).map(|id| ("Product", id)),
        _ => None,
    };
    let starts_at = time(references, number);
    activity::ActiveModel {
        subject: Set(format!("{kind} about {about} {}", index + 1)),
        description: Set(number.is_multiple_of(3).then(|| format!("Ask about {about}, and note what was agreed"))),
        location: Set(if type_id == TypeId::Meeting {
            pick(&LOCATIONS, number >> 24).map(str::to_string)
        } else {
            None
        }),
        regarding_type: Set(regarding.map(|(name, _)| name.to_string())),
        regarding_id: Set(regarding.map(|(_, id)| id)),
        owned_by: Set(pick(&references.users, number >> 28).unwrap_or_default()),
        starts_at: Set(Some(starts_at)),
        ends_at: Set(Some(starts_at + TimeDelta::minutes(15 * (number % 8 + 1) as i64))),
        priority: Set(pick(&PRIORITIES, number >> 32).unwrap_or_default()),
        type_id: Set(type_id),
        status_id: Set(status),
        completed: Set(status == StatusId::Completed),
        time_status: Set(pick(&TIME_STATUSES, number >> 36).unwrap_or_default()),
        custom_fields: Set(json!({})),
        created_at: Set(time(references, index)),
        updated_at: Set(time(references, index)),
        ..Default::default()
    }
}

/// One member for each activity, then a second one for each activity, and so on.
pub fn participant_row(index: u64, references: &References) -> activity_participant::ActiveModel {
    let activities = references.activities.len().max(1) as u64;
    activity_participant::ActiveModel {
        activity_id: Set(pick(&references.activities, index).unwrap_or_default()),
        member_id: Set(pick(&references.members, index % activities + index / activities).unwrap_or_default()),
        mute: Set(scatter(index).is_multiple_of(7)),
        created_at: Set(time(references, index)),
        updated_at: Set(time(references, index)),
        ..Default::default()
    }
}
