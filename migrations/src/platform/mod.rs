//! Migrations of the runtime's own tables, one for each table or group of tables that belong together.

use sea_orm_migration::MigrationTrait;

use crate::Transactional;

mod m20261121_000001_platform_text_search;
mod m20261121_000002_platform_roles;
mod m20261121_000003_platform_users;
mod m20261121_000004_platform_sessions;
mod m20261121_000005_platform_tokens;
mod m20261121_000006_platform_custom_fields;
mod m20261121_000007_platform_custom_views;
mod m20261121_000008_platform_events;
mod m20261121_000009_platform_webhooks;
mod m20261121_000010_platform_idempotency;
mod m20261121_000011_platform_audit;
mod m20261121_000012_platform_attachments;
mod m20261121_000013_platform_counts;
mod m20261127_000014_platform_role_abilities;
mod m20261127_000015_platform_webhook_rights;
mod m20261127_000016_platform_audit_address;
mod m20261127_000017_platform_known_networks;
mod m20261127_000018_platform_session_details;
mod m20261127_000019_platform_second_factors;
mod m20261128_000020_platform_password_resets;
mod m20261128_000021_platform_storage_use;
mod m20261128_000022_platform_identities;
mod m20261128_000023_platform_passkeys;
mod m20261128_000024_platform_imports;
mod m20261128_000025_platform_user_preferences;
mod m20261129_000026_platform_record_numbers;
mod m20261129_000027_platform_background_jobs;
mod m20261129_000030_platform_webhook_conditions;

/// The runtime's migrations, oldest first.
pub fn migrations() -> Vec<Box<dyn MigrationTrait>> {
    vec![
        Transactional::boxed(m20261121_000001_platform_text_search::Migration),
        Transactional::boxed(m20261121_000002_platform_roles::Migration),
        Transactional::boxed(m20261121_000003_platform_users::Migration),
        Transactional::boxed(m20261121_000004_platform_sessions::Migration),
        Transactional::boxed(m20261121_000005_platform_tokens::Migration),
        Transactional::boxed(m20261121_000006_platform_custom_fields::Migration),
        Transactional::boxed(m20261121_000007_platform_custom_views::Migration),
        Transactional::boxed(m20261121_000008_platform_events::Migration),
        Transactional::boxed(m20261121_000009_platform_webhooks::Migration),
        Transactional::boxed(m20261121_000010_platform_idempotency::Migration),
        Transactional::boxed(m20261121_000011_platform_audit::Migration),
        Transactional::boxed(m20261121_000012_platform_attachments::Migration),
        Transactional::boxed(m20261121_000013_platform_counts::Migration),
        Transactional::boxed(m20261127_000014_platform_role_abilities::Migration),
        Transactional::boxed(m20261127_000015_platform_webhook_rights::Migration),
        Transactional::boxed(m20261127_000016_platform_audit_address::Migration),
        Transactional::boxed(m20261127_000017_platform_known_networks::Migration),
        Transactional::boxed(m20261127_000018_platform_session_details::Migration),
        Transactional::boxed(m20261127_000019_platform_second_factors::Migration),
        Transactional::boxed(m20261128_000020_platform_password_resets::Migration),
        Transactional::boxed(m20261128_000021_platform_storage_use::Migration),
        Transactional::boxed(m20261128_000022_platform_identities::Migration),
        Transactional::boxed(m20261128_000023_platform_passkeys::Migration),
        Transactional::boxed(m20261128_000024_platform_imports::Migration),
        Transactional::boxed(m20261128_000025_platform_user_preferences::Migration),
        Transactional::boxed(m20261129_000026_platform_record_numbers::Migration),
        Transactional::boxed(m20261129_000027_platform_background_jobs::Migration),
        Transactional::boxed(m20261129_000030_platform_webhook_conditions::Migration),
    ]
}
