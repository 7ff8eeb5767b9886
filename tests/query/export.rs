//! Exports: a whole list as CSV or JSON Lines from one snapshot, never truncated unnoticed.

use reqwest::Method;
use serde_json::{Value, json};

use super::every_list::{List, Maker, lists};
use crate::support::{Answer, Server, Specimens, on_both};

on_both!(
    every_export_equals_the_pages_of_its_list,
    csv_has_a_line_per_record_and_a_column_per_value,
    json_lines_contain_the_requested_fields_and_includes,
    export_has_the_columns_of_a_view_in_its_order,
    export_rejects_pagination_and_csv_rejects_includes,
    csv_is_exact_unless_a_form_for_people_is_requested,
    head_request_starts_no_export,
    export_rejects_the_same_queries_as_the_list,
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

async fn csv_is_exact_unless_a_form_for_people_is_requested(server: Server) {
    let client = server.admin();
    for name in ["=1+1", "@x", "-2+3", "+1 234", "\t=1", "-5", "Lamp"] {
        client.post("/members", json!({ "name": name })).await.created("member");
    }
    let csv = client.with("accept", CSV);
    let list = "/members?fields=name&sort=id";
    let exact = "name\r\n=1+1\r\n@x\r\n-2+3\r\n+1 234\r\n\t=1\r\n-5\r\nLamp\r\n";
    assert_eq!(csv.get(list).await.status(200).text, exact);
    assert_eq!(csv.get(&format!("{list}&csv=")).await.status(200).text, exact);
    let neutral = "name\r\n'=1+1\r\n'@x\r\n'-2+3\r\n'+1 234\r\n'\t=1\r\n-5\r\nLamp\r\n";
    assert_eq!(csv.get(&format!("{list}&csv=neutral")).await.status(200).text, neutral);
    assert_eq!(csv.get(&format!("{list}&csv=bom,neutral")).await.status(200).text, format!("\u{feff}{neutral}"));
    assert_eq!(csv.get(&format!("{list}&csv=safe")).await.invalid("csv"), "must be a list of neutral, bom");
    for accept in [LINES, "application/json"] {
        let answer = client.with("accept", accept).get("/members?csv=neutral").await;
        assert_eq!(answer.invalid("csv"), "can only be used with `Accept: text/csv`");
    }
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
