//! Running exports: one snapshot, a share for each user, and clients that are slow, stalled, gone or revoked.

use std::time::Duration;

use charter_runtime::db::Dialect;
use reqwest::Method;
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use crate::support::{Answer, Client, Server, on_both};

on_both!(
    export_reads_one_snapshot_and_a_user_runs_two_at_once,
    export_whose_client_has_stalled_ends_when_another_is_refused,
    aborted_export_does_not_look_complete,
    revoked_token_ends_a_running_export,
    slow_reader_is_disconnected_from_its_export,
    statement_of_an_abandoned_export_is_cancelled,
);

const CSV: &str = "text/csv";
const LINES: &str = "application/x-ndjson";

/// More products than fit in the buffers between the server and a client that does not read.
const MANY: usize = 20_000;

async fn fill(server: &Server) {
    let columns = "name, description, product_type, is_active, stock_method, weight, replacement_charge, \
        allowed_stock_type, buffer_percent, post_rent_unavailability, accessory_only, \"system\", discountable, \
        sub_rental_price, purchase_price, tag_list, custom_fields, created_at, updated_at";
    let client = server.admin();
    let first = client.post("/products", json!({ "name": "First", "description": "x".repeat(2_000) })).await;
    first.created("product");
    let series = match server.state.db.dialect() {
        Dialect::Postgres => format!("generate_series(2, {MANY})"),
        Dialect::Sqlite => format!(
            "(WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < {MANY}) SELECT i FROM n) AS n"
        ),
    };
    server.sql(&format!("INSERT INTO products ({columns}) SELECT {columns} FROM products, {series}")).await;
}

/// The first bytes of a response.
async fn head(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = vec![0; 4096];
    let read = tokio::time::timeout(Duration::from_secs(20), stream.read(&mut bytes)).await;
    let read = read.expect("the answer begins").expect("it is read");
    bytes.truncate(read);
    bytes
}

/// Retries while both export slots are taken.
async fn until_free(client: &Client, path: &str) -> Answer {
    for _ in 0..200 {
        let answer = client.get(path).await;
        if answer.status != 503 {
            return answer;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("no export came to its end");
}

/// Like [`until_free`], for a response that is not read to its end.
async fn until_begun(client: &Client, path: &str) -> TcpStream {
    for _ in 0..200 {
        let mut stream = client.begin(path).await;
        if head(&mut stream).await.starts_with(b"HTTP/1.1 200") {
            return stream;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("no export came to its end");
}

async fn export_reads_one_snapshot_and_a_user_runs_two_at_once(server: Server) {
    fill(&server).await;
    let client = server.admin();
    let csv = client.with("accept", CSV);
    let mut one = csv.begin("/products").await;
    let mut bytes = head(&mut one).await;
    assert!(bytes.starts_with(b"HTTP/1.1 200"));
    let mut two = client.with("accept", LINES).begin("/products?sort=name").await;
    head(&mut two).await;
    // Both exports wait for their clients. Other requests succeed, but a third export is rejected.
    let busy = csv.get("/currencies").await;
    busy.refused(503, "unavailable");
    assert_eq!(busy.header("retry-after"), Some("5"));
    // Another user's succeed.
    let (_, other) = server.user(&[], &["*"]).await;
    other.with("accept", CSV).get("/currencies").await.status(200);
    for _ in 0..20 {
        client.get("/products?count=none").await.records("products");
    }
    // Later changes are not part of the snapshot.
    client.post("/products", json!({ "name": "Late" })).await.created("product");
    client.delete(&format!("/products/{MANY}")).await.deleted();
    one.read_to_end(&mut bytes).await.expect("the export comes to its end");
    let text = String::from_utf8_lossy(&bytes);
    assert_eq!(text.matches(",First,").count(), MANY);
    assert!(!text.contains(",Late,") && text.ends_with("\r\n0\r\n\r\n"), "the last chunk is the empty one");
    // A client that disconnects frees its slot.
    drop(two);
    let skus = until_free(&csv, "/products?q[id_lt]=3&fields=sku").await;
    assert_eq!(skus.status(200).text.lines().count(), 3, "no line is empty: {}", skus.text);
    assert_eq!(until_free(&csv, "/currencies?fields=id").await.status(200).text.lines().count(), 179);
}

async fn revoked_token_ends_a_running_export(server: Server) {
    fill(&server).await;
    let (admin, csv) = (server.admin(), server.able(&["products:read", "tokens:read"]).await.with("accept", CSV));
    let token = admin.get("/tokens?sort=-id&per_page=1").await.records("tokens").remove(0);
    let path = format!("/tokens/{}", token["id"]);
    for is_gone in [false, true] {
        let mut stream = csv.begin("/products").await;
        let mut bytes = head(&mut stream).await;
        match is_gone {
            true => admin.delete(&path).await.deleted(),
            false => drop(admin.put(&path, json!({ "abilities": ["tokens:read"] })).await.record("token")),
        };
        server.state.clock.advance(Duration::from_secs(11));
        // The connection may end with a reset.
        let _ = stream.read_to_end(&mut bytes).await;
        assert!(bytes.starts_with(b"HTTP/1.1 200") && !bytes.ends_with(b"\r\n0\r\n\r\n"), "{is_gone}");
        if !is_gone {
            admin.put(&path, json!({ "abilities": token["abilities"] })).await.record("token");
        }
    }
}

async fn slow_reader_is_disconnected_from_its_export(server: Server) {
    fill(&server).await;
    let csv = server.admin().with("accept", CSV);
    let mut stream = csv.begin("/products").await;
    let mut bytes = head(&mut stream).await;
    // The clock advances beyond the limit for a response of this length.
    for _ in 0..20 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        server.state.clock.advance(Duration::from_secs(3_600));
    }
    let _ = stream.read_to_end(&mut bytes).await;
    assert!(!bytes.ends_with(b"\r\n0\r\n\r\n"));
    until_free(&csv, "/currencies?fields=id").await.status(200);
}

async fn export_whose_client_has_stalled_ends_when_another_is_refused(server: Server) {
    fill(&server).await;
    let (_, other) = server.user(&[], &["*"]).await;
    let (_, third) = server.user(&[], &["*"]).await;
    let mut stalled = Vec::new();
    for client in [server.admin(), other] {
        let csv = client.with("accept", CSV);
        for path in ["/products", "/products?sort=name"] {
            let mut stream = csv.begin(path).await;
            head(&mut stream).await;
            stalled.push(stream);
        }
    }
    let csv = third.with("accept", CSV);
    csv.get("/currencies").await.refused(503, "unavailable");
    tokio::time::sleep(Duration::from_secs(6)).await;
    csv.get("/currencies").await.refused(503, "unavailable");
    until_free(&csv, "/currencies").await.status(200);
    let mut interrupted = 0;
    for stream in &mut stalled {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes).await;
        interrupted += usize::from(!bytes.ends_with(b"\r\n0\r\n\r\n"));
    }
    assert!(interrupted > 0, "every stalled export is complete");
}

async fn statement_of_an_abandoned_export_is_cancelled(server: Server) {
    fill(&server).await;
    let long = match server.state.db.dialect() {
        Dialect::Postgres => "repeat('É', 4000)",
        Dialect::Sqlite => "replace(hex(zeroblob(2000)), '0', 'É')",
    };
    server.sql(&format!("UPDATE products SET description = {long} WHERE id <= 5000")).await;
    let csv = server.admin().with("accept", CSV);
    // Nothing matches, no index serves so short a text, and each of many long texts is searched fifty times.
    let conditions = ('a'..='w')
        .flat_map(|one| ['y', 'z'].map(|other| format!("{one}{other}")))
        .map(|text| json!({ "field": "description", "predicate": "cont", "value": text, "logic": "or" }));
    let mut query = reqwest::Url::parse("http://query").expect("a URL");
    query.query_pairs_mut().append_pair("filters", &json!(conditions.collect::<Vec<_>>()).to_string());
    let path = format!("/products?{}", query.query().expect("a query"));
    let exports = [csv.begin(&path).await, csv.begin(&path).await];
    // The first rows would take seconds.
    tokio::time::sleep(Duration::from_millis(500)).await;
    drop(exports);
    until_free(&csv, "/tax_classes").await.status(200);
    if server.state.db.dialect() == Dialect::Postgres {
        let active = "SELECT COUNT(*)::text AS text FROM pg_stat_activity \
                      WHERE datname = current_database() AND state = 'active' AND query LIKE 'FETCH%'";
        let none = async { while server.texts(active).await != ["0"] {} };
        tokio::time::timeout(Duration::from_secs(2), none).await.expect("the statements were ended");
    }
    // Both exports run, each on its own connection.
    let _both = [until_begun(&csv, "/products").await, until_begun(&csv, "/products").await];
}

async fn aborted_export_does_not_look_complete(server: Server) {
    fill(&server).await;
    let client = server.admin();
    let definition = json!({ "entity_type": "products", "name": "colour", "field_type": "string" });
    client.post("/custom_fields", definition).await.created("custom_field");
    server.sql(&format!("UPDATE products SET custom_fields = '[]' WHERE id = {}", MANY - 1)).await;
    let csv = client.with("accept", CSV);
    let mut stream = csv.begin("/products").await;
    let mut bytes = Vec::new();
    // The connection may end with a reset.
    let _ = stream.read_to_end(&mut bytes).await;
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.starts_with("HTTP/1.1 200") && text.matches(",First,").count() > 1_000, "{} bytes", bytes.len());
    assert!(!text.ends_with("0\r\n\r\n"), "the last chunk would mean a complete response");
    assert!(csv.attempt(Method::GET, "/products", None).await.is_none(), "a client notices");
    let coded = csv.with("accept-encoding", "gzip");
    assert!(coded.attempt(Method::GET, "/products", None).await.is_none(), "a client with compression notices as well");
    // Without chunked encoding, a client could not detect a truncated response.
    for accept in [CSV, LINES, "application/json"] {
        let mut stream = client.with("accept", accept).begin_in("HTTP/1.0", "/products?q[id_lt]=3").await;
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await.expect("the server answers");
        let status = if accept == "application/json" { " 200 " } else { " 400 " };
        assert!(String::from_utf8_lossy(&bytes[..16]).contains(status), "{accept}");
    }
    // An error before the first row has its status, and the message hides the cause.
    let failed = csv.get(&format!("/products?q[id_eq]={}", MANY - 1)).await;
    failed.refused(500, "internal_error");
    assert_eq!(until_free(&csv, "/products?q[id_lt]=10&fields=id").await.status(200).text.lines().count(), 10);
}
