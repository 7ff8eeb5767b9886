//! Every path of the API, in folders that mirror the URLs.

mod activities;
pub mod attachments;
mod bulk;
mod currencies;
mod custom_fields;
mod custom_views;
mod exchange_rates;
pub mod imports;
mod members;
mod product_groups;
mod products;
mod roles;
mod search;
mod settings;
mod stock_levels;
mod tax_classes;
mod tokens;
mod users;
mod webhooks;
