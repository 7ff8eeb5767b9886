//! Help server over HTTP, on SQLite and PostgreSQL: each rule of `resources/` at work.

use charter_testing::{Client, Database, Server, on_both};
use serde_json::{Value, json};

on_both!(
    tickets_are_numbered_and_move_along_their_lifecycle,
    contacts_and_agents_see_their_tickets,
    closed_tickets_change_no_more,
    deletions_restrict_clear_and_cascade,
    tickets_are_found_by_their_tags_and_comments,
    an_asset_is_booked_once_at_a_time,
    an_invoice_is_sent_and_paid,
    numbers_of_invoices_have_no_gaps,
    customers_have_the_number_of_their_open_tickets,
    only_one_price_list_is_the_default,
    only_active_users_get_tickets,
    anybody_sends_an_inquiry,
);

async fn start(database: Database) -> Server {
    Server::start(helpdesk::app, database).await
}

/// Creates a record and returns it.
async fn add(client: &Client, path: &str, record: Value) -> Value {
    let (status, answer) = client.post(path, record).await;
    assert_eq!(status, 201, "{path}: {answer}");
    answer.as_object().unwrap().values().next().unwrap().clone()
}

/// The status of an action on a record, and the answer.
async fn act(client: &Client, path: &str, id: &Value, action: &str) -> (u16, Value) {
    client.post(&format!("{path}/{id}/{action}"), json!({})).await
}

/// A user with these permissions, who may do everything else, and a client with a token of this user.
async fn user(server: &Server, name: &str, permissions: &[&str]) -> (Value, Client) {
    let role = json!({ "name": name, "permissions": permissions, "abilities": ["*"] });
    let role = add(server, "roles", role).await;
    let user = json!({ "name": name, "email": format!("{name}@example.com"), "role_ids": [role["id"]] });
    let user = add(server, "users", user).await;
    let token = json!({ "name": name, "user_id": user["id"], "abilities": ["*"] });
    let token = add(server, "tokens", token).await;
    (user["id"].clone(), server.with_token(token["value"].as_str().unwrap()))
}

async fn customer(server: &Server, name: &str) -> Value {
    add(server, "customers", json!({ "name": name })).await["id"].clone()
}

async fn tickets_are_numbered_and_move_along_their_lifecycle(database: Database) {
    let server = start(database).await;
    let (agent, _) = user(&server, "Ada", &[]).await;
    let customer = customer(&server, "Works").await;
    let ticket = add(&server, "tickets", json!({ "subject": "Leak", "customer_id": customer })).await;
    let number = ticket["number"].as_str().unwrap();
    assert!(number.starts_with("TCK-20") && number.ends_with("-0001"), "{number}");
    let id = &ticket["id"];
    let (status, refused) = act(&server, "tickets", id, "solve").await;
    assert_eq!((status, &refused["code"]), (409, &json!("transition_refused")), "{refused}");
    let (_, shown) = server.get(&format!("tickets/{id}?include=can")).await;
    let can: Vec<&Value> = shown["ticket"]["can"].as_array().unwrap().iter().collect();
    let allowed = |action: &str| can.iter().find(|one| one["action"] == action).unwrap()["allowed"].clone();
    assert_eq!((allowed("wait"), allowed("solve"), allowed("reopen")), (json!(true), json!(false), json!(false)));
    let path = format!("tickets/{id}");
    let (status, refused) = server.patch(&path, json!({ "status": "solved" })).await;
    assert_eq!(status, 422, "{refused}");
    server.patch(&path, json!({ "agent_id": agent, "resolution": "A new seal." })).await;
    let (status, solved) = act(&server, "tickets", id, "solve").await;
    assert_eq!((status, &solved["ticket"]["status"]), (200, &json!("solved")), "{solved}");
    assert!(solved["ticket"]["solved_at"].is_string());
    let (status, refused) = server.patch(&path, json!({ "resolution": "" })).await;
    assert_eq!((status, &refused["errors"]["resolution"][0]), (422, &json!("is required when status = solved")));
    assert_eq!(act(&server, "tickets", id, "reopen").await.1["ticket"]["solved_at"], Value::Null);
}

async fn contacts_and_agents_see_their_tickets(database: Database) {
    let server = start(database).await;
    let (contact_user, contact) = user(&server, "Carl", &[]).await;
    let (agent, agents) = user(&server, "Ada", &[]).await;
    let (_, stranger) = user(&server, "Sam", &[]).await;
    let (_, lead) = user(&server, "Lea", &["tickets.all"]).await;
    let customer = customer(&server, "Works").await;
    let person = json!({ "customer_id": customer, "name": "Carl", "user_id": contact_user });
    let person = add(&server, "contacts", person).await;
    let ticket = json!({ "subject": "Leak", "customer_id": customer, "contact_id": person["id"], "agent_id": agent });
    let ticket = add(&server, "tickets", ticket).await;
    let path = format!("tickets/{}", ticket["id"]);
    let comments = format!("{path}/comments");
    add(&lead, &comments, json!({ "body": "The seal, again.", "is_internal": true })).await;
    add(&contact, &comments, json!({ "body": "It drips." })).await;
    for (client, sees, comments_seen) in
        [(&contact, true, 1), (&agents, true, 1), (&lead, true, 2), (&stranger, false, 0)]
    {
        assert_eq!(client.get(&path).await.0, if sees { 200 } else { 404 });
        assert_eq!(client.get("tickets").await.1["meta"]["total"], u64::from(sees));
        assert_eq!(client.get("tickets/summary").await.0, 200);
        let listed = client.get(&comments).await.1["comments"].as_array().map_or(0, Vec::len);
        assert_eq!(listed, comments_seen);
    }
    assert_eq!(contact.patch(&path, json!({ "priority": "high" })).await.0, 403);
    assert_eq!(agents.patch(&path, json!({ "priority": "high" })).await.0, 200);
    assert_eq!(act(&contact, "tickets", &ticket["id"], "wait").await.0, 403);
}

async fn closed_tickets_change_no_more(database: Database) {
    let server = start(database).await;
    let (agent, _) = user(&server, "Ada", &[]).await;
    let customer = customer(&server, "Works").await;
    let ticket = json!({ "subject": "Leak", "customer_id": customer, "agent_id": agent, "resolution": "Done." });
    let ticket = add(&server, "tickets", ticket).await;
    let id = &ticket["id"];
    for action in ["solve", "close"] {
        assert_eq!(act(&server, "tickets", id, action).await.0, 200, "{action}");
    }
    let (status, refused) = server.patch(&format!("tickets/{id}"), json!({ "subject": "Drip" })).await;
    assert_eq!((status, &refused["code"]), (409, &json!("frozen")), "{refused}");
    let (_, shown) = server.get(&format!("tickets/{id}?include=can")).await;
    let can = shown["ticket"]["can"].as_array().unwrap();
    assert!(can.iter().all(|one| one["allowed"] == false), "{can:?}");
    assert_eq!(server.delete(&format!("tickets/{id}")).await.0, 409);
}

async fn deletions_restrict_clear_and_cascade(database: Database) {
    let server = start(database).await;
    let customer = customer(&server, "Works").await;
    let person = add(&server, "contacts", json!({ "customer_id": customer, "name": "Carl" })).await;
    let tag = add(&server, "tags", json!({ "name": "Pump" })).await;
    assert_eq!(server.post("tags", json!({ "name": "pump" })).await.0, 422);
    let ticket =
        json!({ "subject": "Leak", "customer_id": customer, "contact_id": person["id"], "tag_ids": [tag["id"]] });
    let ticket = add(&server, "tickets", ticket).await;
    assert_eq!(ticket["tag_ids"], json!([tag["id"]]));
    let path = format!("customers/{customer}");
    assert_eq!(server.delete(&path).await.0, 409, "its ticket restricts it");
    assert_eq!(server.delete(&format!("contacts/{}", person["id"])).await.0, 204);
    let (_, shown) = server.get(&format!("tickets/{}", ticket["id"])).await;
    assert_eq!(shown["ticket"]["contact_id"], Value::Null);
    assert_eq!(server.delete(&format!("tags/{}", tag["id"])).await.0, 204);
    let (_, shown) = server.get(&format!("tickets/{}?include=tags", ticket["id"])).await;
    assert_eq!((&shown["ticket"]["tag_ids"], &shown["ticket"]["tags"]), (&json!([]), &json!([])));
    assert_eq!(server.delete(&format!("tickets/{}", ticket["id"])).await.0, 204);
    assert_eq!(server.delete(&path).await.0, 204);
}

async fn tickets_are_found_by_their_tags_and_comments(database: Database) {
    let server = start(database).await;
    let (agent, agents) = user(&server, "Ada", &[]).await;
    let customer = customer(&server, "Works").await;
    let vip = add(&server, "tags", json!({ "name": "VIP" })).await["id"].clone();
    for (subject, tags) in [("Leak", json!([vip])), ("Drip", json!([]))] {
        let ticket = json!({ "subject": subject, "customer_id": customer, "agent_id": agent, "tag_ids": tags });
        let ticket = add(&server, "tickets", ticket).await;
        let comment = json!({ "body": format!("{subject} at night"), "is_internal": true });
        add(&server, &format!("tickets/{}/comments", ticket["id"]), comment).await;
    }
    let found = async |client: &Client, query: &str| {
        let (status, answer) = client.get(&format!("tickets?sort=id&{query}")).await;
        assert_eq!(status, 200, "{query}: {answer}");
        let tickets = answer["tickets"].as_array().unwrap().clone();
        tickets.iter().map(|ticket| ticket["subject"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found(&server, "q[tags.name_eq]=VIP").await, ["Leak"]);
    assert_eq!(found(&server, "q[tags.none][name_eq]=VIP").await, ["Drip"]);
    assert_eq!(found(&server, "q[comments.some][body_cont]=drip&q[comments.some][is_internal_true]=1").await, ["Drip"]);
    // Only leads see internal comments.
    assert_eq!(found(&agents, "q[comments.body_cont]=drip").await, Vec::<String>::new());
    assert_eq!(found(&agents, "q[tags.name_eq]=VIP").await, ["Leak"]);
}

async fn an_asset_is_booked_once_at_a_time(database: Database) {
    let server = start(database).await;
    let customer = customer(&server, "Works").await;
    let asset = add(&server, "assets", json!({ "name": "Pump", "serial": "P-1" })).await;
    let booking = |from: &str, to: &str| json!({ "asset_id": asset["id"], "customer_id": customer, "starts_on": from, "ends_on": to });
    let first = add(&server, "bookings", booking("2026-12-01", "2026-12-07")).await;
    assert_eq!(first["day_count"], 7);
    let (status, refused) = server.post("bookings", booking("2026-12-09", "2026-12-08")).await;
    assert_eq!((status, &refused["errors"]["ends_on"][0]), (422, &json!("must not be before the first day")));
    let (status, refused) = server.post("bookings", booking("2026-12-10", "2026-12-11")).await;
    assert!(status == 422 && refused["errors"]["asset_id"].is_array(), "{refused}");
    server.patch(&format!("bookings/{}", first["id"]), json!({ "returned_on": "2026-12-05" })).await;
    add(&server, "bookings", booking("2026-12-10", "2026-12-11")).await;
    assert_eq!(server.get("bookings?q[day_count_gt]=2").await.1["meta"]["total"], 1);
}

async fn an_invoice_is_sent_and_paid(database: Database) {
    let server = start(database).await;
    let customer = customer(&server, "Works").await;
    let invoice = add(&server, "invoices", json!({ "customer_id": customer })).await;
    let id = &invoice["id"];
    let lines = format!("invoices/{id}/invoice_lines");
    let (_, clerk) = user(&server, "Ada", &["invoices.pay"]).await;
    let line = add(&clerk, &lines, json!({ "service": "Repair", "quantity": 3, "unit_price": "40.50" })).await;
    let line = format!("{lines}/{}", line["id"]);
    clerk.patch(&line, json!({ "service": "Repairs" })).await;
    add(&server, &lines, json!({ "service": "Journey", "quantity": 1, "unit_price": "25" })).await;
    let (_, listed) = server.get(&format!("{lines}?sort=-total")).await;
    assert_eq!(listed["invoice_lines"][0]["total"], "121.50");
    let (_, summary) = server.get(&format!("{lines}/summary?sum=total")).await;
    assert!(summary.to_string().contains("146.50"), "{summary}");
    let (_, shown) = server.get(&format!("invoices/{id}")).await;
    assert_eq!(shown["invoice"]["total"], "146.50");
    assert_eq!(server.get("invoices?q[total_gt]=146.49").await.1["meta"]["total"], 1);
    assert_eq!(act(&server, "invoices", id, "send").await.0, 409);
    server.patch(&format!("invoices/{id}"), json!({ "due_on": "2099-12-31" })).await;
    assert_eq!(act(&server, "invoices", id, "send").await.0, 200);
    let all_refused = async || {
        let new = clerk.post(&lines, json!({ "service": "Repair", "quantity": 1, "unit_price": "1" })).await.0;
        let statuses = [new, clerk.patch(&line, json!({ "quantity": 1 })).await.0, clerk.delete(&line).await.0];
        assert_eq!((statuses, clerk.get(&line).await.0), ([403; 3], 200));
    };
    all_refused().await;
    assert_eq!(act(&clerk, "invoices", id, "pay").await.1["invoice"]["status"], "paid");
    assert_eq!(server.patch(&format!("invoices/{id}"), json!({ "due_on": "2099-12-30" })).await.0, 409);
    all_refused().await;
    assert_eq!(server.get(&format!("invoices/{id}")).await.1["invoice"]["total"], "146.50");
}

async fn numbers_of_invoices_have_no_gaps(database: Database) {
    let server = start(database).await;
    let customer = customer(&server, "Works").await;
    let mut numbers = Vec::new();
    for number in [json!("INV-1"), json!("  "), Value::Null] {
        let invoice = add(&server, "invoices", json!({ "customer_id": customer, "number": number })).await;
        assert_eq!(server.delete(&format!("invoices/{}", invoice["id"])).await.0, 405);
        assert_eq!(server.post("invoices", json!({ "customer_id": 999 })).await.0, 422);
        numbers.push(invoice["number"].as_str().expect("a number").rsplit('-').next().unwrap().to_owned());
    }
    assert_eq!(numbers, ["0001", "0002", "0003"]);
}

async fn customers_have_the_number_of_their_open_tickets(database: Database) {
    let server = start(database).await;
    let (agent, _) = user(&server, "Ada", &[]).await;
    let (works, _) = (customer(&server, "Works").await, customer(&server, "Zoo").await);
    let ticket = || json!({ "subject": "Leak", "customer_id": works, "agent_id": agent, "resolution": "Done." });
    let (first, second) = (add(&server, "tickets", ticket()).await, add(&server, "tickets", ticket()).await);
    let open = async || server.get(&format!("customers/{works}")).await.1["customer"]["open_tickets"].clone();
    assert_eq!(open().await, 2);
    assert_eq!(act(&server, "tickets", &first["id"], "wait").await.0, 200);
    assert_eq!(open().await, 2, "a ticket that waits is open");
    assert_eq!(act(&server, "tickets", &second["id"], "solve").await.0, 200);
    assert_eq!(open().await, 1);
    let (_, listed) = server.get("customers?sort=-open_tickets").await;
    assert_eq!(listed["customers"][0]["id"], works);
    assert_eq!(act(&server, "tickets", &second["id"], "reopen").await.0, 200);
    assert_eq!(server.delete(&format!("tickets/{}", first["id"])).await.0, 204);
    assert_eq!(open().await, 1);
}

async fn only_one_price_list_is_the_default(database: Database) {
    let server = start(database).await;
    let list =
        |name: &str, is_default: bool| json!({ "name": name, "valid_from": "2026-01-01", "is_default": is_default });
    let standard = add(&server, "price_lists", list("Standard", true)).await;
    add(&server, "price_lists", list("Other", false)).await;
    assert_eq!(server.post("price_lists", list("Second", true)).await.0, 422);
    let price = json!({ "price_list_id": standard["id"], "service": "Repair", "unit_price": "40.50" });
    add(&server, "prices", price).await;
    assert_eq!(server.delete(&format!("price_lists/{}", standard["id"])).await.0, 204);
    assert_eq!(server.get("prices").await.1["meta"]["total"], 0);
}

async fn only_active_users_get_tickets(database: Database) {
    let server = start(database).await;
    let (agent, _) = user(&server, "Ada", &[]).await;
    let customer = customer(&server, "Works").await;
    let ticket = json!({ "subject": "Leak", "customer_id": customer, "agent_id": agent });
    let id = add(&server, "tickets", ticket.clone()).await["id"].clone();
    server.patch(&format!("users/{agent}"), json!({ "is_active": false })).await;
    let (status, refused) = server.post("tickets", ticket).await;
    assert_eq!(
        (status, &refused["errors"]["agent_id"][0]),
        (422, &json!("must refer to a record (user) with is_active"))
    );
    // The ticket keeps its agent.
    let (status, kept) = server.patch(&format!("tickets/{id}"), json!({ "subject": "Drip" })).await;
    assert_eq!((status, &kept["ticket"]["agent_id"]), (200, &agent), "{kept}");
}

async fn anybody_sends_an_inquiry(database: Database) {
    let server = start(database).await;
    let anybody = server.anonymous();
    let inquiry = json!({ "subject": "Opening hours", "message": "When?", "email": "ann@example.com" });
    let (status, answer) = anybody.post("inquiries", inquiry).await;
    assert_eq!((status, answer), (201, json!({ "inquiry": { "id": 1 } })));
    let (status, refused) = anybody.post("inquiries", json!({ "subject": "x", "message": "y", "is_done": true })).await;
    assert_eq!((status, &refused["errors"]["is_done"][0]), (422, &json!("is not a field of inquiry")));
    assert_eq!(anybody.get("inquiries").await.0, 401);
    assert_eq!(server.get("inquiries/1").await.1["inquiry"]["is_done"], false);
}
