//! `POST /imports/{id}/rehearse`: the report of what a run would do, and nothing else.

use serde_json::json;

use super::{counts, errors, finished, keyed, path, report, rows, total, uploaded};
use crate::support::{Server, differences, dump, on_both};

on_both!(
    rehearsal_reports_each_row_and_writes_nothing,
    row_numbers_are_lines_of_the_file,
    references_are_ids_or_titles,
    repeated_keys_and_unique_values_are_refused,
    changed_mapping_needs_another_rehearsal,
    hooks_of_a_resource_check_rows_and_write_nothing,
);

async fn rehearsal_reports_each_row_and_writes_nothing(server: Server) {
    let admin = server.admin();
    for (name, sku) in [("Lamp", "L1"), ("Table", "T1")] {
        admin.post("/products", json!({ "name": name, "sku": sku })).await.created("product");
    }
    let text = "name,sku,weight\nLamp,L1,\nDesk,T1,2\nChair,C1,1.5\n,X1,1\nBench,B1,heavy\n";
    let import = keyed(&admin, "products", "sku", text).await;
    // Those of the import itself, and of the counts of its rows.
    let counted = ["record_totals", "record_blocks", "record_changes"];
    let without = [&["imports", "import_rows", "audit_entries", "tokens"][..], &counted].concat();
    let before = dump(&server, &without).await;
    let rehearsed = finished(&admin, &import, "rehearse").await;
    assert_eq!(differences(&before, &dump(&server, &without).await), Vec::<String>::new());
    assert_eq!((&rehearsed["status"], counts(&rehearsed)), (&json!("rehearsed"), [1, 1, 1, 2]));
    assert_eq!((&rehearsed["rows_done"], &rehearsed["row_count"]), (&json!(5), &json!(5)));
    let words = ["unchanged", "changed", "created", "refused", "refused"];
    let expected: Vec<_> = (2..).zip(words.map(String::from)).collect();
    assert_eq!(report(&admin, &import).await, expected);
    assert_eq!(errors(&admin, &import, 5).await, json!({ "name": ["is required"] }));
    assert_eq!(errors(&admin, &import, 6).await, json!({ "weight": ["must be a number"] }));
    assert!(rows(&admin, &import).await[1]["record_id"].is_i64());
    // A second rehearsal replaces the report.
    finished(&admin, &import, "rehearse").await;
    assert_eq!(total(&admin, &format!("{}/rows", path(&import))).await, 5);
}

async fn row_numbers_are_lines_of_the_file(server: Server) {
    let admin = server.admin();
    let import =
        uploaded(&admin, "products", "name,weight\r\n\r\nLamp,x\r\n\"Two\r\nlines\",x\r\n\r\n,\r\nDesk,x").await;
    finished(&admin, &import, "rehearse").await;
    let numbers: Vec<i64> = report(&admin, &import).await.into_iter().map(|(number, _)| number).collect();
    assert_eq!(numbers, [3, 4, 8]);
}

async fn references_are_ids_or_titles(server: Server) {
    let admin = server.admin();
    let group = admin.post("/product_groups", json!({ "name": "Video" })).await.created("product_group");
    let text = format!("name,Product group\na,{}\nb,Video\nc,Video 9\nd,999\ne,\n", group["id"]);
    let import = uploaded(&admin, "products", &text).await;
    assert_eq!(counts(&finished(&admin, &import, "rehearse").await), [3, 0, 0, 2]);
    let problem = |text: &str| json!({ "product_group_id": [text] });
    assert_eq!(errors(&admin, &import, 4).await, problem("No product group is called Video 9."));
    assert_eq!(errors(&admin, &import, 5).await, problem("does not refer to an existing product group"));
}

async fn repeated_keys_and_unique_values_are_refused(server: Server) {
    let admin = server.admin();
    admin.post("/tax_classes", json!({ "name": "Books" })).await.created("tax_class");
    let import = keyed(&admin, "tax_classes", "name", "name,percentage\nBooks,7\nFood,7\nFood,8\n,9\n").await;
    assert_eq!(counts(&finished(&admin, &import, "rehearse").await), [1, 1, 0, 2]);
    assert_eq!(errors(&admin, &import, 4).await, json!({ "name": ["is already that of row 3"] }));
    assert_eq!(errors(&admin, &import, 5).await, json!({ "name": ["is empty, but records are found by it"] }));
    // Without a key, values that exist are not unique.
    admin.patch(&path(&import), json!({ "match_by": "" })).await.record("import");
    assert_eq!(counts(&finished(&admin, &import, "rehearse").await), [1, 0, 0, 3]);
    assert_eq!(errors(&admin, &import, 2).await, json!({ "name": ["is already taken"] }));
}

async fn changed_mapping_needs_another_rehearsal(server: Server) {
    let admin = server.admin();
    let import = uploaded(&admin, "products", "name,other\nLamp,L1\n").await;
    finished(&admin, &import, "rehearse").await;
    let plan = json!({ "mapping": { "name": "name", "other": "sku" } });
    let changed = admin.patch(&path(&import), plan).await.record("import");
    assert_eq!((&changed["status"], &changed["rows_done"]), (&json!("uploaded"), &json!(0)));
}

async fn hooks_of_a_resource_check_rows_and_write_nothing(server: Server) {
    let admin = server.admin();
    let text = "source_currency_code,target_currency_code,rate\nGBP,EUR,1.2\nGBP,GBP,1\nGBP,ZZZ,1\n";
    let import = uploaded(&admin, "exchange_rates", text).await;
    assert_eq!(counts(&finished(&admin, &import, "rehearse").await), [1, 0, 0, 2]);
    assert!(errors(&admin, &import, 4).await["target_currency_code"].is_array());
    assert_eq!(total(&admin, "/exchange_rates").await, 0);
}
