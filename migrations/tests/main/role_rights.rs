//! The migration that gives roles abilities: nobody who was there before loses a right.

use charter_migrations::prelude::*;

use crate::database::{Database, Migrator, on_both};

on_both! {
    roles_and_users_from_before_keep_every_ability
    new_database_has_the_roles_member_and_reader_alone
    migrating_down_and_up_again_leaves_no_role_behind
}

/// The migrations before the abilities of roles.
const BEFORE: u32 = 13;

async fn before_abilities(database: &Database) {
    Migrator::up(&database.connection, Some(BEFORE)).await.unwrap();
}

async fn roles_and_users_from_before_keep_every_ability(database: Database) {
    before_abilities(&database).await;
    database.insert_user("plain@example.com").await.unwrap();
    database.insert_user("clerk@example.com").await.unwrap();
    database.insert_user("admin@example.com").await.unwrap();
    database.run("UPDATE users SET is_admin = TRUE WHERE email = 'admin@example.com'").await.unwrap();
    database.run("INSERT INTO roles (name, created_at, updated_at) VALUES ('Clerks', NOW, NOW)").await.unwrap();
    database.run("UPDATE users SET role_ids = '[1]' WHERE email = 'clerk@example.com'").await.unwrap();
    Migrator::up(&database.connection, None).await.unwrap();
    let abilities = async |name: &str| {
        database.text(&format!("SELECT CAST(abilities AS text) FROM roles WHERE name = '{name}'")).await
    };
    assert_eq!(abilities("Clerks").await, r#"["*"]"#);
    assert_eq!(abilities("Unrestricted").await, r#"["*"]"#);
    let of = async |email: &str| {
        database.text(&format!("SELECT CAST(role_ids AS text) FROM users WHERE email = '{email}@example.com'")).await
    };
    assert_eq!((of("clerk").await, of("plain").await, of("admin").await), ("[1]".into(), "[2]".into(), "[]".into()));
}

async fn new_database_has_the_roles_member_and_reader_alone(database: Database) {
    Migrator::up(&database.connection, None).await.unwrap();
    let names = "SELECT MIN(name) || ', ' || MAX(name) || ', ' || COUNT(*) FROM roles";
    assert_eq!(database.text(names).await, "Member, Reader, 2");
    let member = "SELECT CAST(abilities AS text) FROM roles WHERE name = 'Member'";
    assert!(database.text(member).await.contains("application:write"));
}

async fn migrating_down_and_up_again_leaves_no_role_behind(database: Database) {
    before_abilities(&database).await;
    database.insert_user("plain@example.com").await.unwrap();
    Migrator::up(&database.connection, None).await.unwrap();
    let steps = u32::try_from(Migrator::migrations().len()).unwrap() - BEFORE;
    Migrator::down(&database.connection, Some(steps)).await.unwrap();
    let roles = database.text("SELECT CAST(COUNT(*) AS text) FROM roles").await;
    let held = database.text("SELECT CAST(role_ids AS text) FROM users").await;
    assert_eq!((roles.as_str(), held.as_str()), ("0", "[]"));
    Migrator::up(&database.connection, None).await.unwrap();
    let names = "SELECT MIN(name) || ', ' || MAX(name) || ', ' || COUNT(*) FROM roles";
    assert_eq!(database.text(names).await, "Member, Unrestricted, 3");
}
