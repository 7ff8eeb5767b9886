//! Cursor pagination of every list in every order, and rejected cursors.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::every_list::{List, Maker, lists};
use crate::support::{Client, Server, Specimens, on_both};

on_both!(
    cursor_pagination_has_no_gaps_or_repetitions_in_any_order,
    cursor_pagination_works_for_every_list_and_sort_key,
    filters_and_views_apply_to_every_cursor_page,
    created_and_deleted_records_do_not_shift_cursor_pages,
    cursor_page_links_to_the_next_page,
    cursor_page_has_a_total_only_on_request,
    cursor_of_another_list_order_or_filter_is_rejected,
    malformed_cursor_is_rejected,
    order_with_values_too_long_for_a_cursor_is_rejected,
    explain_lists_the_statements_of_a_cursor_page,
);

/// The ids of a list from its first page to its last, following `meta.next_cursor`.
async fn walk(client: &Client, path: &str, plural: &str, parameters: &[(&str, &str)], per_page: usize) -> Vec<Value> {
    let (mut ids, mut cursor) = (Vec::new(), String::new());
    let size = per_page.to_string();
    loop {
        let of_page = [parameters, &[("per_page", size.as_str()), ("cursor", &cursor)]].concat();
        let answer = client.list(path, &of_page).await;
        let meta = answer.ok()["meta"].clone();
        let page = answer.column(plural, "id");
        assert!(meta.get("page").is_none() && meta.get("total").is_none(), "{path} {parameters:?}: {meta}");
        ids.extend(page.iter().cloned());
        match meta["next_cursor"].as_str() {
            Some(next) => {
                assert_eq!(page.len(), per_page, "{path} {parameters:?}: a page before the last is full");
                cursor = next.to_string();
            }
            None => {
                assert!(meta["next_cursor"].is_null() && page.len() <= per_page, "{path}: {meta}");
                return ids;
            }
        }
        assert!(ids.len() < 1_000, "{path} {parameters:?} does not end");
    }
}

/// The ids of a list on one page, as the expected result.
async fn whole(client: &Client, path: &str, plural: &str, parameters: &[(&str, &str)]) -> Vec<Value> {
    let mut ids = Vec::new();
    for page in 1.. {
        let page = page.to_string();
        let found = client.list(path, &[parameters, &[("per_page", "100"), ("page", &page)]].concat()).await;
        let found = found.column(plural, "id");
        if found.is_empty() {
            return ids;
        }
        ids.extend(found);
    }
    ids
}

async fn cursor_pagination_has_no_gaps_or_repetitions_in_any_order(specimens: Specimens) {
    let client = specimens.admin();
    let meta = specimens.state.catalog.get("specimen").expect("it is linked").meta;
    let sortable = meta.fields.iter().filter(|field| field.sortable).map(|field| field.name.to_string());
    let keys: Vec<String> = sortable.chain(["cf.power", "cf.rig", "cf.vip"].map(String::from)).collect();
    assert!(keys.len() > 10, "{keys:?}");
    // Equal values, adjacent nulls, and texts that differ only in case.
    for (name, qty, size) in [("LAMP", json!(5), json!("small")), ("lAMP", Value::Null, Value::Null)] {
        let specimen = json!({ "name": name, "qty": qty, "size": size, "custom_fields": { "power": "150W" } });
        client.post("/specimens", specimen).await.created("specimen");
    }
    let mut orders: Vec<String> = keys.iter().flat_map(|key| [format!("{key} asc"), format!("{key} desc")]).collect();
    for pair in keys.windows(2) {
        for ways in [["asc", "asc"], ["asc", "desc"], ["desc", "asc"], ["desc", "desc"]] {
            orders.push(format!("{} {}, {} {}", pair[0], ways[0], pair[1], ways[1]));
        }
    }
    orders.extend(
        ["active, qty, sku desc", "active desc, size, rate desc, name", "size desc, id desc"].map(String::from),
    );
    for order in &orders {
        let sorted = [("q[s]", order.as_str())];
        let expected = whole(&client, "/specimens", "specimens", &sorted).await;
        assert_eq!(expected.len(), 12, "{order}");
        for per_page in [1, 2, 5, 12, 100] {
            let walked = walk(&client, "/specimens", "specimens", &sorted, per_page).await;
            assert_eq!(walked, expected, "{order}, {per_page} a page");
        }
    }
}

async fn cursor_pagination_works_for_every_list_and_sort_key(server: Server) {
    let client = server.admin();
    let mut maker = Maker::new(&server);
    let mut walked = 0;
    for List { entry, path } in lists(&mut maker).await {
        let plural = entry.meta.plural;
        let mut keys: Vec<&str> =
            entry.meta.fields.iter().filter(|field| field.sortable).map(|field| field.name).collect();
        if plural == "activities" {
            // A label after a text: the label's bound values shift the parameter numbers.
            keys.push("subject,activity_status_name");
        }
        for key in keys {
            for sort in [key.to_string(), format!("-{key}")] {
                let sorted = [("sort", sort.as_str())];
                let expected = whole(&client, &path, plural, &sorted).await;
                let per_page = if expected.len() > 20 { 40 } else { 1 };
                assert_eq!(walk(&client, &path, plural, &sorted, per_page).await, expected, "{path} by {sort}");
                walked += usize::from(expected.len() > per_page);
            }
        }
    }
    assert!(walked > 100, "only {walked} orders took a second page");
}

async fn filters_and_views_apply_to_every_cursor_page(specimens: Specimens) {
    let client = specimens.admin();
    for filter in [
        ("q[active_true]", "1"),
        ("q[group.name_eq]", "Audio"),
        ("q[name_or_sku_cont]", "l"),
        ("q[cf.rig_gt]", "5"),
        ("q[cf.power_present]", "1"),
    ] {
        for sort in ["", "-name", "group_id", "-cf.rig", "cf.power"] {
            let parameters = [filter, ("sort", sort)];
            let expected = whole(&client, "/specimens", "specimens", &parameters).await;
            assert!(expected.len() > 1, "{parameters:?}");
            assert_eq!(walk(&client, "/specimens", "specimens", &parameters, 1).await, expected, "{parameters:?}");
        }
    }
    let view = json!({ "name": "v", "entity_type": "specimens", "columns": ["name"], "sort_column": "qty", "per_page": 2,
        "sort_direction": "desc", "filters": [{ "field": "qty", "predicate": "gt", "value": 0 }] });
    let view = client.post("/custom_views", view).await.created("custom_view")["id"].to_string();
    let parameters = [("view_id", view.as_str())];
    let expected = whole(&client, "/specimens", "specimens", &parameters).await;
    assert_eq!(expected.len(), 7);
    assert_eq!(walk(&client, "/specimens", "specimens", &parameters, 2).await, expected);
    let body = client.list("/specimens", &[parameters[0], ("cursor", "")]).await.ok();
    assert_eq!([&body["meta"]["per_page"], &body["meta"]["view"]["name"]], [&json!(2), &json!("v")]);
    let next = body["meta"]["next_cursor"].as_str().expect("there are more").to_string();
    // The view now has another order.
    client.put(&format!("/custom_views/{view}"), json!({ "sort_direction": "asc" })).await.record("custom_view");
    client.list("/specimens", &[parameters[0], ("cursor", &next)]).await.invalid("cursor");
}

async fn created_and_deleted_records_do_not_shift_cursor_pages(specimens: Specimens) {
    let client = specimens.admin();
    let page = |cursor: String| {
        let client = client.clone();
        async move {
            let parameters = [("sort", "-name"), ("per_page", "3"), ("cursor", cursor.as_str())];
            let answer = client.list("/specimens", &parameters).await;
            let next = answer.ok()["meta"]["next_cursor"].as_str().unwrap_or_default().to_string();
            (answer.column("specimens", "id"), next)
        }
    };
    let (first, next) = page(String::new()).await;
    assert_eq!(first, [9, 2, 1]);
    // The last record of the page is deleted and another is created before it. The next page still begins at the same
    // record.
    specimens.sql("DELETE FROM specimens WHERE id = 1").await;
    client.post("/specimens", json!({ "name": "zebra" })).await.created("specimen");
    let (second, next) = page(next).await;
    assert_eq!(second, [6, 4, 3]);
    client.post("/specimens", json!({ "name": "A" })).await.created("specimen");
    let (third, _) = page(next).await;
    assert_eq!(third, [10, 12, 5]);
}

async fn cursor_page_links_to_the_next_page(server: Server) {
    let client = server.admin();
    let answer = client.get("/currencies?q[name_cont]=dollar&sort=-code&cursor=&per_page=2&x=%C3%A4+%22%3E").await;
    let next = answer.ok()["meta"]["next_cursor"].as_str().expect("there are more").to_string();
    let link = answer.header("link").expect("a link").to_string();
    let base = "</api/v1/currencies?q%5Bname_cont%5D=dollar&sort=-code&per_page=2&x=%C3%A4%20%22%3E&cursor=";
    assert_eq!(link, format!("{base}>; rel=\"first\", {base}{next}>; rel=\"next\""));
    let followed = format!("~{}{next}", &base[1..]);
    let followed = client.get(&followed).await;
    let by_number = client.get("/currencies?q[name_cont]=dollar&sort=-code&per_page=2&page=2").await;
    assert_eq!(followed.column("currencies", "code"), by_number.column("currencies", "code"));
    assert_eq!(followed.ok()["meta"]["per_page"], 2);
    // The last page has no cursor and no empty page follows. Numbered pages have no links.
    let all = client.get("/currencies?q[code_in]=EUR,USD&per_page=2&cursor=").await;
    assert_eq!(all.ok()["meta"], json!({ "per_page": 2, "next_cursor": null }));
    assert!(all.header("link").is_some_and(|link| link.contains("first") && !link.contains("next")));
    assert_eq!(by_number.header("link"), None);
    let none = client.get("/currencies?q[code_eq]=none&cursor=").await.ok();
    assert_eq!(none, json!({ "currencies": [], "meta": { "per_page": 20, "next_cursor": null } }));
}

async fn cursor_page_has_a_total_only_on_request(server: Server) {
    let client = server.admin();
    for (query, total) in [("", json!(178)), ("&q[name_cont]=dollar&sort=-name", json!(23)), ("&q[id_lt]=0", json!(0))]
    {
        let (mut cursor, mut pages) = (String::new(), 0);
        let expected = client.get(&format!("/currencies?{query}")).await.ok()["meta"]["total"].clone();
        assert_eq!(expected, total, "{query}");
        loop {
            let path = format!("/currencies?per_page=60&cursor={cursor}{query}");
            let meta = client.get(&format!("{path}&count=exact")).await.ok()["meta"].clone();
            assert_eq!(meta["total"], expected, "{path}");
            for without in ["", "&count=none"] {
                assert_eq!(client.get(&format!("{path}{without}")).await.ok()["meta"].get("total"), None, "{path}");
            }
            pages += 1;
            match meta["next_cursor"].as_str() {
                Some(next) => cursor = next.to_string(),
                None => break,
            }
        }
        assert_eq!(pages, if query.is_empty() { 3 } else { 1 }, "{query}");
    }
}

async fn cursor_of_another_list_order_or_filter_is_rejected(server: Server) {
    let client = server.admin();
    let cursor = |path: &'static str| {
        let client = client.clone();
        async move {
            let body = client.get(&format!("{path}&per_page=1&cursor=")).await.ok();
            body["meta"]["next_cursor"].as_str().expect("there are more").to_string()
        }
    };
    let by_name = cursor("/currencies?sort=name&q[is_enabled_eq]=true").await;
    client.get(&format!("/currencies?sort=name&q[is_enabled_eq]=true&per_page=50&cursor={by_name}")).await.ok();
    for other in [
        "/currencies?q[is_enabled_eq]=true",
        "/currencies?sort=-name&q[is_enabled_eq]=true",
        "/currencies?sort=name",
        "/currencies?sort=name&q[is_enabled_eq]=false",
        "/currencies?sort=name&q[is_enabled_eq]=true&q[id_gt]=0",
        "/products?sort=name&q[is_active_eq]=true",
    ] {
        let problem = client.get(&format!("{other}&cursor={by_name}")).await.invalid("cursor");
        assert!(problem.contains("another list, order or filter"), "{other}: {problem}");
    }
}

async fn malformed_cursor_is_rejected(server: Server) {
    let client = server.admin();
    let answer = client.get("/currencies?sort=name&cursor=&page=1").await;
    assert_eq!(answer.invalid_fields(), ["page"]);
    client.get("/currencies?cursor=&count=many").await.invalid("count");
    let good = client.get("/currencies?sort=name&cursor=").await.ok()["meta"]["next_cursor"].clone();
    let good = good.as_str().expect("there are more");
    let head = URL_SAFE_NO_PAD.decode(good).expect("base64url")[..9].to_vec();
    let forge = |json: &str| URL_SAFE_NO_PAD.encode([&head, json.as_bytes()].concat());
    let mut bad: Vec<String> = ["x", "%20", "null", "AA", "AQ", "AQAAAAAAAAAAAA", "1", "-1"].map(String::from).to_vec();
    bad.push(good[..good.len() - 4].to_string());
    bad.push(format!("{good}%00"));
    for json in ["", "[]", "[1]", "{}", "[\"a\"]", "[\"a\",\"b\"]", "[1,1]", "[true,1]", "[[],1]", "[\"a\",1,1]"] {
        bad.push(forge(json));
    }
    bad.push(forge("[\"a\\u0000\",1]"));
    bad.push(forge("[\"a\",9223372036854775808]"));
    for cursor in bad {
        let problem = client.get(&format!("/currencies?sort=name&cursor={cursor}")).await.invalid("cursor");
        assert!(!problem.is_empty(), "{cursor}");
    }
    // A forged cursor with a possible position of this list is accepted.
    client.get(&format!("/currencies?sort=name&cursor={}", forge("[\"a\",-1]"))).await.ok();
    client.get(&format!("/currencies?sort=name&cursor={}", forge("[null,9223372036854775807]"))).await.ok();
    client.get(&format!("/currencies?sort=name&cursor={good}&cursor=")).await.ok();
    // Descending orders and other types: no value sorts below NULL, and no database stores the year 100,000.
    for sort in ["-name", "-id", "-created_at", "created_at"] {
        let good = client.get(&format!("/currencies?sort={sort}&per_page=1&cursor=")).await.ok();
        let good = good["meta"]["next_cursor"].as_str().expect("there are more").to_string();
        let head = URL_SAFE_NO_PAD.decode(good).expect("base64url")[..9].to_vec();
        let get_with = async |json: &str| {
            let cursor = URL_SAFE_NO_PAD.encode([&head, json.as_bytes()].concat());
            client.get(&format!("/currencies?sort={sort}&cursor={cursor}")).await
        };
        if sort != "-id" {
            get_with("[null,5]").await.ok();
        }
        if sort.ends_with("created_at") {
            for time in ["-100000-01-01T00:00:00Z", "+100000-01-01T00:00:00Z", "0000-12-31T00:00:00Z"] {
                assert!(!get_with(&format!("[\"{time}\",1]")).await.invalid("cursor").is_empty(), "{sort} {time}");
            }
            get_with("[\"9999-12-31T23:59:59Z\",1]").await.ok();
        }
    }
}

async fn order_with_values_too_long_for_a_cursor_is_rejected(server: Server) {
    let client = server.admin();
    for letter in ["a", "b", "c"] {
        let product = json!({ "name": letter, "description": letter.repeat(30_000) });
        client.post("/products", product).await.created("product");
    }
    let by_description = client.get("/products?sort=description&per_page=2&cursor=").await;
    assert!(by_description.invalid("cursor").contains("too long"));
    let ids = walk(&client, "/products", "products", &[("sort", "name")], 2).await;
    assert_eq!(ids.len(), 3);
    // A cursor that fits a URL but not a `Link` header.
    let mut text = String::new();
    for word in 0..800 {
        let _ = write!(text, "word{word} ");
    }
    client.put(&format!("/products/{}", ids[1]), json!({ "description": format!("a {text}") })).await.record("product");
    let answer = client.get("/products?sort=description&per_page=1&cursor=&fields=id").await;
    assert_eq!(answer.header("link"), None);
    let next = answer.ok()["meta"]["next_cursor"].as_str().expect("there are more").to_string();
    let second = client.get(&format!("/products?sort=description&per_page=2&cursor={next}&fields=id")).await;
    assert_eq!(second.column("products", "id"), [ids[0].clone(), ids[2].clone()]);
}

async fn explain_lists_the_statements_of_a_cursor_page(specimens: Specimens) {
    let client = specimens.admin();
    // The first record by name has NULL. Records without a value come first and are a range of their own.
    for (sort, first, further) in [("", 1, 1), ("-id", 1, 1), ("name", 1, 2), ("-name", 1, 3), ("-created_at", 1, 2)] {
        let path = format!("/specimens?sort={sort}&per_page=1");
        let next = client.get(&format!("{path}&cursor=")).await.ok()["meta"]["next_cursor"].clone();
        for (cursor, expected) in [("", first), (next.as_str().expect("there are more"), further)] {
            let plan = client.get(&format!("{path}&cursor={cursor}&explain=1")).await.ok()["plan"].clone();
            let statements = plan["statements"].as_array().expect("a list");
            assert_eq!(statements.len(), expected, "{sort}: {plan}");
            assert!(statements.iter().all(|statement| statement["reads"] == "rows"), "{plan}");
            assert!(statements.iter().all(|statement| !statement["sql"].to_string().contains("OFFSET")), "{plan}");
        }
    }
}
