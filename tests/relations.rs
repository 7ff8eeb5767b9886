//! Relations: polymorphic references, embedded records, labels and owners.

use serde_json::{Value, json};

use crate::support::{Client, Gatherings, on_both};

on_both!(
    list_of_references_accepts_only_visible_records,
    polymorphic_reference_is_written_and_read_by_its_type_name,
    polymorphic_reference_to_a_missing_record_is_refused,
    polymorphic_reference_requires_a_new_id_with_a_new_type_and_both_halves,
    embedded_records_are_written_and_read_with_their_record,
    embedded_records_are_updated_by_id_inserted_without_and_deleted_if_omitted,
    update_of_embedded_records_alone_is_in_the_audit_log,
    errors_of_embedded_records_are_reported_by_index,
    record_with_embedded_records_can_be_sent_back_unchanged,
    label_of_a_code_is_shown_and_can_be_filtered_and_sorted,
    immutable_field_cannot_be_changed,
    record_of_another_owner_is_not_found,
    reference_field_can_have_any_name,
    field_can_have_a_name_that_ends_like_a_predicate,
    numbers_in_json_fields_are_stored_exactly_or_refused,
    include_of_too_many_records_is_refused_and_never_truncated,
);

async fn member(client: &Client, name: &str) -> Value {
    client.post("/members", json!({ "name": name })).await.created("member")["id"].clone()
}

async fn gathering(client: &Client, further: Value) -> Value {
    let mut body = json!({ "subject": "Get-in", "code": "A" });
    for (name, value) in further.as_object().into_iter().flatten() {
        body[name] = value.clone();
    }
    client.post("/gatherings", body).await.created("gathering")
}

fn path(gathering: &Value) -> String {
    format!("/gatherings/{}", gathering["id"])
}

async fn polymorphic_reference_is_written_and_read_by_its_type_name(server: Gatherings) {
    let admin = server.admin();
    let group = admin.post("/product_groups", json!({ "name": "Audio" })).await.created("product_group");
    let ada = member(&admin, "Ada").await;
    let one = gathering(&admin, json!({ "regarding_type": "ProductGroup", "regarding_id": group["id"] })).await;
    assert_eq!(one["regarding_type"], "ProductGroup");
    // Enum values are compared without regard to case, and responses contain the declared form.
    let two = gathering(&admin, json!({ "regarding_type": "member", "regarding_id": ada })).await;
    assert_eq!(two["regarding_type"], "Member");
    let three = gathering(&admin, json!({})).await;
    assert_eq!([&three["regarding_type"], &three["regarding_id"]], [&Value::Null, &Value::Null]);
    let list = admin.get("/gatherings?include=regarding").await.records("gatherings");
    assert_eq!(list[0]["regarding"]["name"], "Audio");
    assert_eq!(list[1]["regarding"]["name"], "Ada");
    assert_eq!(list[2]["regarding"], Value::Null);
    let found = admin.get("/gatherings?q[regarding_type_eq]=MEMBER").await.column("gatherings", "id");
    assert_eq!(found, [two["id"].clone()]);
}

async fn polymorphic_reference_to_a_missing_record_is_refused(server: Gatherings) {
    let admin = server.admin();
    let ada = member(&admin, "Ada").await;
    let body = |further: Value| json!({ "subject": "x", "code": "A", "regarding_type": further[0], "regarding_id": further[1] });
    admin.post("/gatherings", body(json!(["Product", 1]))).await.invalid("regarding_type");
    admin.post("/gatherings", body(json!(["Member", 999]))).await.invalid("regarding_id");
    admin.post("/gatherings", body(json!(["Member", null]))).await.invalid("regarding_id");
    admin.post("/gatherings", body(json!([null, ada]))).await.invalid("regarding_type");
    let made = gathering(&admin, json!({ "regarding_type": "Member", "regarding_id": ada })).await;
    admin.put(&path(&made), json!({ "regarding_type": "ProductGroup" })).await.invalid("regarding_id");
    let cleared =
        admin.put(&path(&made), json!({ "regarding_type": "", "regarding_id": "" })).await.record("gathering");
    assert_eq!(cleared["regarding_id"], Value::Null);
}

async fn polymorphic_reference_requires_a_new_id_with_a_new_type_and_both_halves(server: Gatherings) {
    let admin = server.admin();
    let ada = member(&admin, "Ada").await;
    let group = admin.post("/product_groups", json!({ "name": "Audio" })).await.created("product_group");
    assert_eq!(group["id"], ada, "there is one of either type");
    let made = gathering(&admin, json!({ "regarding_type": "Member", "regarding_id": ada })).await;
    let problem = admin.put(&path(&made), json!({ "regarding_type": "ProductGroup" })).await.invalid("regarding_id");
    assert_eq!(problem, "is required with another regarding_type");
    let same = admin.put(&path(&made), json!({ "regarding_type": "member" })).await.record("gathering");
    assert_eq!(same["regarding_type"], "Member");
    let moved = json!({ "regarding_type": "ProductGroup", "regarding_id": ada });
    assert_eq!(admin.put(&path(&made), moved).await.record("gathering")["regarding_type"], "ProductGroup");
    for half in ["regarding_type", "regarding_id"] {
        let cleared = admin.put(&path(&made), json!({ half: "" })).await.record("gathering");
        assert_eq!([&cleared["regarding_type"], &cleared["regarding_id"]], [&Value::Null, &Value::Null]);
        let again = json!({ "regarding_type": "Member", "regarding_id": ada });
        admin.put(&path(&made), again).await.record("gathering");
    }
}

async fn embedded_records_are_written_and_read_with_their_record(server: Gatherings) {
    let admin = server.admin();
    let (ada, alan) = (member(&admin, "Ada").await, member(&admin, "Alan").await);
    let made =
        gathering(&admin, json!({ "guests": [{ "member_id": ada, "mute": true }, { "member_id": alan }] })).await;
    let expected = json!([
        { "id": 1, "member_id": ada, "member_name": "Ada", "mute": true },
        { "id": 2, "member_id": alan, "member_name": "Alan", "mute": false },
    ]);
    assert_eq!(made["guests"], expected);
    assert_eq!(admin.get(&path(&made)).await.record("gathering")["guests"], expected);
    // Responses contain them without an include, and an include of them is valid.
    let list = admin.get("/gatherings?include=guests").await.records("gatherings");
    assert_eq!(list[0]["guests"], expected);
    assert_eq!(gathering(&admin, json!({})).await["guests"], json!([]));
    admin.delete(&path(&made)).await.deleted();
}

async fn embedded_records_are_updated_by_id_inserted_without_and_deleted_if_omitted(server: Gatherings) {
    let admin = server.admin();
    let (ada, alan, grace) = (member(&admin, "Ada").await, member(&admin, "Alan").await, member(&admin, "Grace").await);
    let made = gathering(&admin, json!({ "guests": [{ "member_id": ada }, { "member_id": alan }] })).await;
    let guests = json!([{ "id": 2, "mute": true }, { "member_id": grace }]);
    let changed = admin.put(&path(&made), json!({ "guests": guests })).await.record("gathering");
    let expected = json!([
        { "id": 2, "member_id": alan, "member_name": "Alan", "mute": true },
        { "id": 3, "member_id": grace, "member_name": "Grace", "mute": false },
    ]);
    assert_eq!(changed["guests"], expected);
    // An omitted or null value changes nothing; an empty list or text removes all of them.
    let kept = admin.put(&path(&made), json!({ "subject": "Get-out", "guests": null })).await.record("gathering");
    assert_eq!(kept["guests"], expected);
    let emptied = admin.put(&path(&made), json!({ "guests": "" })).await.record("gathering");
    assert_eq!(emptied["guests"], json!([]));
}

async fn update_of_embedded_records_alone_is_in_the_audit_log(server: Gatherings) {
    let admin = server.admin();
    let (ada, alan) = (member(&admin, "Ada").await, member(&admin, "Alan").await);
    let made = gathering(&admin, json!({ "guests": [{ "member_id": ada }] })).await;
    let guests = json!([{ "id": 1, "member_id": ada, "mute": true }, { "member_id": alan }]);
    admin.put(&path(&made), json!({ "guests": guests })).await.record("gathering");
    let asked = "/audit_entries?sort=-id&q[entity_type_in]=gatherings,guests";
    let entries = admin.get(asked).await.records("audit_entries");
    let of: Vec<_> = entries.iter().map(|entry| (entry["entity_type"].as_str(), entry["action"].as_str())).collect();
    let (update, create) = (Some("update"), Some("create"));
    let (gatherings, guests) = (Some("gatherings"), Some("guests"));
    let expected = [(guests, create), (guests, update), (gatherings, update), (guests, create), (gatherings, create)];
    assert_eq!(of, expected, "the latest first");
    let changed = json!({ "guests": {
        "old": [{ "id": 1, "member_id": ada, "mute": false }],
        "new": [{ "id": 1, "member_id": ada, "mute": true }, { "member_id": alan, "mute": false }],
    } });
    assert_eq!(entries[2]["changes"], changed);
}

async fn errors_of_embedded_records_are_reported_by_index(server: Gatherings) {
    let admin = server.admin();
    let ada = member(&admin, "Ada").await;
    let other = gathering(&admin, json!({ "guests": [{ "member_id": ada }] })).await;
    let guests =
        json!([{ "member_id": ada }, { "member_id": 999 }, { "mute": "perhaps" }, 7, { "membr_id": 1 }, { "id": 0 }]);
    let answer = admin.post("/gatherings", json!({ "code": "A", "guests": guests })).await;
    let fields = answer.invalid_fields();
    for expected in ["guests.2.mute", "guests.3", "guests.4.membr_id", "guests.5.id", "subject"] {
        assert!(fields.iter().any(|field| field == expected), "{expected} in {fields:?}");
    }
    let answer =
        admin.post("/gatherings", json!({ "subject": "x", "code": "A", "guests": [{ "member_id": 999 }, {}] })).await;
    assert_eq!(answer.invalid_fields(), ["guests.0.member_id", "guests.1.member_id"]);
    // The id of another gathering's guest counts as unknown.
    let made = gathering(&admin, json!({})).await;
    let stolen = json!({ "guests": [{ "id": other["guests"][0]["id"], "mute": true }] });
    admin.put(&path(&made), stolen).await.invalid("guests.0.member_id");
    admin.put(&path(&made), json!({ "guests": { "member_id": ada } })).await.invalid("guests");
    assert_eq!(admin.get("/gatherings").await.json()["meta"]["total"], 2);
}

async fn record_with_embedded_records_can_be_sent_back_unchanged(server: Gatherings) {
    let admin = server.admin();
    let ada = member(&admin, "Ada").await;
    let guests = json!([{ "member_id": ada }]);
    let made = gathering(&admin, json!({ "guests": guests, "regarding_type": "Member", "regarding_id": ada })).await;
    let sent = admin.put(&path(&made), made.clone()).await.record("gathering");
    assert_eq!(sent, made);
}

async fn label_of_a_code_is_shown_and_can_be_filtered_and_sorted(server: Gatherings) {
    let admin = server.admin();
    let planned = gathering(&admin, json!({})).await;
    let held = gathering(&admin, json!({ "status_id": 2 })).await;
    assert_eq!([&planned["status_name"], &held["status_name"]], [&json!("Planned"), &json!("Held")]);
    let ids = |query: &'static str| {
        let client = admin.clone();
        async move { client.get(&format!("/gatherings?{query}")).await.column("gatherings", "id") }
    };
    assert_eq!(ids("q[status_name_cont]=HEL").await, [held["id"].clone()]);
    assert_eq!(ids("q[status_name_not_eq]=Held").await, [planned["id"].clone()]);
    assert_eq!(ids("q[status_name_in]=Held,Planned").await.len(), 2);
    assert_eq!(ids("sort=status_name").await, [held["id"].clone(), planned["id"].clone()]);
    admin.post("/gatherings", json!({ "subject": "x", "code": "A", "status_id": 3 })).await.invalid("status_id");
}

async fn immutable_field_cannot_be_changed(server: Gatherings) {
    let admin = server.admin();
    let made = gathering(&admin, json!({})).await;
    admin.put(&path(&made), json!({ "code": "B" })).await.invalid("code");
    admin.put(&path(&made), json!({ "code": "A", "subject": "Same code" })).await.record("gathering");
}

async fn record_of_another_owner_is_not_found(server: Gatherings) {
    let admin = server.admin();
    let (_, client) = server.user(&[], &["gatherings:read", "gatherings:write", "members:write"]).await;
    let theirs = gathering(&admin, json!({})).await;
    let own = gathering(&client, json!({})).await;
    client.get(&path(&theirs)).await.refused(404, "not_found");
    client.put(&path(&theirs), json!({ "subject": "x" })).await.refused(404, "not_found");
    client.delete(&path(&theirs)).await.refused(404, "not_found");
    assert_eq!(client.get("/gatherings").await.column("gatherings", "id"), [own["id"].clone()]);
    assert_eq!(admin.get("/gatherings").await.json()["meta"]["total"], 2);
    // A user can neither create a record for another user nor transfer one.
    let body = json!({ "subject": "x", "code": "A", "owned_by": theirs["owned_by"] });
    client.post("/gatherings", body).await.invalid("owned_by");
    client.put(&path(&own), json!({ "owned_by": theirs["owned_by"] })).await.invalid("owned_by");
}

async fn reference_field_can_have_any_name(server: Gatherings) {
    let admin = server.admin();
    let (ada, alan) = (member(&admin, "Ada").await, member(&admin, "Alan").await);
    gathering(&admin, json!({ "t": alan })).await;
    gathering(&admin, json!({ "t": ada })).await;
    gathering(&admin, json!({})).await;
    let list = admin.get("/gatherings?sort=-t_name&include=teller").await.records("gatherings");
    let names: Vec<&Value> = list.iter().map(|gathering| &gathering["t_name"]).collect();
    assert_eq!(names, [&json!("Alan"), &json!("Ada"), &Value::Null]);
    assert_eq!(list[1]["teller"]["name"], "Ada");
    assert_eq!(admin.get("/gatherings?q[t_name_cont]=ad").await.column("gatherings", "id"), [2]);
    assert_eq!(admin.get("/gatherings?q[teller.name_eq]=Alan&per_page=1").await.ok()["meta"]["total"], 1);
}

async fn field_can_have_a_name_that_ends_like_a_predicate(server: Gatherings) {
    let admin = server.admin();
    gathering(&admin, json!({ "is_not": "late" })).await;
    gathering(&admin, json!({})).await;
    let ids = async |query: &str| admin.get(&format!("/gatherings?{query}")).await.column("gatherings", "id");
    assert_eq!(ids("q[is_not_eq]=late").await, [1]);
    assert_eq!(ids("q[is_not_null]=1").await, [2]);
    assert_eq!(ids("q[is_not_not_null]=1").await, [1]);
    assert_eq!(ids("q[is_not_in]=late,early").await, [1]);
    assert_eq!(ids("q[is_not_or_subject_cont]=LAT").await, [1]);
    // Unambiguous conditions keep their usual meaning.
    assert_eq!(ids("q[subject_not_eq]=x").await, [1, 2]);
    admin.get("/gatherings?q[is_eq]=x").await.invalid("q[is_eq]");
}

async fn numbers_in_json_fields_are_stored_exactly_or_refused(server: Gatherings) {
    let admin = server.admin();
    let post = async |notes: &str| {
        let body = format!(r#"{{"subject":"x","code":"A","notes":{notes}}}"#);
        admin.post_text("/gatherings", body).await
    };
    for notes in [r#"{"a":[0.1,-2.50,1e3,12345678901234567890,9007199254740993]}"#, "[1.0]", "[]", r#"{"a":"1e999"}"#] {
        let kept = post(notes).await.created("gathering")["notes"].clone();
        assert_eq!(kept, serde_json::from_str::<Value>(notes).expect("it is JSON"), "{notes}");
    }
    for notes in [
        "[1234567890.12345678901]",
        r#"{"a":{"b":[12345678901234567.89]}}"#,
        "[123456789012345678901]",
        "[0.12345678901234567]",
    ] {
        post(notes).await.invalid("notes");
    }
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    for (notes, problem) in [
        ("[1e400]".into(), "contains the number 1e400, which is too large to store; send it as a string"),
        (deep(101), "must be nested at most 100 levels deep"),
        (r#"{"a":"\ud800"}"#.into(), "must not contain an unpaired surrogate"),
        (r#"["\u0000"]"#.into(), "must not contain a null character"),
        ("7".into(), "must be an object or a list"),
    ] {
        assert_eq!(post(&notes).await.invalid("notes"), problem, "{notes}");
    }
    // Values of the maximum depth are also in the audit log and the response.
    let deepest = post(&deep(100)).await.created("gathering");
    assert_eq!(admin.get(&path(&deepest)).await.record("gathering"), deepest);
    admin.put(&path(&deepest), json!({ "notes": [] })).await.ok();
    let entries = admin.get("/audit_entries?q[entity_type_eq]=gatherings&sort=-id").await.records("audit_entries");
    assert_eq!(entries[0]["changes"]["notes"]["old"].to_string(), deep(100));
    // An unchanged stored value is accepted, although a new one would be too deep.
    server.sql(&format!("UPDATE gatherings SET notes = '{}' WHERE id = {}", deep(110), deepest["id"])).await;
    let read = admin.get(&path(&deepest)).await.record("gathering");
    assert_eq!(read["notes"].to_string(), deep(110));
    assert_eq!(admin.put(&path(&deepest), read.clone()).await.record("gathering"), read);
    let minus = post("[-0.0, -0, {\"a\": -0e5}]").await.created("gathering");
    assert_eq!(minus["notes"].to_string(), r#"[0.0,0.0,{"a":0.0}]"#);
    admin.delete(&path(&minus)).await.deleted();
    admin.delete(&path(&deepest)).await.deleted();
    // The filter of a saved view is stored as it was sent.
    let view = |value: &str| {
        let filter = format!(r#"{{"field":"id","predicate":"lt","value":{value}}}"#);
        format!(r#"{{"name":"x","entity_type":"gatherings","columns":["id"],"filters":[{filter}]}}"#)
    };
    admin.post_text("/custom_views", view("12345678901234567.89")).await.invalid("filters");
    admin.post_text("/custom_views", view("\"12345678901234567.89\"")).await.created("custom_view");
    assert_eq!(admin.get("/gatherings?view_id=1").await.records("gatherings").len(), 4);
}

async fn include_of_too_many_records_is_refused_and_never_truncated(server: Gatherings) {
    let admin = server.admin();
    admin.post("/products", json!({ "name": "Lamp" })).await.created("product");
    admin.post("/products", json!({ "name": "Tent" })).await.created("product");
    let fill = async |product: u32, count: u32| {
        server
            .sql(&format!(
                "INSERT INTO stock_levels (product_id, created_at, updated_at)
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
                 SELECT p.id, p.created_at, p.created_at FROM n, products AS p WHERE p.id = {product}"
            ))
            .await;
    };
    fill(1, 9_999).await;
    fill(2, 1).await;
    let found = admin.get("/products?include=stockLevels").await.records("products");
    let count = |product: &Value| product["stock_levels"].as_array().map(Vec::len);
    assert_eq!([count(&found[0]), count(&found[1])], [Some(9_999), Some(1)]);
    fill(2, 1).await;
    let problem = admin.get("/products?include=stockLevels").await.invalid("include");
    assert!(problem.contains("10000 stock_levels"), "{problem}");
    assert_eq!(count(&admin.get("/products/1?include=stockLevels").await.record("product")), Some(9_999));
    assert_eq!(admin.get("/products?include=stockLevels&per_page=1").await.records("products").len(), 1);
}

async fn list_of_references_accepts_only_visible_records(server: Gatherings) {
    let (_, bob) = server.user(&[], &["*"]).await;
    let body = |follows: Value| json!({ "subject": "x", "code": "A", "follows": follows });
    let hidden = server.admin().post("/gatherings", body(json!([]))).await.created("gathering");
    let own = bob.post("/gatherings", body(json!([]))).await.created("gathering");
    bob.get(&format!("/gatherings/{}", hidden["id"])).await.refused(404, "not_found");
    bob.post("/gatherings", body(json!([own["id"]]))).await.created("gathering");
    // The message does not reveal that a record exists.
    for id in [hidden["id"].clone(), json!(999)] {
        let problem = bob.post("/gatherings", body(json!([own["id"], id]))).await.invalid("follows");
        assert!(problem.starts_with("does not refer to an existing gathering: "), "{problem}");
    }
    server.admin().post("/gatherings", body(json!([own["id"], hidden["id"]]))).await.created("gathering");
}
