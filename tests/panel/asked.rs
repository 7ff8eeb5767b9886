//! What a list is asked: in the panel as in the API, however it is written, and no more than the API takes.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::visitor;
use crate::support::{Server, on_both};

on_both!(
    an_export_that_could_break_off_unseen_is_refused,
    a_time_beyond_the_calendar_is_asked_as_it_is,
    titles_are_read_of_no_more_than_a_list_takes,
);

/// Where the end of a connection is the end of an answer, all of a list and a part of it look the same.
async fn an_export_that_could_break_off_unseen_is_refused(server: Server) {
    let cookie = visitor(&server, &json!({ "id": 1 })).await.cookie.expect("a session");
    for (version, accept, expected) in [
        ("HTTP/1.0", "text/csv", " 400 "),
        ("HTTP/1.0", "application/x-ndjson", " 400 "),
        ("HTTP/1.0", "application/json", " 200 "),
        ("HTTP/1.1", "text/csv", " 200 "),
    ] {
        let mut stream = TcpStream::connect(server.address).await.expect("the server listens");
        let begin = format!("GET /panel/api/products {version}\r\nhost: test\r\nconnection: close\r\n");
        let request = format!("{begin}cookie: {cookie}\r\naccept: {accept}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("the server reads");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await.expect("the server answers");
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.lines().next().is_some_and(|line| line.contains(expected)), "{version} {accept}: {text}");
    }
}

async fn a_time_beyond_the_calendar_is_asked_as_it_is(server: Server) {
    server.admin().put("/settings", json!({ "timezone": "America/New_York" })).await.ok();
    let mut inside = visitor(&server, &json!({ "id": 1 })).await;
    // The last minute that times are reckoned with, which New York moves beyond it.
    let form = "apply=1&f0.logic=and&f0.field=created_at&f0.predicate=gt&f0.value=%2B262142-12-31T23:59";
    let led = inside.get(&format!("/products?{form}")).await;
    inside.get(led.status(303).header("location")).await.status(422).says("must be an RFC 3339 timestamp");
    // What the zone moves before the year 1 no input for times holds.
    let page = inside.get("/products?tool=filter&q[created_at_gt]=0001-01-01T00:00:00Z").await;
    page.status(200).says("<input type=\"text\" name=\"f0.value\" value=\"0001-01-01T00:00:00Z\"");
}

async fn titles_are_read_of_no_more_than_a_list_takes(server: Server) {
    server.admin().post("/product_groups", json!({ "name": "Lights" })).await.created("product_group");
    let mut inside = visitor(&server, &json!({ "id": 1 })).await;
    let ids: Vec<String> = (2..=1_000).map(|id| id.to_string()).collect();
    let ids = ids.join(",");
    inside.get(&format!("/products?q[product_group_id_in]={ids},1")).await.status(200).says("Lights");
    let page = inside.get(&format!("/products?q[product_group_id_in]={ids},1001,1")).await;
    page.status(422).says("at most 1000 elements");
    assert!(!page.text.contains("Lights"), "it is refused however many there are");
}
