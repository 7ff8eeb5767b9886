//! The abilities of roles, and the seeded roles Member and Reader.
//!
//! Before, a role granted permissions only, and every user had every ability. Nobody loses a right: each existing role
//! gets every ability, and each user without a role gets the role Unrestricted, which has every ability too.

use sea_orm_migration::sea_orm::DbBackend;

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// Name, description and abilities.
const SEEDED: [(&str, &str, &str); 2] = [
    (
        "Member",
        "Reads and writes the records of the application, and has saved views and tokens.",
        r#"["application:read", "application:write", "custom_fields:read", "custom_views:read", "custom_views:write", "tokens:read", "tokens:write"]"#,
    ),
    (
        "Reader",
        "Reads the records of the application.",
        r#"["application:read", "custom_fields:read", "custom_views:read"]"#,
    ),
];
const UNRESTRICTED: (&str, &str, &str) =
    ("Unrestricted", "Every ability, as every user had before roles had abilities.", r#"["*"]"#);

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let roles = Table::on(manager, "roles");
        roles.add(list("abilities")).await?;
        roles.run("UPDATE \"roles\" SET \"abilities\" = '[\"*\"]'").await?;
        let users = "\"users\" WHERE \"is_admin\" = FALSE AND \"role_ids\" = '[]'";
        if !roles.texts(&format!("SELECT \"email\" FROM {users} LIMIT 1")).await?.is_empty() {
            roles.run(&insert(manager, UNRESTRICTED)).await?;
            let ids = match manager.get_database_backend() {
                DbBackend::Postgres => "jsonb_build_array(\"id\")",
                _ => "json_array(\"id\")",
            };
            let role = format!("SELECT {ids} FROM \"roles\" WHERE \"name\" = '{}'", UNRESTRICTED.0);
            roles
                .run(&format!("UPDATE {}", users.replace(" WHERE", &format!(" SET \"role_ids\" = ({role}) WHERE"))))
                .await?;
        }
        for role in SEEDED {
            roles.run(&insert(manager, role)).await?;
        }
        Ok(())
    }

    /// Removes the roles that it made. Users who had one of them keep every ability, as every user had before.
    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let roles = Table::on(manager, "roles");
        for (name, ..) in SEEDED.into_iter().chain([UNRESTRICTED]) {
            let role = format!("(SELECT \"id\" FROM \"roles\" WHERE \"name\" = '{name}')");
            let without = match manager.get_database_backend() {
                DbBackend::Postgres => format!(
                    "COALESCE((SELECT jsonb_agg(held) FROM jsonb_array_elements(\"role_ids\") held WHERE held <> to_jsonb({role})), '[]')"
                ),
                _ => format!("(SELECT json_group_array(value) FROM json_each(\"role_ids\") WHERE value <> {role})"),
            };
            roles.run(&format!("UPDATE \"users\" SET \"role_ids\" = {without} WHERE EXISTS {role}")).await?;
            roles.run(&format!("DELETE FROM \"roles\" WHERE \"name\" = '{name}'")).await?;
        }
        roles.remove("abilities").await
    }
}

/// Inserts a role, unless one of this name exists.
fn insert(manager: &SchemaManager, (name, description, abilities): (&str, &str, &str)) -> String {
    let now = match manager.get_database_backend() {
        DbBackend::Postgres => "date_trunc('second', now())",
        _ => "strftime('%Y-%m-%dT%H:%M:%S+00:00', 'now')",
    };
    format!(
        "INSERT INTO \"roles\" (\"name\", \"description\", \"permissions\", \"abilities\", \"created_at\", \"updated_at\") \
         SELECT '{name}', '{description}', '[]', '{abilities}', {now}, {now} \
         WHERE NOT EXISTS (SELECT 1 FROM \"roles\" WHERE \"name\" = '{name}')"
    )
}
