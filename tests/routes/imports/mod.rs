//! `/imports` and `/imports/{id}/rows`.

mod formats;
mod keys;
mod rehearsal;
mod resume;
mod rights;
mod run;
mod undo;
mod upload;

use std::time::{Duration, Instant};

use flate2::Crc;
use reqwest::Method;
use serde_json::{Value, json};

use super::attachments::{Form, content_type};
use crate::support::{Answer, Client};

/// The states in which a worker has work.
const ACTIVE: [&str; 3] = ["rehearsing", "running", "undoing"];

/// Uploads a file.
pub async fn upload(client: &Client, entity_type: &str, name: &str, bytes: &[u8]) -> Answer {
    send(client, Form::default().field("entity_type", entity_type).file(name, bytes)).await
}

pub async fn send(client: &Client, form: Form) -> Answer {
    client.send_bytes(Method::POST, "/imports", Some(&content_type()), form.bytes()).await
}

/// The new import of a CSV file.
pub async fn uploaded(client: &Client, entity_type: &str, text: &str) -> Value {
    upload(client, entity_type, "file.csv", text.as_bytes()).await.created("import")
}

/// The new import of a CSV file, with a key.
pub async fn keyed(client: &Client, entity_type: &str, match_by: &str, text: &str) -> Value {
    let form = Form::default().field("entity_type", entity_type).field("match_by", match_by);
    send(client, form.file("file.csv", text.as_bytes())).await.created("import")
}

fn path(import: &Value) -> String {
    format!("/imports/{}", import["id"])
}

pub async fn act(client: &Client, import: &Value, action: &str) -> Answer {
    client.post(&format!("{}/{action}", path(import)), json!({})).await
}

/// Requests an action and waits for its end.
pub async fn finished(client: &Client, import: &Value, action: &str) -> Value {
    act(client, import, action).await.record("import");
    settled(client, import).await
}

/// The import once no worker has work.
pub async fn settled(client: &Client, import: &Value) -> Value {
    let begun = Instant::now();
    loop {
        let import = client.get(&path(import)).await.record("import");
        if !ACTIVE.contains(&import["status"].as_str().unwrap_or_default()) {
            return import;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "not within a minute: {import}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The report: number and outcome of each row.
async fn report(client: &Client, import: &Value) -> Vec<(i64, String)> {
    let rows = rows(client, import).await;
    let number = |row: &Value| row["number"].as_i64().expect("a number");
    rows.iter().map(|row| (number(row), row["outcome"].as_str().expect("a word").to_string())).collect()
}

async fn rows(client: &Client, import: &Value) -> Vec<Value> {
    client.get(&format!("{}/rows?sort=number&per_page=100", path(import))).await.records("import_rows")
}

/// The errors of one row.
async fn errors(client: &Client, import: &Value, number: i64) -> Value {
    let found = client.get(&format!("{}/rows?q[number_eq]={number}", path(import))).await.records("import_rows");
    found.first().unwrap_or_else(|| panic!("no row {number}"))["errors"].clone()
}

fn counts(import: &Value) -> [i64; 4] {
    ["created_count", "changed_count", "unchanged_count", "refused_count"]
        .map(|name| import[name].as_i64().expect("a count"))
}

async fn total(client: &Client, path: &str) -> i64 {
    client.get(path).await.ok()["meta"]["total"].as_i64().expect("a total")
}

/// A workbook with one sheet. A cell is the inside of its element: `<v>1</v>` or `<is><t>a</t></is>`, with attributes.
fn workbook(rows: &[&[(&str, &str)]]) -> Vec<u8> {
    archive(&parts(rows))
}

/// The parts of a workbook, each with its name.
fn parts(rows: &[&[(&str, &str)]]) -> Vec<(&'static str, String)> {
    let mut sheet =
        String::from("<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><sheetData>");
    for (row, cells) in rows.iter().enumerate() {
        sheet.push_str(&format!("<row r=\"{}\">", row + 1));
        for (column, (attributes, inside)) in cells.iter().enumerate() {
            let name = char::from(b'A' + u8::try_from(column).expect("few columns"));
            sheet.push_str(&format!("<c r=\"{name}{}\" {attributes}>{inside}</c>", row + 1));
        }
        sheet.push_str("</row>");
    }
    sheet.push_str("</sheetData></worksheet>");
    let relations = "http://schemas.openxmlformats.org/package/2006/relationships";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    vec![
        (
            "[Content_Types].xml",
            "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"/>".into(),
        ),
        (
            "_rels/.rels",
            format!(
                "<Relationships xmlns=\"{relations}\"><Relationship Id=\"r1\" Type=\"{office}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/workbook.xml",
            format!(
                "<workbook xmlns=\"{main}\" xmlns:r=\"{office}\"><sheets><sheet name=\"One\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>"
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            format!(
                "<Relationships xmlns=\"{relations}\"><Relationship Id=\"r1\" Type=\"{office}/worksheet\" Target=\"worksheets/sheet1.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/styles.xml",
            format!(
                "<styleSheet xmlns=\"{main}\"><cellXfs count=\"2\"><xf numFmtId=\"0\"/><xf numFmtId=\"22\" applyNumberFormat=\"1\"/></cellXfs></styleSheet>"
            ),
        ),
        ("xl/worksheets/sheet1.xml", sheet),
    ]
}

/// A ZIP archive of stored parts.
fn archive(parts: &[(&str, String)]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    let short = |number: usize| u16::try_from(number).expect("a short number").to_le_bytes();
    let long = |number: usize| u32::try_from(number).expect("a number").to_le_bytes();
    for (name, text) in parts {
        let at = bytes.len();
        let mut crc = Crc::new();
        crc.update(text.as_bytes());
        let sizes = [crc.sum().to_le_bytes(), long(text.len()), long(text.len())].concat();
        let common = [&short(20)[..], &[0; 8], &sizes, &short(name.len()), &short(0)].concat();
        bytes.extend([b"PK\x03\x04", &common[..], name.as_bytes(), text.as_bytes()].concat());
        directory.extend([b"PK\x01\x02", &short(20)[..], &common, &[0; 10], &long(at), name.as_bytes()].concat());
    }
    let (at, length, count) = (bytes.len(), directory.len(), short(parts.len()));
    bytes.extend(directory);
    bytes.extend([b"PK\x05\x06", &[0; 4][..], &count, &count, &long(length), &long(at), &short(0)].concat());
    bytes
}
