//! The tables of the records service, one for each file in `resources/`.

use sea_orm_migration::MigrationTrait;

use crate::Atomic;

mod m20261121_000101_currencies;
mod m20261121_000102_exchange_rates;
mod m20261121_000103_settings;
mod m20261121_000104_product_groups;
mod m20261121_000105_tax_classes;
mod m20261121_000106_products;
mod m20261121_000107_members;

/// The records service's migrations, oldest first. They stand on those of the platform.
pub fn migrations() -> Vec<Box<dyn MigrationTrait>> {
    vec![
        Atomic::boxed(m20261121_000101_currencies::Migration),
        Atomic::boxed(m20261121_000102_exchange_rates::Migration),
        Atomic::boxed(m20261121_000103_settings::Migration),
        Atomic::boxed(m20261121_000104_product_groups::Migration),
        Atomic::boxed(m20261121_000105_tax_classes::Migration),
        Atomic::boxed(m20261121_000106_products::Migration),
        Atomic::boxed(m20261121_000107_members::Migration),
    ]
}
