//! Rollups: values of a record from the records that refer to it, after each way to write those, on both databases.

mod concurrent;
mod fixture;
mod indexed;
mod installed;
mod row_rules;

use fixture::Library;
use serde_json::{Value, json};

use crate::routes::imports::{finished, uploaded};
use crate::support::{Client, on_both};

on_both!(
    rollups_follow_creates_updates_and_deletes,
    child_that_moves_leaves_one_parent_and_reaches_the_other,
    condition_that_becomes_true_or_false_counts,
    deleted_children_do_not_count_until_they_are_restored,
    smallest_and_largest_value_are_found_again,
    children_below_a_parent_count,
    deletion_of_the_parent_clears_or_deletes_its_children,
    bulk_of_a_thousand_children_and_an_import_count,
    sql_of_others_counts,
    answer_event_and_record_have_the_rollups_of_embedded_children,
    clients_and_hooks_cannot_set_a_rollup,
    folders_count_their_folders,
    sum_at_the_edge_of_its_range_is_refused_and_nothing_is_lost,
    caches_and_tags_of_the_parent_follow_a_child,
    lists_filter_sort_and_sum_rollups,
    change_of_a_rollup_is_no_event_of_the_parent,
);

/// A book with the values of its rollups.
pub async fn book(client: &Client, name: &str) -> String {
    let book = client.post("/books", json!({ "name": name })).await.created("book");
    format!("/books/{}", book["id"])
}

fn id(path: &str) -> i64 {
    path.rsplit('/').next().and_then(|id| id.parse().ok()).expect("a path with an id")
}

async fn lend(client: &Client, loan: Value) -> String {
    let loan = client.post("/loans", loan).await.created("loan");
    format!("/loans/{}", loan["id"])
}

/// Open loans, fees, points, the first day and the last one of an open loan.
async fn rollups(client: &Client, book: &str) -> Value {
    let book = client.get(book).await.record("book");
    ["loans", "fees", "points", "first_on", "last_on"].iter().map(|name| book[*name].clone()).collect()
}

async fn rollups_follow_creates_updates_and_deletes(server: Library) {
    let admin = server.admin();
    let book = book(&admin, "Emma").await;
    assert_eq!(rollups(&admin, &book).await, json!([0, "0.00", 0, null, null]));
    let first = json!({ "book_id": id(&book), "lent_on": "2026-03-01", "fee": "1.50", "points": 2 });
    let loan = admin.post("/loans", first).await.created("loan");
    // The derived field of the answer has the value after the write.
    assert_eq!(loan["book_loans"], 1, "{loan}");
    let first = format!("/loans/{}", loan["id"]);
    assert_eq!(rollups(&admin, &book).await, json!([1, "1.50", 2, "2026-03-01", "2026-03-01"]));
    let second = lend(&admin, json!({ "book_id": id(&book), "lent_on": "2026-03-05", "fee": "0.25" })).await;
    assert_eq!(rollups(&admin, &book).await, json!([2, "1.75", 2, "2026-03-01", "2026-03-05"]));
    admin.put(&second, json!({ "fee": "-1", "points": 40, "lent_on": "2026-02-01" })).await.ok();
    assert_eq!(rollups(&admin, &book).await, json!([2, "0.50", 42, "2026-02-01", "2026-03-01"]));
    admin.put(&second, json!({ "points": "" })).await.ok();
    admin.delete(&first).await.deleted();
    assert_eq!(rollups(&admin, &book).await, json!([1, "-1.00", 0, "2026-02-01", "2026-02-01"]));
    admin.delete(&second).await.deleted();
    assert_eq!(rollups(&admin, &book).await, json!([0, "0.00", 0, null, null]));
}

async fn child_that_moves_leaves_one_parent_and_reaches_the_other(server: Library) {
    let admin = server.admin();
    let (emma, ulysses) = (book(&admin, "Emma").await, book(&admin, "Ulysses").await);
    let loan =
        json!({ "book_id": id(&emma), "spare_book_id": id(&emma), "lent_on": "2026-03-01", "fee": "2", "points": 1 });
    let loan = lend(&admin, loan).await;
    assert_eq!(admin.get(&emma).await.record("book")["spares"], 1);
    let moved = admin.put(&loan, json!({ "book_id": id(&ulysses) })).await.record("loan");
    assert_eq!(moved["book_loans"], 1);
    assert_eq!(rollups(&admin, &emma).await, json!([0, "0.00", 0, null, null]));
    assert_eq!(rollups(&admin, &ulysses).await, json!([1, "2.00", 1, "2026-03-01", "2026-03-01"]));
    // The other reference has not moved.
    let spares = [admin.get(&emma).await.record("book"), admin.get(&ulysses).await.record("book")];
    assert_eq!(spares.map(|book| book["spares"].clone()), [1, 0]);
    // In one write with other changes.
    let change = json!({ "book_id": id(&emma), "fee": "3", "lent_on": "2026-01-01", "returned_on": "2026-01-02" });
    admin.put(&loan, change).await.ok();
    assert_eq!(rollups(&admin, &ulysses).await, json!([0, "0.00", 0, null, null]));
    assert_eq!(rollups(&admin, &emma).await, json!([0, "3.00", 1, "2026-01-01", null]));
    admin.put(&loan, json!({ "book_id": "", "spare_book_id": "" })).await.ok();
    assert_eq!(rollups(&admin, &emma).await, json!([0, "0.00", 0, null, null]));
    assert_eq!(admin.get(&emma).await.record("book")["spares"], 0);
    admin.put(&loan, json!({ "book_id": id(&emma), "returned_on": "" })).await.ok();
    assert_eq!(rollups(&admin, &emma).await, json!([1, "3.00", 1, "2026-01-01", "2026-01-01"]));
}

async fn condition_that_becomes_true_or_false_counts(server: Library) {
    let admin = server.admin();
    let book = book(&admin, "Emma").await;
    let early = lend(&admin, json!({ "book_id": id(&book), "lent_on": "2026-03-01" })).await;
    let late = lend(&admin, json!({ "book_id": id(&book), "lent_on": "2026-03-09" })).await;
    admin.put(&late, json!({ "returned_on": "2026-03-10" })).await.ok();
    assert_eq!(rollups(&admin, &book).await, json!([1, "0.00", 0, "2026-03-01", "2026-03-01"]));
    admin.put(&early, json!({ "returned_on": "2026-03-10" })).await.ok();
    assert_eq!(rollups(&admin, &book).await, json!([0, "0.00", 0, "2026-03-01", null]));
    admin.put(&late, json!({ "returned_on": "" })).await.ok();
    assert_eq!(rollups(&admin, &book).await, json!([1, "0.00", 0, "2026-03-01", "2026-03-09"]));
}

async fn deleted_children_do_not_count_until_they_are_restored(server: Library) {
    let admin = server.admin();
    let book = book(&admin, "Emma").await;
    let loan = json!({ "book_id": id(&book), "lent_on": "2026-03-01", "fee": "2", "points": 1 });
    let loan = lend(&admin, loan).await;
    let full = rollups(&admin, &book).await;
    admin.delete(&loan).await.deleted();
    assert_eq!(rollups(&admin, &book).await, json!([0, "0.00", 0, null, null]));
    admin.post(&format!("{loan}/restore"), json!({})).await.ok();
    assert_eq!(rollups(&admin, &book).await, full);
}

async fn smallest_and_largest_value_are_found_again(server: Library) {
    let admin = server.admin();
    let book = book(&admin, "Emma").await;
    let mut loans = Vec::new();
    for day in ["05", "02", "09", "02", "09"] {
        loans.push(lend(&admin, json!({ "book_id": id(&book), "lent_on": format!("2026-03-{day}") })).await);
    }
    let days = async || {
        let book = admin.get(&book).await.record("book");
        [book["first_on"].clone(), book["last_on"].clone()]
    };
    assert_eq!(days().await, ["2026-03-02", "2026-03-09"]);
    // Another loan has the same day.
    admin.delete(&loans[1]).await.deleted();
    admin.delete(&loans[2]).await.deleted();
    assert_eq!(days().await, ["2026-03-02", "2026-03-09"]);
    admin.delete(&loans[3]).await.deleted();
    admin.put(&loans[4], json!({ "lent_on": "2026-03-07" })).await.ok();
    assert_eq!(days().await, ["2026-03-05", "2026-03-07"]);
}

async fn children_below_a_parent_count(server: Library) {
    let admin = server.admin();
    let book = book(&admin, "Emma").await;
    for stars in [3, 5, 4] {
        admin.post(&format!("{book}/reviews"), json!({ "stars": stars })).await.created("review");
    }
    let found = admin.get(&book).await.record("book");
    assert_eq!((&found["reviews"], &found["best"]), (&json!(3), &json!(5)));
    let reviews = admin.get(&format!("{book}/reviews?sort=-stars")).await.records("reviews");
    admin.delete(&format!("{book}/reviews/{}", reviews[0]["id"])).await.deleted();
    let found = admin.get(&book).await.record("book");
    assert_eq!((&found["reviews"], &found["best"]), (&json!(2), &json!(4)));
}

async fn deletion_of_the_parent_clears_or_deletes_its_children(server: Library) {
    let admin = server.admin();
    let (emma, ulysses) = (book(&admin, "Emma").await, book(&admin, "Ulysses").await);
    let loan = json!({ "book_id": id(&emma), "spare_book_id": id(&ulysses), "lent_on": "2026-03-01" });
    let loan = lend(&admin, loan).await;
    admin.post(&format!("{emma}/reviews"), json!({ "stars": 1 })).await.created("review");
    admin.delete(&emma).await.deleted();
    assert_eq!(admin.get(&loan).await.record("loan")["book_id"], json!(null));
    assert_eq!(server.texts("SELECT COUNT(*) || '' AS text FROM reviews").await, ["0"]);
    assert_eq!(admin.get(&ulysses).await.record("book")["spares"], 1);
}

async fn bulk_of_a_thousand_children_and_an_import_count(server: Library) {
    let admin = server.admin();
    let book = book(&admin, "Emma").await;
    let operation = |day: usize| {
        let loan = json!({ "book_id": id(&book), "lent_on": format!("2026-03-{:02}", day % 28 + 1), "fee": "0.01", "points": 1 });
        json!({ "method": "create", "loan": loan })
    };
    let operations: Vec<Value> = (0..1000).map(operation).collect();
    admin.post("/loans/bulk", json!({ "operations": operations })).await.ok();
    assert_eq!(rollups(&admin, &book).await, json!([1000, "10.00", 1000, "2026-03-01", "2026-03-28"]));
    // An operation that fails alone leaves no trace.
    let body = json!({ "atomic": false, "operations": [operation(1), { "method": "create", "loan": { "book_id": id(&book) } }] });
    admin.post("/loans/bulk", body).await.ok();
    let rows = format!("book_id,lent_on,fee\n{0},2026-04-01,5\n{0},2026-04-02,\n", id(&book));
    let import = uploaded(&admin, "loans", &rows).await;
    let import = finished(&admin, &import, "rehearse").await;
    assert_eq!(rollups(&admin, &book).await[0], 1001, "a rehearsal changes nothing");
    let import = finished(&admin, &import, "run").await;
    assert_eq!(import["status"], "done", "{import}");
    assert_eq!(rollups(&admin, &book).await, json!([1003, "15.01", 1001, "2026-03-01", "2026-04-02"]));
}

async fn sql_of_others_counts(server: Library) {
    let admin = server.admin();
    let (emma, ulysses) = (book(&admin, "Emma").await, book(&admin, "Ulysses").await);
    for (book, day) in [(&emma, "01"), (&emma, "02"), (&ulysses, "03"), (&ulysses, "04")] {
        let loan = json!({ "book_id": id(book), "lent_on": format!("2026-03-{day}"), "points": 1 });
        lend(&admin, loan).await;
    }
    // Each row changes its book at once: the two books change places.
    let swap = format!("UPDATE loans SET book_id = {} - book_id, points = points + 1", id(&emma) + id(&ulysses));
    server.sql(&swap).await;
    assert_eq!(rollups(&admin, &emma).await, json!([2, "0.00", 4, "2026-03-03", "2026-03-04"]));
    assert_eq!(rollups(&admin, &ulysses).await, json!([2, "0.00", 4, "2026-03-01", "2026-03-02"]));
    server.sql(&format!("DELETE FROM loans WHERE book_id = {} OR lent_on = '2026-03-01'", id(&emma))).await;
    assert_eq!(rollups(&admin, &emma).await, json!([0, "0.00", 0, null, null]));
    assert_eq!(rollups(&admin, &ulysses).await, json!([1, "0.00", 2, "2026-03-02", "2026-03-02"]));
    if server.state.db.dialect() == charter_runtime::db::Dialect::Postgres {
        server.sql("TRUNCATE loans").await;
        assert_eq!(rollups(&admin, &ulysses).await, json!([0, "0.00", 0, null, null]));
    }
}

async fn answer_event_and_record_have_the_rollups_of_embedded_children(server: Library) {
    let admin = server.admin();
    let lines = json!([{ "quantity": 2, "price": "10.25", "weight": 3 }, { "quantity": 1, "price": "0.50" }]);
    let invoice = admin.post("/invoices", json!({ "name": "A", "lines": lines })).await.created("invoice");
    assert_eq!((&invoice["total"], &invoice["weight"]), (&json!("21.00"), &json!(3)));
    let path = format!("/invoices/{}", invoice["id"]);
    assert_eq!(admin.get(&path).await.record("invoice"), invoice);
    let event = server.event_bodies(0).await.pop().expect("an event");
    assert_eq!(event["data"]["invoice"]["total"], "21.00", "{event}");
    let lines = json!([{ "id": invoice["lines"][0]["id"], "quantity": 3 }]);
    let invoice = admin.put(&path, json!({ "lines": lines })).await.record("invoice");
    assert_eq!(invoice["total"], "30.75");
    assert_eq!(admin.get(&path).await.record("invoice"), invoice);
    let event = server.event_bodies(0).await.pop().expect("an event");
    assert_eq!(event["data"]["invoice"]["total"], "30.75", "{event}");
    let invoice = admin.put(&path, json!({ "lines": [] })).await.record("invoice");
    assert_eq!((&invoice["total"], &invoice["weight"]), (&json!("0.00"), &json!(0)));
}

async fn clients_and_hooks_cannot_set_a_rollup(server: Library) {
    let admin = server.admin();
    let sent = json!({ "name": "Lent", "loans": 7, "last_on": "2026-03-01", "fees": "x" });
    let book = admin.post("/books", sent).await.created("book");
    assert_eq!((&book["loans"], &book["last_on"], &book["fees"]), (&json!(0), &json!(null), &json!("0.00")));
    let path = format!("/books/{}", book["id"]);
    lend(&admin, json!({ "book_id": book["id"], "lent_on": "2026-03-01" })).await;
    let book = admin.put(&path, json!({ "name": "Lent", "loans": 7 })).await.record("book");
    assert_eq!((&book["loans"], &book["last_on"]), (&json!(1), &json!("2026-03-01")));
    let document = admin.get("/openapi.json").await.ok();
    let loans = &document["components"]["schemas"]["Book"]["properties"]["loans"];
    let create = &document["components"]["schemas"]["BookCreate"]["properties"]["loans"];
    assert_eq!(create["readOnly"], true, "{create}");
    assert!(loans["description"].as_str().is_some_and(|text| text.contains("`returned_on is null`")), "{loans}");
}

async fn folders_count_their_folders(server: Library) {
    let admin = server.admin();
    let create = async |name: &str, parent: Value| {
        admin.post("/folders", json!({ "name": name, "parent_id": parent })).await.created("folder")
    };
    let top = create("top", json!(null)).await;
    let inner = create("inner", top["id"].clone()).await;
    create("innermost", inner["id"].clone()).await;
    create("other", top["id"].clone()).await;
    let counts = async || admin.get("/folders?sort=id").await.column("folders", "folders");
    assert_eq!(counts().await, [2, 1, 0, 0]);
    // A folder that is its own parent has the new value in the answer.
    let path = format!("/folders/{}", inner["id"]);
    let own = admin.put(&path, json!({ "parent_id": inner["id"] })).await.record("folder");
    assert_eq!(own["folders"], 2);
    assert_eq!(counts().await, [1, 2, 0, 0]);
    admin.put(&path, json!({ "parent_id": top["id"] })).await.ok();
    server.sql(&format!("DELETE FROM folders WHERE id = {}", inner["id"])).await;
    assert_eq!(counts().await, [1, 0]);
}

async fn sum_at_the_edge_of_its_range_is_refused_and_nothing_is_lost(server: Library) {
    const MESSAGE: &str = "A sum of another record would be larger than it can be.";
    let admin = server.admin();
    let lines = json!([{ "quantity": 1, "price": "9999.99" }]);
    let invoice = admin.post("/invoices", json!({ "name": "A", "lines": lines })).await.created("invoice");
    assert_eq!(invoice["total"], "9999.99");
    let path = format!("/invoices/{}", invoice["id"]);
    let line = |price: &str| json!({ "quantity": 1, "price": price });
    let lines = json!([{ "id": invoice["lines"][0]["id"] }, line("0.01")]);
    let refused = admin.put(&path, json!({ "name": "B", "lines": lines })).await.refused(409, "conflict");
    assert_eq!(refused["message"], MESSAGE);
    assert_eq!(admin.get(&path).await.record("invoice"), invoice);
    let negative = json!([{ "quantity": -1, "price": "9999.99" }, line("0.01"), { "quantity": -1, "price": "0.02" }]);
    admin.post("/invoices", json!({ "name": "C", "lines": negative })).await.refused(409, "conflict");
    assert_eq!(admin.get("/invoices").await.ok()["meta"]["total"], 1);
    // A sum of 64 bits, which SQLite would turn into a float.
    let heavy = |weight: i64| json!({ "quantity": 0, "price": "0", "weight": weight });
    let heaviest = json!({ "name": "D", "lines": [heavy(i64::MAX - 1), heavy(1)] });
    assert_eq!(admin.post("/invoices", heaviest).await.created("invoice")["weight"], i64::MAX);
    let more = json!({ "name": "E", "lines": [heavy(i64::MAX), heavy(1)] });
    assert_eq!(admin.post("/invoices", more).await.refused(409, "conflict")["message"], MESSAGE);
}

async fn caches_and_tags_of_the_parent_follow_a_child(server: Library) {
    let admin = server.admin();
    let book = book(&admin, "Emma").await;
    let (page, record) = (admin.get("/books").await, admin.get(&book).await);
    let tag = |answer: &crate::support::Answer| answer.header("etag").expect("a tag").to_owned();
    let (of_page, of_record) = (tag(&page), tag(&record));
    admin.with("if-none-match", &of_page).get("/books").await.status(304);
    admin.with("if-none-match", &of_record).get(&book).await.status(304);
    lend(&admin, json!({ "book_id": id(&book), "lent_on": "2026-03-01" })).await;
    let page = admin.with("if-none-match", &of_page).get("/books").await;
    assert_eq!(page.column("books", "loans"), [1]);
    assert_eq!(admin.with("if-none-match", &of_record).get(&book).await.record("book")["loans"], 1);
    admin.with("if-match", &of_record).put(&book, json!({ "name": "Ulysses" })).await.status(412);
    // A derived field in another list.
    assert_eq!(admin.get("/loans").await.column("loans", "book_loans"), [1]);
    lend(&admin, json!({ "book_id": id(&book), "lent_on": "2026-03-01" })).await;
    assert_eq!(admin.get("/loans").await.column("loans", "book_loans"), [2, 2]);
}

async fn lists_filter_sort_and_sum_rollups(server: Library) {
    let admin = server.admin();
    for (name, loans) in [("A", 1), ("B", 3), ("C", 0), ("D", 2)] {
        let book = book(&admin, name).await;
        for day in 1..=loans {
            lend(&admin, json!({ "book_id": id(&book), "lent_on": format!("2026-03-0{day}"), "fee": "1.10" })).await;
        }
    }
    let names = async |query: &str| admin.get(&format!("/books?{query}")).await.column("books", "name");
    assert_eq!(names("sort=-loans").await, ["B", "D", "A", "C"]);
    assert_eq!(names("q[loans_gteq]=2&sort=loans").await, ["D", "B"]);
    assert_eq!(names("q[last_on_null]=true").await, ["C"]);
    assert_eq!(names("q[fees_gt]=1.1&sort=-last_on").await, ["B", "D"]);
    let summary = admin.get("/books/summary?sum=fees,loans").await.records("summary");
    assert_eq!((&summary[0]["sum"]["fees"], &summary[0]["sum"]["loans"]), (&json!("6.60"), &json!("6")), "{summary:?}");
    let csv = admin.with("accept", "text/csv").get("/books?fields=name,loans,fees&sort=-loans").await;
    assert_eq!(csv.text, "name,loans,fees\r\nB,3,3.30\r\nD,2,2.20\r\nA,1,1.10\r\nC,0,0.00\r\n");
}

async fn change_of_a_rollup_is_no_event_of_the_parent(server: Library) {
    let admin = server.admin();
    let book = book(&admin, "Emma").await;
    let before = admin.get(&book).await.record("book");
    lend(&admin, json!({ "book_id": id(&book), "lent_on": "2026-03-01" })).await;
    let after = admin.get(&book).await.record("book");
    assert_eq!((&after["loans"], &after["updated_at"]), (&json!(1), &before["updated_at"]));
    assert_eq!(server.events("book").await, ["book.created"]);
    let entries = admin.get("/audit_entries?q[entity_type_eq]=books").await.column("audit_entries", "action");
    assert_eq!(entries, ["create"]);
}
