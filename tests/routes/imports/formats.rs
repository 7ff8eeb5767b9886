//! Formats of files: separators, encodings, NDJSON and workbooks.

use serde_json::json;

use super::{Form, archive, counts, finished, parts, report, send, upload, uploaded, workbook};
use crate::routes::attachments::{pending_deletions, stored};
use crate::support::{Server, on_both};

on_both!(
    csv_is_read_in_each_of_its_forms,
    workbook_is_read_by_the_types_of_its_cells,
    lines_of_json_are_read_by_their_keys,
    times_without_an_offset_are_in_the_companys_zone,
    workbook_that_unpacks_to_too_much_is_refused,
    workbook_that_claims_what_it_does_not_have_harms_nobody,
);

async fn csv_is_read_in_each_of_its_forms(server: Server) {
    let admin = server.admin();
    let utf_16: Vec<u8> = "\u{feff}name\tsku\r\nGr\u{fc}n\tG1\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [b"name,sku\nGr\xc3\xbcn,G1\n".to_vec(), b"\xef\xbb\xbfname;sku\r\nGr\xc3\xbcn;G1".to_vec(), utf_16] {
        let form = Form::default().field("entity_type", "products").field("match_by", "sku").file("x.csv", &bytes);
        let import = send(&admin, form).await.created("import");
        let done = finished(&admin, &import, "run").await;
        assert_eq!(counts(&done)[3], 0, "{done}");
        assert_eq!(admin.get("/products").await.column("products", "name"), ["Gr\u{fc}n"]);
    }
}

async fn workbook_is_read_by_the_types_of_its_cells(server: Server) {
    let admin = server.admin();
    let text = |text: &str| format!("<is><t>{text}</t></is>");
    let (subject, starts, completed, status) =
        (text("Subject"), text("Starts at"), text("Priority"), text("Time shown as"));
    let inline = "t=\"inlineStr\"";
    let call = text("Call");
    let bytes = workbook(&[
        &[(inline, &subject), (inline, &starts), (inline, &completed), (inline, &status)],
        &[(inline, &call), ("s=\"1\"", "<v>46102.5</v>"), ("", "<v>2</v>"), (inline, "<is><t>Busy</t></is>")],
        &[],
        &[(inline, &call), ("", ""), ("t=\"e\"", "<v>#N/A</v>")],
    ]);
    let import = upload(&admin, "activities", "x.xlsx", &bytes).await.created("import");
    assert_eq!(import["format"], "xlsx");
    let done = finished(&admin, &import, "run").await;
    let expected = [(2, "created".to_string()), (4, "refused".to_string())];
    assert_eq!(report(&admin, &import).await, expected, "{done}");
    let activity = &admin.get("/activities").await.records("activities")[0];
    assert_eq!((&activity["priority"], &activity["time_status"]), (&json!(2), &json!(1)));
    assert_eq!(activity["starts_at"], "2026-03-21T12:00:00.000Z");
}

async fn lines_of_json_are_read_by_their_keys(server: Server) {
    let admin = server.admin();
    let text = "{\"name\":\"Lamp\",\"weight\":1.50,\"tag_list\":[\"a\"],\"is_active\":false}\n\n{\"name\":null}\nno\n";
    let import = upload(&admin, "products", "x.ndjson", text.as_bytes()).await.created("import");
    assert_eq!((&import["format"], &import["row_count"]), (&json!("ndjson"), &json!(2)));
    let done = finished(&admin, &import, "run").await;
    assert_eq!(counts(&done), [1, 0, 0, 1]);
    let lamp = &admin.get("/products?fields=name,tag_list,is_active").await.records("products")[0];
    assert_eq!((&lamp["tag_list"], &lamp["is_active"]), (&json!(["a"]), &json!(false)));
}

async fn times_without_an_offset_are_in_the_companys_zone(server: Server) {
    let admin = server.admin();
    admin.patch("/settings", json!({ "timezone": "Europe/Berlin" })).await.record("settings");
    let text = "subject,starts_at\na,2026-07-01 10:00\nb,2026-07-01T10:00:00Z\nc,2026-03-29 02:30\n";
    let import = uploaded(&admin, "activities", text).await;
    assert_eq!(counts(&finished(&admin, &import, "run").await), [2, 0, 0, 1]);
    let times = admin.get("/activities?sort=subject").await.column("activities", "starts_at");
    assert_eq!(times, ["2026-07-01T08:00:00.000Z", "2026-07-01T10:00:00.000Z"]);
}

/// A workbook with one name, in which a text is replaced by another, and which may have one more part.
fn changed(from: &str, to: &str, more: Option<(&'static str, String)>) -> Vec<u8> {
    let inline = "t=\"inlineStr\"";
    let mut parts = parts(&[&[(inline, "<is><t>name</t></is>")], &[(inline, "<is><t>Lamp</t></is>")]]);
    for (_, text) in &mut parts {
        *text = text.replace(from, to);
    }
    parts.extend(more);
    archive(&parts)
}

async fn workbook_that_unpacks_to_too_much_is_refused(server: Server) {
    let admin = server.admin();
    let texts = format!("<sst>{}</sst>", format!("{}<si/>", " ".repeat(1 << 19)).repeat(98));
    let long = format!("Lamp{}", "a".repeat((1 << 20) + (1 << 16)));
    for (bytes, problem) in [
        (
            changed("Lamp", "Lamp", Some(("xl/sharedStrings.xml", texts))),
            "is too large when it is unpacked: save it as CSV",
        ),
        (changed("Lamp", &long, None), "has a text of more than 1048576 bytes"),
        (changed("</Relationships>", &format!("<!--{long}--></Relationships>"), None), "has a text of more than"),
    ] {
        let message = upload(&admin, "products", "x.xlsx", &bytes).await.invalid("file");
        assert!(message.starts_with(problem), "{message}");
    }
    assert_eq!((stored(&server).len(), pending_deletions(&server.state).await), (0, 0));
}

async fn workbook_that_claims_what_it_does_not_have_harms_nobody(server: Server) {
    let admin = server.admin();
    // Claims that nobody needs are not read.
    for count in ["100000000000000", "9999999999999999999"] {
        let texts = format!("<sst uniqueCount=\"{count}\"><si><t>x</t></si></sst>");
        let bytes = changed("Lamp", "Lamp", Some(("xl/sharedStrings.xml", texts)));
        assert_eq!(upload(&admin, "products", "x.xlsx", &bytes).await.created("import")["row_count"], 1);
    }
    for dimension in ["B9:A1", "A1:XFD99999999999", "ZZZZZZZZZZZZZZ1:A1"] {
        let bytes = changed("<sheetData>", &format!("<dimension ref=\"{dimension}\"/><sheetData>"), None);
        assert_eq!(upload(&admin, "products", "x.xlsx", &bytes).await.created("import")["row_count"], 1);
    }
    let files = stored(&server).len();
    for (from, to) in [
        ("A2", "ZZZZZZZZZZ2"),
        ("A2", "A4294967297"),
        ("A2", "A0"),
        ("row r=\"2\"", "row r=\"4294967295\""),
        ("row r=\"2\"", "row r=\"5000000000\""),
        ("<is><t>Lamp</t></is>", "<is><t>&Lamp;</t></is>"),
        ("t=\"inlineStr\"><is><t>Lamp</t></is>", "t=\"s\"><v>7</v>"),
        ("worksheets/sheet1.xml\"", "../../../etc/passwd\""),
        ("</sheetData></worksheet>", ""),
    ] {
        let message = upload(&admin, "products", "x.xlsx", &changed(from, to, None)).await.invalid("file");
        assert!(message.starts_with("is no workbook in the format XLSX: "), "{to}: {message}");
    }
    assert_eq!((stored(&server).len(), pending_deletions(&server.state).await), (files, 0));
    assert_eq!(files, 5);
}
