//! Exports: a whole list as CSV or JSON Lines from one snapshot, never truncated unnoticed.

use std::time::Duration;

use charter_runtime::db::Dialect;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use super::every_list::{List, Maker, lists};
use crate::support::{Answer, Client, Server, Specimens, on_both};

on_both!(
    every_export_equals_the_pages_of_its_list,
    csv_has_a_line_per_record_and_a_column_per_value,
    json_lines_contain_the_requested_fields_and_includes,
    export_has_the_columns_of_a_view_in_its_order,
    export_rejects_pagination_and_csv_rejects_includes,
    head_request_starts_no_export,
    export_rejects_the_same_queries_as_the_list,
    export_reads_one_snapshot_and_a_user_runs_two_at_once,
    export_whose_client_has_stalled_ends_when_another_is_refused,
    aborted_export_does_not_look_complete,
    revoked_token_ends_a_running_export,
    slow_reader_is_disconnected_from_its_export,
    statement_of_an_abandoned_export_is_cancelled,
);

const CSV: &str = "text/csv";
const LINES: &str = "application/x-ndjson";

/// The values of CSV by line. Unquoted empty values are `None`.
fn table(text: &str) -> Vec<Vec<Option<String>>> {
    let (mut lines, mut line, mut value, mut quoted) = (Vec::new(), Vec::new(), String::new(), None);
    let mut bytes = text.chars().peekable();
    while let Some(c) = bytes.next() {
        match (c, quoted) {
            ('"', None) if value.is_empty() => quoted = Some(true),
            ('"', Some(true)) if bytes.peek() == Some(&'"') => value.extend(bytes.next()),
            ('"', Some(true)) => quoted = Some(false),
            (c, Some(true)) => value.push(c),
            (',' | '\r', _) => {
                let whole = std::mem::take(&mut value);
                line.push((quoted.take().is_some() || !whole.is_empty()).then_some(whole));
                if c == '\r' {
                    assert_eq!(bytes.next(), Some('\n'), "a line ends in CRLF");
                    lines.push(std::mem::take(&mut line));
                }
            }
            (c, _) => value.push(c),
        }
    }
    assert!(line.is_empty() && value.is_empty(), "the last line has an end");
    lines
}

fn objects(answer: &Answer) -> Vec<Value> {
    assert!(answer.text.is_empty() || answer.text.ends_with('\n'), "{}", answer.text);
    answer.status(200).text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

async fn every_export_equals_the_pages_of_its_list(server: Server) {
    let (client, mut maker) = (server.admin(), Maker::new(&server));
    let mut records = 0;
    for List { entry, path } in lists(&mut maker).await {
        let plural = entry.meta.plural;
        // An export of the audit log contains the entries of exports, its own among them.
        let only = if plural == "audit_entries" { "&q[action_not_start]=export" } else { "" };
        let path = format!("{path}?sort=-id{only}");
        let mut expected = Vec::new();
        for page in 1.. {
            let path = format!("{path}&per_page=100&page={page}");
            match client.get(&path).await.records(plural) {
                page if page.is_empty() => break,
                page => expected.extend(page),
            }
        }
        let exported = client.with("accept", LINES).get(&path).await;
        assert_eq!(exported.header("vary"), Some("Accept"), "{path}");
        assert_eq!(exported.header("content-type"), Some(LINES), "{path}");
        let name = format!("attachment; filename=\"{plural}.ndjson\"");
        assert_eq!(exported.header("content-disposition"), Some(name.as_str()), "{path}");
        let without_links = |mut record: Value| {
            // Each response has its own signed links.
            ["url", "thumb_url"].iter().for_each(|name| drop(record.as_object_mut().expect("a record").remove(*name)));
            record
        };
        let given: Vec<Value> = objects(&exported).into_iter().map(without_links).collect();
        assert_eq!(given, expected.iter().cloned().map(without_links).collect::<Vec<_>>(), "{path}");

        let csv = client.with("accept", CSV).get(&path).await;
        assert_eq!(csv.header("content-type"), Some("text/csv; charset=utf-8; header=present"), "{path}");
        let lines = table(&csv.status(200).text);
        assert_eq!(lines.len(), expected.len() + 1, "{path}: {}", csv.text);
        assert!(lines.iter().all(|line| line.len() == lines[0].len()), "{path}: {}", csv.text);
        for (line, record) in lines[1..].iter().zip(&expected) {
            for (title, value) in lines[0].iter().flatten().zip(line) {
                let stored = match title.strip_prefix("cf.") {
                    Some(name) => &record["custom_fields"][name],
                    None => record.get(title).unwrap_or_else(|| panic!("{path} has no {title}")),
                };
                let same = match stored {
                    Value::Null => None,
                    Value::String(text) => Some(text.clone()),
                    Value::Array(_) | Value::Object(_) => {
                        let given: Value = serde_json::from_str(value.as_deref().expect("JSON")).expect("JSON");
                        assert_eq!(given, *stored, "{path} {title}");
                        continue;
                    }
                    other => Some(other.to_string()),
                };
                assert!(*value == same || title == "url" || title == "thumb_url", "{path} {title}: {value:?}");
            }
        }
        records += expected.len();
    }
    assert!(records > 200, "{records}");
}

async fn csv_has_a_line_per_record_and_a_column_per_value(specimens: Specimens) {
    let client = specimens.admin();
    let strange =
        json!({ "name": " say \"hi\",\r\n=1+1 ", "sku": "", "custom_fields": { "power": "a,b", "vip": true } });
    client.post("/specimens", strange).await.created("specimen");
    let answer = client.with("accept", CSV).get("/specimens?q[id_in]=1,7,8,11&sort=id").await;
    let titles =
        "id,name,sku,rate,qty,active,group_id,parent_id,parent_name,size,bought_on,opens_at,cf.power,cf.rig,cf.vip,";
    assert!(answer.text.starts_with(titles), "{}", answer.text);
    let first = "\r\n1,Lamp,LMP-1,10.50000000,5,true,1,,,,,,150W,5,,2026-01-01T00:00:00Z,2026-01-01T00:00:00Z\r\n";
    assert!(answer.text.contains(first), "{}", answer.text);
    let lines = table(&answer.text);
    let column = |title: &str| {
        let at = lines[0].iter().position(|known| known.as_deref() == Some(title)).expect("a column");
        lines[1..].iter().map(move |line| line[at].clone()).collect::<Vec<_>>()
    };
    let text = |text: &str| Some(text.to_string());
    // The empty text differs from NULL.
    assert_eq!(column("name"), [text("Lamp"), text(""), None, text(" say \"hi\",\r\n=1+1 ")]);
    assert_eq!(column("cf.power"), [text("150W"), text(""), None, text("a,b")]);
    assert_eq!(column("cf.vip"), [None, None, None, text("true")]);
    let few = client.with("accept", CSV).get("/specimens?fields=sku,name&q[id_eq]=1").await;
    assert_eq!(few.text, "name,sku\r\nLamp,LMP-1\r\n");
    let none = client.with("accept", CSV).get("/specimens?fields=name&q[id_lt]=0").await;
    assert_eq!(none.text, "name\r\n");
    let first = client.with("accept", CSV).get("/specimens?fields=id&sort=-name").await;
    assert!(first.text.starts_with("id\r\n9\r\n2\r\n1\r\n"), "{}", first.text);
}

async fn json_lines_contain_the_requested_fields_and_includes(specimens: Specimens) {
    let client = specimens.admin();
    let path = "/specimens?include=productGroup&q[qty_gt]=0&sort=qty&fields=name";
    let exported = objects(&client.with("accept", LINES).get(path).await);
    assert_eq!(exported, client.get(&format!("{path}&per_page=100")).await.records("specimens"));
    assert_eq!(exported[0]["product_group"]["name"], "Lighting");
    let none = client.with("accept", LINES).get("/specimens?q[id_lt]=0").await;
    assert_eq!(none.status(200).text, "");
    // Participants are part of their activity.
    let member = client.post("/members", json!({ "name": "Ada" })).await.created("member");
    let activity = json!({ "subject": "Call", "participants": [{ "member_id": member["id"] }] });
    client.post("/activities", activity).await.created("activity");
    let exported = objects(&client.with("accept", LINES).get("/activities").await);
    assert_eq!(exported, client.get("/activities").await.records("activities"));
    assert_eq!(exported[0]["participants"][0]["member_name"], "Ada");
}

async fn export_has_the_columns_of_a_view_in_its_order(specimens: Specimens) {
    let client = specimens.admin();
    let view = json!({ "name": "v", "entity_type": "specimens", "columns": ["cf.rig", "sku", "name", "cf.power"],
        "sort_column": "name", "per_page": 1, "filters": [{ "field": "qty", "predicate": "eq", "value": 5 }] });
    let view = client.post("/custom_views", view).await.created("custom_view")["id"].clone();
    let answer = client.with("accept", CSV).get(&format!("/specimens?view_id={view}")).await;
    let expected = "id,cf.rig,sku,name,cf.power\r\n6,,b\\s,back\\slash,\r\n1,5,LMP-1,Lamp,150W\r\n";
    assert_eq!(answer.status(200).text, expected);
    let lines = client.with("accept", LINES).get(&format!("/specimens?view_id={view}")).await;
    let page = client.get(&format!("/specimens?view_id={view}&per_page=9")).await.records("specimens");
    assert_eq!(objects(&lines), page);
}

async fn export_rejects_pagination_and_csv_rejects_includes(server: Server) {
    let client = server.admin();
    for accept in [CSV, LINES] {
        let client = client.with("accept", accept);
        let answer = client.get("/products?page=1&per_page=5&cursor=").await;
        assert_eq!(answer.invalid_fields(), ["cursor", "page", "per_page"]);
        client.get("/products?q[nope_eq]=1").await.invalid("q[nope_eq]");
        assert_eq!(client.get("/products?count=none").await.status, 200);
    }
    client.with("accept", CSV).get("/products?include=productGroup").await.invalid("include");
    // `*/*` gets the normal JSON list.
    for accept in ["*/*", "application/json, text/csv;q=0.9", "text/html,*/*;q=0.8"] {
        client.with("accept", accept).get("/products").await.records("products");
    }
    let single = client.post("/products", json!({ "name": "Lamp" })).await.created("product");
    client.with("accept", CSV).get(&format!("/products/{}", single["id"])).await.record("product");
}

async fn head_request_starts_no_export(server: Server) {
    let client = server.admin().with("accept", CSV);
    for _ in 0..20 {
        let answer = client.send(Method::HEAD, "/currencies", None).await;
        assert_eq!(answer.status(200).text, "");
        assert_eq!(answer.header("content-disposition"), Some("attachment; filename=\"currencies.csv\""));
    }
}

async fn export_rejects_the_same_queries_as_the_list(server: Server) {
    let able = server.able(&["currencies:read"]).await.with("accept", CSV);
    assert_eq!(able.get("/currencies?fields=code").await.status(200).text.lines().count(), 179);
    able.get("/products").await.refused(403, "ability_missing");
    server.anonymous().with("accept", CSV).get("/currencies").await.refused(401, "unauthenticated");
    let (_, stranger) = server.user(&[], &["exchange_rates:read"]).await;
    stranger.with("accept", LINES).get("/exchange_rates").await.refused(403, "permission_missing");
}

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
