//! Substring search with a trigram index: the same matches as without the index in every script, during concurrent
//! writes and after an interrupted build.

use std::sync::Arc;
use std::time::{Duration, Instant};

use charter_runtime::db::{Dialect, Sql, fold};
use charter_runtime::error::Error;
use charter_runtime::query::{Condition, write_condition};
use chrono::DateTime;
use sea_orm::ActiveValue::Set;
use sea_orm::entity::prelude::ActiveModelTrait;
use serde_json::{Value, json};

use super::ids;
use crate::support::all_types_fixture::ActiveModel;
use crate::support::{self, Client, Database, Specimens, build_trigram_indexes, on_both};

on_both!(
    substring_search_finds_every_match_in_every_script,
    trigram_index_follows_its_table,
    trigram_index_serves_or_and_additional_conditions,
    search_succeeds_while_custom_fields_are_created_and_deleted,
);

/// Letters whose case folding differs between Unicode tables, surrounded by plain ones.
const NAMES: [&str; 24] = [
    "ALİ",
    "Ali",
    "alİbaba",
    "TAKSİM",
    "taksim",
    "Iğdır",
    "ΟΔΟΣ",
    "οδος",
    "ΣΊΣΥΦΟΣ",
    "Straße",
    "STRASSE",
    "ﬁnal",
    "\u{212a}elvin",
    "kelvin",
    "ÅNGSTRÖM",
    "\u{212b}ngström",
    "საქართველო",
    "ᲡᲐᲥᲐᲠᲗᲕᲔᲚᲝ",
    "ᏣᎳᎩ",
    "ꮳꮃꭹ",
    "Ǆemal",
    "ſelten",
    "6\" \"x\" AND y*",
    "𐐀𐐁𐐂 Ȿꟃ",
];

async fn add(specimens: &Specimens, names: impl IntoIterator<Item = String>) {
    let db = &specimens.state.db;
    let transaction = db.begin().await.expect("the database takes rows");
    for name in names {
        let row = ActiveModel {
            name: Set(Some(name)),
            custom_fields: Set(json!({})),
            created_at: Set(DateTime::UNIX_EPOCH),
            updated_at: Set(DateTime::UNIX_EPOCH),
            ..Default::default()
        };
        row.insert(&transaction).await.expect("a row is stored");
    }
    transaction.commit().await.expect("the rows are stored");
}

/// Runs a statement that another program could run.
async fn run(specimens: &Specimens, text: &str) {
    let transaction = specimens.state.db.begin_without_timeout().await.expect("the database takes rows");
    Sql::new(specimens.state.db.dialect(), text).run(&transaction).await.expect("it is no mistake");
    transaction.commit().await.expect("it is stored");
}

/// True if a list reads candidates of the trigram index: from the index on SQLite, by their ids on PostgreSQL.
async fn is_narrowed(client: &Client, query: &str) -> bool {
    let plan = client.get(&format!("/specimens?explain=1&{query}")).await.ok();
    let statements = plan["plan"]["statements"].as_array().expect("a list");
    let uses_candidates = |statement: &Value| {
        let by_ids = ["t.\"id\" = $", "t.\"id\" = ANY("]
            .iter()
            .any(|text| statement["sql"].to_string().replace("\\\"", "\"").contains(text));
        by_ids || statement["indexes"].to_string().contains("\"charter_search_specimens_")
    };
    assert_eq!(
        statements.iter().filter(|one| uses_candidates(one)).count() % statements.len(),
        0,
        "all or none: {plan}"
    );
    uses_candidates(&statements[0])
}

/// Waits until the server has built its index.
async fn until_narrowed(client: &Client, query: &str) {
    let end = Instant::now() + Duration::from_secs(20);
    while !is_narrowed(client, query).await {
        assert!(Instant::now() < end, "the index is not built");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The expected ids: those whose folded name contains the folded text.
async fn expected_ids(specimens: &Specimens, needle: &str) -> Vec<i64> {
    let needle = fold(needle);
    let rows =
        Sql::new(specimens.state.db.dialect(), "SELECT id, name FROM specimens WHERE name IS NOT NULL ORDER BY id");
    let rows = rows.all(specimens.state.db.reader()).await.expect("they are read");
    let names = rows.iter().map(|row| (row.try_get("", "id").unwrap(), row.try_get::<String>("", "name").unwrap()));
    names.filter(|(_, name)| fold(name).contains(&needle)).map(|(id, _)| id).collect()
}

async fn substring_search_finds_every_match_in_every_script(specimens: Specimens) {
    let client = specimens.admin();
    build_trigram_indexes(&specimens.state).await.expect("the index is built");
    let varied = NAMES.iter().enumerate().flat_map(|(n, name)| (0..4).map(move |m| format!("{name}{}{name}", n * m)));
    add(&specimens, NAMES.iter().map(ToString::to_string).chain(varied).chain((0..200).map(|n| format!("No. {n}"))))
        .await;
    let mut narrowed = 0;
    for name in NAMES {
        let letters: Vec<char> = name.chars().collect();
        for length in [2, 3, 4, letters.len()] {
            for part in letters.windows(length.min(letters.len())) {
                for needle in [String::from_iter(part), String::from_iter(part).to_lowercase()] {
                    let found = ids(&client, &[("q[name_cont]", &needle), ("per_page", "100")]).await;
                    assert_eq!(found, expected_ids(&specimens, &needle).await, "{needle}");
                }
            }
        }
        let query = format!("q[name_cont]={}", name.replace([' ', '"', '*'], ""));
        narrowed += usize::from(is_narrowed(&client, &query).await);
    }
    // Georgian and Cherokee letters have capitals that SQLite's index does not know. The `i` of `Ali` can match that
    // of `ALİ`.
    let expected = if specimens.state.db.dialect() == Dialect::Sqlite { NAMES.len() - 6 } else { NAMES.len() };
    assert_eq!(narrowed, expected);
}

async fn trigram_index_follows_its_table(specimens: Specimens) {
    let client = specimens.admin();
    build_trigram_indexes(&specimens.state).await.expect("the index is built");
    add(&specimens, (0..100).map(|n| format!("Other {n}"))).await;
    let find = async |needle: &str| ids(&client, &[("q[name_or_sku_cont]", needle)]).await;
    let id = client.post("/specimens", json!({ "name": "Rarity", "sku": "XQ-77" })).await.created("specimen")["id"]
        .as_i64()
        .unwrap();
    assert_eq!((find("rarity").await, find("xq-7").await), (vec![id], vec![id]));
    client.patch(&format!("/specimens/{id}"), json!({ "name": "Curiosity" })).await.ok();
    assert_eq!((find("rarity").await, find("curio").await, find("xq-7").await), (vec![], vec![id], vec![id]));
    // A write that the server does not see.
    let write = async |text: &str| run(&specimens, text).await;
    write("UPDATE specimens SET name = 'Oddity', sku = NULL WHERE name = 'Curiosity'").await;
    assert_eq!((find("curio").await, find("oddity").await, find("xq-7").await), (vec![], vec![id], vec![]));
    write("DELETE FROM specimens WHERE name = 'Oddity'").await;
    assert_eq!(find("oddity").await, [0; 0]);
    for id in [1, 2] {
        client.delete(&format!("/specimens/{id}")).await.status(204);
    }
    assert_eq!(find("lamp").await, [0; 0]);
}

async fn trigram_index_serves_or_and_additional_conditions(specimens: Specimens) {
    let client = specimens.admin();
    build_trigram_indexes(&specimens.state).await.expect("the index is built");
    add(&specimens, (0..200).map(|n| format!("Other {n}"))).await;
    // At most one record in sixteen may be a candidate on SQLite, and 1,000 in all on PostgreSQL.
    let is_postgres = specimens.state.db.dialect() == Dialect::Postgres;
    let cases: [(&str, &[i64], bool); 8] = [
        ("q[name_or_sku_cont]=lmp", &[1, 2, 8], true),
        ("q[name_start]=lamp&q[qty_gt]=1", &[1], true),
        ("q[name_end]=stand&q[sku_cont]=MP-", &[2], true),
        ("q[name_cont]=abc&sort=-name", &[4], true),
        ("q[name_not_cont]=other&q[qty_eq]=7", &[10], false),
        ("q[name_cont]=la", &[1, 2, 6], false),
        ("q[name_cont]=other&q[qty_eq]=7", &[], is_postgres),
        ("q[name_or_parent_name_cont]=lamp", &[1, 2], false),
    ];
    for (query, expected, narrowed) in cases {
        let answer = client.get(&format!("/specimens?{query}")).await.ok();
        let found: Vec<i64> =
            answer["specimens"].as_array().unwrap().iter().map(|s| s["id"].as_i64().unwrap()).collect();
        assert_eq!(found, expected, "{query}");
        assert_eq!(answer["meta"]["total"], json!(expected.len()), "{query}");
        assert_eq!(is_narrowed(&client, query).await, narrowed, "{query}");
    }
}

charter_testing::needs_postgres! {
    #[test]
    fn list_on_postgres_reads_up_to_1000_candidates_by_id() {
        support::run(Database::Postgres, candidates_at_the_limit);
    }
}

async fn candidates_at_the_limit(specimens: Specimens) {
    let client = specimens.admin();
    add(&specimens, (0..1_000).map(|n| format!("Quokka {n}"))).await;
    for (is_within, total) in [(true, 1_000), (false, 1_001)] {
        let answer = client.get("/specimens?q[name_cont]=quokka&sort=-name&per_page=2").await.ok();
        assert_eq!(answer["meta"]["total"], total);
        let first = if is_within { "Quokka 999" } else { "quokkas" };
        assert_eq!(answer["specimens"][0]["name"], first);
        assert_eq!(is_narrowed(&client, "q[name_cont]=quokka&sort=-name").await, is_within, "{total}");
        add(&specimens, ["quokkas".to_string()]).await;
    }
    assert_eq!(ids(&client, &[("q[name_cont]", "quokkas"), ("q[qty_null]", "true")]).await.len(), 2);
    assert_eq!(ids(&client, &[("q[name_cont]", "quokkast")]).await, [0; 0]);
}

/// Enough rows that writes happen during the build.
const MANY: i64 = 50_000;

async fn fill(specimens: &Specimens) {
    let text = format!(
        "INSERT INTO specimens (name, custom_fields, created_at, updated_at)
         WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {MANY})
         SELECT 'row-' || n || '-end', '{{}}', '2026-01-01T00:00:00+00:00', '2026-01-01T00:00:00+00:00' FROM n"
    );
    // The server builds the index at its start and checks it again only when a search finds it stale.
    add(specimens, (0..20).map(|n| format!("No. {n}"))).await;
    until_narrowed(&specimens.admin(), "q[name_cont]=stand").await;
    for event in ["delete", "insert", "update"] {
        run(specimens, &format!("DROP TRIGGER {}_{event}", index(specimens).await)).await;
    }
    run(specimens, &text).await;
}

/// The name of the specimens' index.
async fn index(specimens: &Specimens) -> String {
    names(specimens).await.pop().expect("there is one")
}

async fn names(specimens: &Specimens) -> Vec<String> {
    let text = "SELECT name FROM pragma_table_list WHERE type = 'virtual' AND name LIKE 'charter_search_specimens%'";
    let rows = Sql::new(Dialect::Sqlite, text).all(specimens.state.db.reader()).await.expect("they are read");
    rows.iter().map(|row| row.try_get("", "name").expect("a text")).collect()
}

#[test]
fn writes_during_an_index_build_are_indexed() {
    support::run(Database::Sqlite, write_meanwhile);
}

#[test]
fn interrupted_index_build_leaves_nothing_and_is_retried() {
    support::run(Database::Sqlite, interrupt);
}

async fn write_meanwhile(specimens: Specimens) {
    fill(&specimens).await;
    let client = specimens.admin();
    let state = specimens.state.clone();
    let keeping = tokio::spawn(async move { build_trigram_indexes(&state).await });
    let mut written = Vec::new();
    for n in 0.. {
        let (first, last) = (31 + n, MANY + 30 - n);
        for id in [first, last] {
            client.patch(&format!("/specimens/{id}"), json!({ "name": format!("zebra {id} crossing") })).await.ok();
        }
        written.extend([first, last]);
        let created =
            client.post("/specimens", json!({ "name": format!("okapi {n} crossing") })).await.created("specimen");
        written.extend(created["id"].as_i64());
        if keeping.is_finished() {
            break;
        }
    }
    assert!(is_narrowed(&client, "q[name_cont]=crossing").await);
    written.sort_unstable();
    let mut found = Vec::new();
    for page in 1.. {
        let more =
            ids(&client, &[("q[name_cont]", "crossing"), ("per_page", "100"), ("page", &page.to_string())]).await;
        if more.is_empty() {
            break;
        }
        found.extend(more);
    }
    assert_eq!(found, written);
    for n in [1, MANY / 2, MANY] {
        let name = format!("row-{n}-end");
        assert_eq!(ids(&client, &[("q[name_cont]", &name)]).await, expected_ids(&specimens, &name).await, "{name}");
    }
}

async fn interrupt(specimens: Specimens) {
    fill(&specimens).await;
    let client = specimens.admin();
    let state = specimens.state.clone();
    let before = index(&specimens).await;
    run(&specimens, &format!("DROP TABLE {before}")).await;
    let keeping = tokio::spawn(async move { build_trigram_indexes(&state).await });
    tokio::time::sleep(Duration::from_millis(10)).await;
    keeping.abort();
    assert!(keeping.await.is_err(), "it was done already");
    let last = MANY + 29;
    // A write waits for the interrupted transaction to roll back.
    client.patch(&format!("/specimens/{last}"), json!({ "name": "zebra" })).await.ok();
    assert_eq!(names(&specimens).await, [""; 0]);
    assert_eq!(ids(&client, &[("q[name_cont]", "zebra")]).await, [last]);
    build_trigram_indexes(&specimens.state).await.expect("the index is built");
    assert!(is_narrowed(&client, "q[name_cont]=zebra").await);
    assert_eq!(ids(&client, &[("q[name_cont]", "zebra")]).await, [last]);
}

#[test]
fn changes_by_other_programs_to_ids_or_index_lose_no_matches() {
    support::run(Database::Sqlite, meddle);
}

async fn meddle(specimens: Specimens) {
    let client = specimens.admin();
    build_trigram_indexes(&specimens.state).await.expect("the index is built");
    add(&specimens, (0..200).map(|n| format!("No. {n}"))).await;
    add(&specimens, ["quokka".to_string()]).await;
    let find = async || ids(&client, &[("q[name_cont]", "quokka")]).await;
    assert_eq!(find().await, [211]);
    for (text, expected) in [
        ("UPDATE specimens SET id = 1000 WHERE id = 211", 1000),
        ("UPDATE specimens SET rowid = 1001 WHERE id = 1000", 1001),
        ("UPDATE specimens SET _rowid_ = 5000, sku = 'x' WHERE id = 1001", 5000),
        ("UPDATE OR REPLACE specimens SET id = 211 WHERE id = 5000", 211),
        ("REPLACE INTO specimens SELECT * FROM specimens WHERE id = 211", 211),
    ] {
        run(&specimens, text).await;
        assert_eq!(find().await, [expected], "{text}");
        assert!(is_narrowed(&client, "q[name_cont]=quokka").await, "{text}");
    }
    // Without a trigger or the index, lists do without the index, and the server rebuilds it.
    let name = index(&specimens).await;
    let candidates = async || {
        let mut sql = Sql::new(Dialect::Sqlite, "SELECT t.id FROM specimens AS t WHERE ");
        let (index, expression) = (Arc::from(name.as_str()), "\"quo\" AND \"kka\"".to_string());
        write_condition(&mut sql, &Condition::Candidates { index, expression });
        sql.all(specimens.state.db.reader()).await.map(|rows| rows.len())
    };
    for drop in [format!("DROP TRIGGER {name}_insert"), format!("DROP TABLE {name}")] {
        assert!(candidates().await.is_ok_and(|found| found > 0));
        run(&specimens, &drop).await;
        // A statement that was about to use the index fails instead of missing records.
        assert!(matches!(candidates().await, Err(Error::Unavailable(_))), "{drop}");
        if drop.contains("TRIGGER") {
            add(&specimens, ["quokka".to_string()]).await;
        }
        let expected = expected_ids(&specimens, "quokka").await;
        assert_eq!(find().await, expected, "{drop}");
        until_narrowed(&client, "q[name_cont]=quokka").await;
        assert_eq!(find().await, expected, "{drop}");
    }
    // A newer release has replaced the index: this process searches without one, and the process that starts next has
    // its own.
    let other = "charter_search_specimens_00000000";
    run(&specimens, &format!("CREATE VIRTUAL TABLE {other} USING fts5(name)")).await;
    run(&specimens, &format!("DROP TABLE {name}")).await;
    for _ in 0..20 {
        assert_eq!(find().await, expected_ids(&specimens, "quokka").await);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(names(&specimens).await, [other]);
    build_trigram_indexes(&specimens.state).await.expect("the index is built");
    assert_eq!(names(&specimens).await, [name.as_str()]);
    assert!(is_narrowed(&client, "q[name_cont]=quokka").await);
    charter_runtime::trigram::drop_all(&specimens.state.db, &specimens.state.catalog, Some("specimens"))
        .await
        .expect("it is dropped");
    assert!(names(&specimens).await.is_empty());
    assert_eq!(find().await, expected_ids(&specimens, "quokka").await);
}

/// Each definition creates and drops an index, so that other connections see schema changes during their statements.
async fn search_succeeds_while_custom_fields_are_created_and_deleted(specimens: Specimens) {
    let client = specimens.admin();
    add(&specimens, (0..200).map(|number| format!("Lamp {number}"))).await;
    build_trigram_indexes(&specimens.state).await.expect("the index is built");
    let until = Instant::now() + Duration::from_secs(3);
    let read = async |reader: usize| {
        for number in 0.. {
            if Instant::now() > until {
                return number;
            }
            let (name, per_page) = (format!("amp {}", number % 150), (reader * 17 + (number % 17) + 1).to_string());
            client.list("/specimens", &[("q[name_cont]", &name), ("per_page", &per_page)]).await.ok();
        }
        unreachable!()
    };
    let define = async {
        while Instant::now() < until {
            let field = json!({ "entity_type": "members", "name": "passing", "field_type": "string" });
            let id = client.post("/custom_fields", field).await.created("custom_field")["id"].to_string();
            client.delete(&format!("/custom_fields/{id}")).await.deleted();
        }
    };
    let (first, second, third, fourth, ()) = tokio::join!(read(0), read(1), read(2), read(3), define);
    assert!(first + second + third + fourth > 20);
}
