//! `POST /imports`: the file, its columns and the mapping by name.

use serde_json::{Value, json};

use super::{Form, act, path, send, upload, uploaded};
use crate::support::{Server, on_both};

on_both!(
    upload_maps_columns_by_names_and_labels,
    upload_without_a_known_column_is_accepted_and_cannot_run,
    file_that_cannot_be_read_is_refused,
    mapping_is_checked,
    import_of_an_unknown_resource_is_refused,
    repeated_upload_with_an_idempotency_key_creates_one_import,
);

async fn upload_maps_columns_by_names_and_labels(server: Server) {
    let admin = server.admin();
    let definition = json!({ "entity_type": "products", "name": "rig", "label": "Rig", "field_type": "decimal" });
    admin.post("/custom_fields", definition).await.created("custom_field");
    let text = "id,name,Product group,product_group_name,cf.rig,Tags,Remark,SKU\n1,Lamp,,Light,1,,x,L1\n";
    let answer = upload(&admin, "products", "Artikel.csv", text.as_bytes()).await;
    let import = answer.created("import");
    let expected = json!({ "id": "id", "name": "name", "Product group": "product_group_id", "product_group_name": null,
        "cf.rig": "cf.rig", "Tags": "tag_list", "Remark": null, "SKU": "sku" });
    assert_eq!(import["mapping"], expected);
    assert_eq!(import["columns"].as_array().map(Vec::len), Some(8));
    assert_eq!((&import["file_name"], &import["format"]), (&json!("Artikel.csv"), &json!("csv")));
    assert_eq!((&import["status"], &import["row_count"]), (&json!("uploaded"), &json!(1)));
    assert_eq!((&import["match_by"], &import["user_id"]), (&Value::Null, &json!(1)));
    assert_eq!(answer.header("location"), Some(format!("/api/v1{}", path(&import)).as_str()));
    // A mapped field with unique values is the key.
    assert_eq!(uploaded(&admin, "tax_classes", "name,percentage\nBooks,7\n").await["match_by"], "name");
}

async fn upload_without_a_known_column_is_accepted_and_cannot_run(server: Server) {
    let admin = server.admin();
    let import = uploaded(&admin, "products", "Artikel,Preis\nLampe,1\n").await;
    assert_eq!(import["mapping"], json!({ "Artikel": null, "Preis": null }));
    for action in ["rehearse", "run"] {
        assert!(act(&admin, &import, action).await.invalid("mapping").contains("maps no column"));
    }
    let mapping = json!({ "mapping": { "Artikel": "name" } });
    admin.patch(&path(&import), mapping).await.record("import");
    act(&admin, &import, "rehearse").await.record("import");
}

async fn file_that_cannot_be_read_is_refused(server: Server) {
    let admin = server.admin();
    for (bytes, problem) in [
        (&b""[..], "is empty"),
        (b"a,a\n1,2\n", "two columns that are called a"),
        (b"a,,b\n1,2,3\n", "no name for column 2"),
        (b"a\nGr\xfcn\n", "not UTF-8"),
        (b"a\0b", "neither CSV"),
        (b"[{}]", "NDJSON"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and more", "old format"),
        (b"PK\x03\x04 and more", "XLSX"),
    ] {
        let message = upload(&admin, "products", "x.csv", bytes).await.invalid("file");
        assert!(message.contains(problem), "{message}");
    }
    let without_file = send(&admin, Form::default().field("entity_type", "products")).await;
    assert_eq!(without_file.invalid("file"), "is required");
    assert_eq!(admin.get("/imports").await.ok()["meta"]["total"], 0);
}

async fn mapping_is_checked(server: Server) {
    let admin = server.admin();
    let import = uploaded(&admin, "products", "Name,Code\nLamp,L1\n").await;
    for (mapping, problem) in [
        (json!({ "Nam": "name" }), "did you mean `Name`?"),
        (json!({ "Name": "nam" }), "did you mean `name`?"),
        (json!({ "Name": "created_at" }), "cannot be imported"),
        (json!({ "Name": "name", "Code": "name" }), "maps two columns to `name`"),
        (json!({ "Name": 1 }), "must have the name of a field"),
    ] {
        let message = admin.patch(&path(&import), json!({ "mapping": mapping })).await.invalid("mapping");
        assert!(message.contains(problem), "{message}");
    }
    let unmapped = admin.patch(&path(&import), json!({ "match_by": "sku" })).await;
    assert!(unmapped.invalid("match_by").contains("a column is mapped to"));
    let plan = json!({ "mapping": { "Name": "name", "Code": "sku" }, "match_by": "sku" });
    assert_eq!(admin.patch(&path(&import), plan).await.record("import")["match_by"], "sku");
}

async fn import_of_an_unknown_resource_is_refused(server: Server) {
    let admin = server.admin();
    for entity_type in ["product", "users", "settings", "imports"] {
        let message = upload(&admin, entity_type, "x.csv", b"name\nx\n").await.invalid("entity_type");
        assert!(message.contains("can be imported"), "{message}");
    }
}

async fn repeated_upload_with_an_idempotency_key_creates_one_import(server: Server) {
    let client = server.admin().with("idempotency-key", "one");
    let first = uploaded(&client, "products", "name\nLamp\n").await;
    assert_eq!(uploaded(&client, "products", "name\nLamp\n").await["id"], first["id"]);
    upload(&client, "products", "x.csv", b"name\nOther\n").await.invalid("Idempotency-Key");
}
