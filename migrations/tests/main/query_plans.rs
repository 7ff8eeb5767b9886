//! PostgreSQL's plans for queries of the runtime: each uses its index.

use charter_migrations::prelude::*;

use crate::database::{Database, Migrator};

/// Rows with different names, groups and tokens.
const ROWS: [&str; 4] = [
    "INSERT INTO product_groups (name, created_at, updated_at)
        SELECT 'Group ' || i, NOW, NOW FROM generate_series(1, 100) i",
    "INSERT INTO products
            (name, description, sku, barcode, product_group_id, custom_fields, created_at, updated_at, deleted_at)
        SELECT (ARRAY['Oak', 'Steel', 'Zinc'])[1 + i % 3] || ' ' || (ARRAY['Lamp', 'Chair', 'Ärmel'])[1 + i % 7 % 3]
            || ' ' || i, repeat('As good as new. ', 40), 'SKU-' || i, 5000000000000 + i, 1 + i % 100,
            jsonb_build_object('bay', i), NOW, NOW, CASE WHEN i % 50 = 0 THEN TIMESTAMPTZ NOW END
        FROM generate_series(1, 20000) i",
    "INSERT INTO users (name, email, created_at, updated_at)
        SELECT 'User', 'User' || i || '@example.com', NOW, NOW FROM generate_series(1, 2000) i",
    "INSERT INTO tokens (name, user_id, token_hash, created_at, updated_at)
        SELECT 'Token', id, encode(sha256(email::bytea), 'hex'), NOW, NOW FROM users",
];

/// Queries of the runtime, and the index that each must use.
const QUERIES: [(&str, &str); 9] = [
    (
        "SELECT * FROM products t WHERE t.deleted_at IS NULL AND charter_fold(t.name) LIKE '%lamp 12%'",
        "products_name_trgm",
    ),
    (
        "SELECT * FROM products t WHERE t.deleted_at IS NULL AND charter_fold(t.name) LIKE '%ärmel 19%'",
        "products_name_trgm",
    ),
    ("SELECT * FROM products t WHERE t.deleted_at IS NULL AND charter_fold(t.sku) LIKE '%-1234%'", "products_sku_trgm"),
    ("SELECT count(*) FROM products t WHERE t.deleted_at IS NULL", "products_id_idx"),
    (
        "SELECT * FROM products t WHERE t.deleted_at IS NULL AND t.product_group_id = 7 ORDER BY t.id LIMIT 20",
        "products_product_group_id_id_idx",
    ),
    (
        "SELECT * FROM products t WHERE t.deleted_at IS NULL
         ORDER BY charter_fold(t.name) COLLATE \"C\", t.name COLLATE \"C\", t.id LIMIT 20",
        "products_name_sort",
    ),
    (
        "SELECT * FROM products t WHERE t.deleted_at IS NULL
         ORDER BY charter_fold(t.name) COLLATE \"C\" DESC, t.name COLLATE \"C\" DESC, t.id LIMIT 20",
        "products_name_sort",
    ),
    ("SELECT * FROM tokens t WHERE t.token_hash = $1", "tokens_token_hash_key"),
    ("SELECT * FROM users t WHERE charter_fold(t.email) = charter_fold($1)", "users_email_key"),
];

charter_testing::needs_postgres! {
    #[tokio::test]
    async fn every_query_uses_its_index() {
        let database = Database::postgres().await;
        Migrator::up(&database.connection, None).await.unwrap();
        for statement in ROWS {
            database.run(statement).await.unwrap();
        }
        database.run("ANALYZE").await.unwrap();
        // The test checks that the index can serve the query. Without this setting, costs would decide.
        database.run("SET enable_seqscan = off").await.unwrap();
        for (number, (query, index)) in QUERIES.into_iter().enumerate() {
            // Prepared with a text parameter, as the driver binds it.
            database.run(&format!("PREPARE query_{number}(text) AS {query}")).await.unwrap();
            let plan = database.texts(&format!("EXPLAIN EXECUTE query_{number}('x')")).await.join("\n");
            assert!(plan.contains(index), "{query}\ndoes not use {index}:\n{plan}");
        }
    }
}

charter_testing::needs_postgres! {
    #[tokio::test]
    async fn charter_fold_matches_lower_case_in_rust() {
        let database = Database::postgres().await;
        Migrator::up(&database.connection, None).await.unwrap();
        for text in ["Lamp", "ÄÖÜ ẞ", "ΣΊΣΥΦΟΣ", "ΟΔΟΣ Σ", "İstanbul", "ДЛЯ", "Ǆ", "Ⅷ", "ＦＵＬＬ", "日本"]
        {
            let folded = database.text(&format!("SELECT charter_fold('{text}')")).await;
            assert_eq!(folded, text.to_lowercase().replace('ς', "σ"), "{text}");
        }
    }
}
