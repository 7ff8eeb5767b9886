//! The tables of the runtime's own resources: users, roles, tokens, custom fields, saved views, webhooks and
//! attachments.

use sea_orm_migration::MigrationTrait;

use crate::Atomic;

mod m20261121_000001_platform_text;
mod m20261121_000002_platform_users;
mod m20261121_000003_platform_roles;
mod m20261121_000004_platform_tokens;
mod m20261121_000005_platform_custom_fields;
mod m20261121_000006_platform_custom_views;
mod m20261121_000007_platform_events;
mod m20261121_000008_platform_webhooks;
mod m20261121_000009_platform_idempotency;
mod m20261121_000010_platform_audit;
mod m20261121_000011_platform_attachments;
mod m20261121_000012_platform_totals;
mod m20261121_000013_platform_recent;
mod m20261121_000014_platform_sessions;
mod m20261121_000015_platform_room;
mod m20261121_000016_platform_together;
mod m20261121_000017_platform_stretches;
mod m20261121_000018_platform_requests;
mod m20261121_000019_platform_contents;
mod m20261121_000020_platform_told;
mod m20261121_000021_platform_histories;
mod m20261121_000022_platform_emptied;
mod m20261121_000023_platform_event_owners;
mod m20261121_000024_platform_plain_totals;
mod m20261121_000025_platform_event_traces;

/// The runtime's migrations, oldest first.
pub fn migrations() -> Vec<Box<dyn MigrationTrait>> {
    vec![
        Atomic::boxed(m20261121_000001_platform_text::Migration),
        Atomic::boxed(m20261121_000002_platform_users::Migration),
        Atomic::boxed(m20261121_000003_platform_roles::Migration),
        Atomic::boxed(m20261121_000004_platform_tokens::Migration),
        Atomic::boxed(m20261121_000005_platform_custom_fields::Migration),
        Atomic::boxed(m20261121_000006_platform_custom_views::Migration),
        Atomic::boxed(m20261121_000007_platform_events::Migration),
        Atomic::boxed(m20261121_000008_platform_webhooks::Migration),
        Atomic::boxed(m20261121_000009_platform_idempotency::Migration),
        Atomic::boxed(m20261121_000010_platform_audit::Migration),
        Atomic::boxed(m20261121_000011_platform_attachments::Migration),
        Atomic::boxed(m20261121_000012_platform_totals::Migration),
        Atomic::boxed(m20261121_000013_platform_recent::Migration),
        Atomic::boxed(m20261121_000014_platform_sessions::Migration),
        Atomic::boxed(m20261121_000015_platform_room::Migration),
        Atomic::boxed(m20261121_000016_platform_together::Migration),
        Atomic::boxed(m20261121_000017_platform_stretches::Migration),
        Atomic::boxed(m20261121_000018_platform_requests::Migration),
        Atomic::boxed(m20261121_000019_platform_contents::Migration),
        Atomic::boxed(m20261121_000020_platform_told::Migration),
        Atomic::boxed(m20261121_000021_platform_histories::Migration),
        Atomic::boxed(m20261121_000022_platform_emptied::Migration),
        Atomic::boxed(m20261121_000023_platform_event_owners::Migration),
        Atomic::boxed(m20261121_000024_platform_plain_totals::Migration),
        Atomic::boxed(m20261121_000025_platform_event_traces::Migration),
    ]
}
