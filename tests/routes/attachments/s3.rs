//! Attachments in an S3 bucket: objects and presigned links.

use std::ops::Deref;
use std::time::Duration;

use reqwest::{Method, Response};
use serde_json::Value;

use super::{Form, attach, member, path, pending_deletions, stored, thumbnails, until};
use crate::support::{Bucket, Database, Fixture, Server, http, on_both};

on_both!(
    a_file_and_its_thumbnail_are_stored_in_the_bucket,
    a_link_is_answered_by_the_service_for_an_hour,
    no_part_of_a_presigned_link_can_be_changed,
    only_safe_types_are_displayed_inline,
    a_large_and_an_empty_file_are_sent_in_one_piece,
    a_deleted_attachment_is_deleted_from_the_bucket,
    files_copied_from_the_folder_are_found_in_the_bucket,
    storage_key_is_never_revealed,
);

/// A server that stores attachments in a bucket.
pub struct Bucketed {
    pub server: Server,
    pub bucket: Bucket,
}

impl Fixture for Bucketed {
    async fn start(database: Database) -> Bucketed {
        let bucket = Bucket::start().await;
        let location = bucket.location();
        let server = Server::with(database, |config| config.storage = Some(location)).await;
        // The requests of the startup check are not counted.
        until("the bucket was tried out", async || bucket.requests("DELETE").len() == 1).await;
        Bucketed { server, bucket }
    }

    fn server(&self) -> &Server {
        &self.server
    }
}

impl Deref for Bucketed {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

/// Requests a link as a browser does, without a token.
pub async fn follow(method: Method, link: &str, range: Option<&str>) -> Response {
    let client = http().build().expect("a client");
    let request = client.request(method, link);
    let request = range.iter().fold(request, |request, range| request.header("range", *range));
    request.send().await.expect("the service answers")
}

fn header<'r>(response: &'r Response, name: &str) -> &'r str {
    response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

async fn a_file_and_its_thumbnail_are_stored_in_the_bucket(server: Bucketed) {
    let member = member(&server).await;
    let png = thumbnails::png(300, 300);
    let form = Form::default().on(&member).file("a.png", &png);
    let attachment = form.send(&server.admin()).await.created("attachment");
    let uuid = text(&attachment["uuid"]);
    let objects = server.bucket.objects();
    let names: Vec<&String> = objects.keys().collect();
    assert_eq!(names, [&format!("{}/{uuid}/file", &uuid[..2]), &format!("{}/{uuid}/thumb", &uuid[..2])]);
    assert_eq!(objects[names[0]], png);
    assert!(stored(&server).is_empty(), "{:?}", stored(&server));
    assert_eq!(pending_deletions(&server.state).await, 0);
    let thumb = follow(Method::GET, text(&attachment["thumb_url"]), None).await;
    assert_eq!((thumb.status().as_u16(), header(&thumb, "content-type")), (200, "image/jpeg"));
    assert!(image::load_from_memory(&thumb.bytes().await.expect("a body")).is_ok_and(|image| image.width() == 256));
}

async fn a_link_is_answered_by_the_service_for_an_hour(server: Bucketed) {
    let member = member(&server).await;
    let attachment = attach(&server, &member, "wörld.txt", "Hello, wörld").await;
    let link = text(&attachment["url"]);
    assert!(link.starts_with(&format!("http://{}/files/of/charter/", server.bucket.address)), "{link}");
    assert!(link.contains("X-Amz-Expires=3600"), "{link}");
    let answer = follow(Method::GET, link, None).await;
    assert_eq!(answer.status().as_u16(), 200);
    assert_eq!(header(&answer, "content-type"), "text/plain; charset=utf-8");
    let disposition = "inline; filename=\"w_rld.txt\"; filename*=UTF-8''w%C3%B6rld.txt";
    assert_eq!(header(&answer, "content-disposition"), disposition);
    assert_eq!(header(&answer, "cache-control"), "private");
    assert_eq!(answer.text().await.expect("a body"), "Hello, wörld");
    let part = follow(Method::GET, link, Some("bytes=0-4")).await;
    assert_eq!((part.status().as_u16(), header(&part, "content-range")), (206, "bytes 0-4/13"));
    assert_eq!(part.text().await.expect("a body"), "Hello");
    server.bucket.advance(Duration::from_secs(3590));
    assert_eq!(follow(Method::GET, link, None).await.status().as_u16(), 200);
    server.bucket.advance(Duration::from_secs(11));
    assert_eq!(follow(Method::GET, link, None).await.status().as_u16(), 403);
}

/// Changes of object, method, expiry and response headers.
async fn no_part_of_a_presigned_link_can_be_changed(server: Bucketed) {
    let member = member(&server).await;
    let one = attach(&server, &member, "a.html", "<!DOCTYPE html><script>1</script>").await;
    let other = attach(&server, &member, "b.txt", "b").await;
    let link = text(&one["url"]);
    assert_eq!(follow(Method::GET, link, None).await.status().as_u16(), 200);
    for (from, to) in [
        (text(&one["uuid"]), text(&other["uuid"])),
        ("/file?", "/thumb?"),
        ("X-Amz-Expires=3600", "X-Amz-Expires=7200"),
        ("response-content-disposition=attachment", "response-content-disposition=inline"),
        ("response-content-type=text%2Fhtml", "response-content-type=text%2Fxml"),
        ("AKIATEST", "AKIATESS"),
    ] {
        let changed = link.replace(from, to);
        assert_ne!(changed, link, "{from}");
        assert_eq!(follow(Method::GET, &changed, None).await.status().as_u16(), 403, "{changed}");
    }
    for method in [Method::PUT, Method::DELETE] {
        assert_eq!(follow(method.clone(), link, None).await.status().as_u16(), 403, "{method}");
    }
    assert_eq!(server.bucket.objects().len(), 2);
}

async fn only_safe_types_are_displayed_inline(server: Bucketed) {
    let member = member(&server).await;
    for (bytes, media_type, shown) in [
        (&thumbnails::png(4, 4)[..], "image/png", "inline"),
        (b"plain", "text/plain; charset=utf-8", "inline"),
        (b"<!DOCTYPE html><html></html>", "text/html", "attachment"),
        (b"<?xml version=\"1.0\"?><svg/>", "text/xml", "attachment"),
        (b"%PDF-1.7\n", "application/pdf", "attachment"),
        (b"\0\x01", "application/octet-stream", "attachment"),
    ] {
        let attachment = Form::default().on(&member).file("a", bytes).send(&server.admin()).await.created("attachment");
        let answer = follow(Method::GET, text(&attachment["url"]), None).await;
        assert_eq!((answer.status().as_u16(), header(&answer, "content-type")), (200, media_type));
        let disposition = header(&answer, "content-disposition");
        assert!(disposition.starts_with(&format!("{shown};")), "{media_type}: {disposition}");
    }
}

async fn a_large_and_an_empty_file_are_sent_in_one_piece(server: Bucketed) {
    let member = member(&server).await;
    for bytes in [(0..20 << 20).map(|at: u32| (at % 251) as u8).collect(), Vec::new()] {
        let form = Form::default().on(&member).file("a.bin", &bytes);
        let attachment = form.send(&server.admin()).await.created("attachment");
        assert_eq!(attachment["file_size"], bytes.len());
        let sent = follow(Method::GET, text(&attachment["url"]), None).await.bytes().await.expect("a body");
        assert!(sent[..] == bytes[..], "{} bytes of {}", sent.len(), bytes.len());
    }
    // One for the startup check and one for each file.
    assert_eq!(server.bucket.requests("PUT").len(), 3);
}

async fn a_deleted_attachment_is_deleted_from_the_bucket(server: Bucketed) {
    let (one, two) = (member(&server).await, member(&server).await);
    let form = Form::default().on(&one).file("a.png", &thumbnails::png(300, 300));
    let attachment = form.send(&server.admin()).await.created("attachment");
    attach(&server, &two, "b.txt", "b").await;
    assert_eq!(server.bucket.objects().len(), 3);
    server.admin().delete(&format!("/attachments/{}", attachment["id"])).await.deleted();
    until("its file and its thumbnail are gone", async || server.bucket.objects().len() == 1).await;
    assert_eq!(follow(Method::GET, text(&attachment["url"]), None).await.status().as_u16(), 404);
    server.admin().delete(&format!("/members/{}", two["id"])).await.deleted();
    until("so are those of a record", async || server.bucket.objects().is_empty()).await;
    until("nothing is left to do", async || pending_deletions(&server.state).await == 0).await;
}

/// A folder is moved to a bucket by copying it. Earlier links still point to the server.
async fn files_copied_from_the_folder_are_found_in_the_bucket(server: Server) {
    let member = member(&server).await;
    let before = attach(&server, &member, "a.txt", "Hello").await;
    let bucket = Bucket::start().await;
    let root = server.state.config.data_dir.join("attachments");
    for file in stored(&server) {
        let name = file.strip_prefix(&root).expect("it is stored").display().to_string();
        bucket.put(&name, std::fs::read(&file).expect("it is a file"));
    }
    let moved = server.second_node_with(|config| config.storage = Some(bucket.location())).await;
    let record = moved.admin().get(&format!("/attachments/{}", before["id"])).await.record("attachment");
    let answer = follow(Method::GET, text(&record["url"]), None).await;
    assert_eq!(answer.text().await.expect("a body"), "Hello");
    let old = moved.anonymous().get(&path(&before["url"])).await;
    assert_eq!((old.status(200).text.as_str(), old.header("x-content-type-options")), ("Hello", Some("nosniff")));
    moved.stop().await;
}

async fn storage_key_is_never_revealed(server: Bucketed) {
    let secret = server.bucket.location().secret_key;
    let member = member(&server).await;
    let attachment = attach(&server, &member, "a.txt", "a").await;
    assert!(!attachment.to_string().contains(&secret));
    let told = format!("{:?}", server.state);
    assert!(told.contains("config") && !told.contains(&secret) && !told.contains("AKIATEST"), "{told}");
}
