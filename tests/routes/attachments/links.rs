//! Signed links to files, which need no token and cannot be changed.

use std::time::Duration;

use reqwest::Method;

use super::{Form, attach, member, path};
use crate::support::{Server, on_both};

on_both!(
    file_link_needs_no_token_and_is_valid_for_an_hour,
    file_link_with_any_changed_byte_is_refused,
    file_link_is_valid_only_for_its_own_file,
    expired_file_link_is_refused,
    file_download_supports_ranges,
    unchanged_file_is_answered_with_304,
    active_content_is_never_shown_inline,
    file_name_is_encoded_for_every_client,
    file_links_begin_with_the_base_url,
    file_link_signed_with_another_key_is_refused,
);

async fn file_link_needs_no_token_and_is_valid_for_an_hour(server: Server) {
    let member = member(&server).await;
    let attachment = attach(&server, &member, "a.txt", "Hello").await;
    let link = attachment["url"].as_str().expect("a link");
    let base =
        format!("http://{}/files/{}/file?expires=", server.address, attachment["uuid"].as_str().expect("a UUID"));
    let (expires, signature) = link.strip_prefix(&base).and_then(|rest| rest.split_once("&signature=")).expect(link);
    let left = expires.parse::<i64>().expect("a time") - chrono::Utc::now().timestamp();
    assert!((3590..=3600).contains(&left), "{left}");
    assert_eq!(signature.len(), 64);
    let answer = server.anonymous().get(&path(&attachment["url"])).await;
    assert_eq!(answer.status(200).text, "Hello");
    for (name, value) in [
        ("content-type", "text/plain; charset=utf-8"),
        ("content-length", "5"),
        ("content-disposition", "inline; filename=\"a.txt\"; filename*=UTF-8''a.txt"),
        ("accept-ranges", "bytes"),
        ("cache-control", "private"),
        ("content-security-policy", "default-src 'none'; sandbox"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{name}");
    }
    let head = server.anonymous().send(Method::HEAD, &path(&attachment["url"]), None).await;
    assert_eq!((head.status, head.text.as_str(), head.header("content-length")), (200, "", Some("5")));
    // Ranges and ETags belong to one file.
    let long = attach(&server, &member, "b.txt", &"long ".repeat(1_000)).await;
    let whole = server.anonymous().with("accept-encoding", "gzip").get(&path(&long["url"])).await;
    assert_eq!((whole.header("content-encoding"), whole.header("content-length")), (None, Some("5000")));
    let answer = server.anonymous().send(Method::POST, &path(&attachment["url"]), None).await;
    answer.refused(405, "method_not_allowed");
}

async fn file_link_with_any_changed_byte_is_refused(server: Server) {
    let member = member(&server).await;
    let attachment = attach(&server, &member, "a.txt", "Hello").await;
    let target = path(&attachment["url"]).trim_start_matches('~').to_string().into_bytes();
    let client = server.anonymous();
    assert_eq!(client.raw("GET", &target).await, 200);
    for at in 0..target.len() {
        // Other case, other digit, other sign.
        for bit in [0x01, 0x20] {
            let mut changed = target.clone();
            changed[at] ^= bit;
            let is_target = changed[at].is_ascii_graphic();
            let status = if is_target { client.raw("GET", &changed).await } else { 400 };
            let text = String::from_utf8_lossy(&changed).into_owned();
            assert!(matches!(status, 400 | 403 | 404), "{status}: {text}");
        }
        let mut shorter = target.clone();
        shorter.remove(at);
        let status = client.raw("GET", &shorter).await;
        assert!(matches!(status, 400 | 403 | 404), "{status}: {}", String::from_utf8_lossy(&shorter));
    }
    for more in ["0", "&", "&expires=9999999999", "&signature=00", "#x"] {
        let longer = [&target[..], more.as_bytes()].concat();
        // The fragment after `#` is not sent.
        let expected = if more.starts_with('#') { 200 } else { 403 };
        let status = client.raw("GET", &longer).await;
        assert!(status == expected || status == 400, "{status}: {more}");
    }
}

async fn file_link_is_valid_only_for_its_own_file(server: Server) {
    let member = member(&server).await;
    let form = Form::default().on(&member).file("a.png", &super::thumbnails::png(4, 4));
    let attachment = form.send(&server.admin()).await.created("attachment");
    let (file, thumb) = (path(&attachment["url"]), path(&attachment["thumb_url"]));
    server.anonymous().get(&file).await.status(200);
    server.anonymous().get(&thumb).await.status(200);
    server.anonymous().get(&file.replace("/file?", "/thumb?")).await.refused(403, "link_invalid");
    server.anonymous().get(&thumb.replace("/thumb?", "/file?")).await.refused(403, "link_invalid");
    let other = attach(&server, &member, "b.txt", "b").await;
    let (of, to) = (attachment["uuid"].as_str().expect("a UUID"), other["uuid"].as_str().expect("a UUID"));
    server.anonymous().get(&file.replace(of, to)).await.refused(403, "link_invalid");
    server.anonymous().get(&format!("~/files/{of}/file")).await.refused(403, "link_invalid");
    // A token does not replace the signature.
    server.admin().get(&format!("~/files/{of}/file")).await.refused(403, "link_invalid");
}

async fn expired_file_link_is_refused(server: Server) {
    let member = member(&server).await;
    let attachment = attach(&server, &member, "a.txt", "a").await;
    let link = path(&attachment["url"]);
    server.state.clock.advance(Duration::from_secs(59 * 60 + 50));
    server.anonymous().get(&link).await.status(200);
    server.state.clock.advance(Duration::from_secs(10));
    server.anonymous().get(&link).await.refused(410, "link_expired");
    // A new link works.
    let shown = server.admin().get(&format!("/attachments/{}", attachment["id"])).await.record("attachment");
    server.anonymous().get(&path(&shown["url"])).await.status(200);
}

async fn file_download_supports_ranges(server: Server) {
    let member = member(&server).await;
    let attachment = attach(&server, &member, "a.txt", "0123456789").await;
    let link = path(&attachment["url"]);
    let get = async |range: &str| server.anonymous().with("range", range).get(&link).await;
    for (range, text, said) in [
        ("bytes=0-3", "0123", "bytes 0-3/10"),
        ("bytes=4-4", "4", "bytes 4-4/10"),
        ("bytes=7-", "789", "bytes 7-9/10"),
        ("bytes=-2", "89", "bytes 8-9/10"),
        ("bytes=5-99", "56789", "bytes 5-9/10"),
    ] {
        let answer = get(range).await;
        assert_eq!(answer.status(206).text, text, "{range}");
        assert_eq!(answer.header("content-range"), Some(said), "{range}");
        assert_eq!(answer.header("content-length"), Some(text.len().to_string().as_str()), "{range}");
    }
    for range in ["bytes=10-", "bytes=-0"] {
        let answer = get(range).await;
        answer.refused(416, "range_not_satisfiable");
        assert_eq!(answer.header("content-range"), Some("bytes */10"), "{range}");
    }
    for range in ["bytes=3-1", "bytes=0-1,3-4", "lines=1-2"] {
        assert_eq!(get(range).await.status(200).text, "0123456789", "{range}");
    }
    let whole = server.anonymous().get(&link).await;
    let tag = whole.header("etag").expect("a tag").to_string();
    let if_range =
        async |tag: &str| server.anonymous().with("range", "bytes=0-1").with("if-range", tag).get(&link).await;
    assert_eq!(if_range(&tag).await.status(206).text, "01");
    assert_eq!(if_range("\"other\"").await.status(200).text, "0123456789");
    assert_eq!(if_range("Sat, 21 Nov 2026 12:00:00 GMT").await.status(200).text, "0123456789");
    // Ranges apply to GET only: HEAD returns the size of the file.
    let head = server.anonymous().with("range", "bytes=0-3").send(Method::HEAD, &link, None).await;
    assert_eq!((head.status, head.header("content-length")), (200, Some("10")));
}

async fn unchanged_file_is_answered_with_304(server: Server) {
    let member = member(&server).await;
    let attachment = attach(&server, &member, "a.txt", "a").await;
    let link = path(&attachment["url"]);
    let tag = server.anonymous().get(&link).await.header("etag").expect("a tag").to_string();
    for known in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".into()] {
        let answer = server.anonymous().with("if-none-match", &known).get(&link).await;
        assert_eq!(
            (answer.status, answer.text.as_str(), answer.header("etag")),
            (304, "", Some(tag.as_str())),
            "{known}"
        );
    }
    server.anonymous().with("if-none-match", "\"other\"").get(&link).await.status(200);
}

async fn active_content_is_never_shown_inline(server: Server) {
    let member = member(&server).await;
    for (bytes, media_type, shown) in [
        (&b"<html><script>alert(1)</script></html>"[..], "text/html", "attachment"),
        (b"<?xml version=\"1.0\"?><svg xmlns=\"http://www.w3.org/2000/svg\"/>", "text/xml", "attachment"),
        (b"%PDF-1.7", "application/pdf", "attachment"),
        (b"\0\x01", "application/octet-stream", "attachment"),
        (b"just text", "text/plain; charset=utf-8", "inline"),
    ] {
        let form = Form::default().on(&member).declared("a", "image/png", bytes);
        let attachment = form.send(&server.admin()).await.created("attachment");
        let answer = server.anonymous().get(&path(&attachment["url"])).await;
        assert_eq!(answer.status(200).header("content-type"), Some(media_type));
        let disposition = answer.header("content-disposition").expect("a disposition");
        assert!(disposition.starts_with(&format!("{shown};")), "{media_type}: {disposition}");
        assert_eq!(answer.header("content-security-policy"), Some("default-src 'none'; sandbox"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
}

async fn file_name_is_encoded_for_every_client(server: Server) {
    let member = member(&server).await;
    let attachment = attach(&server, &member, "Größe; \\\"1\\\" 100%.txt", "a").await;
    assert_eq!(attachment["original_name"], "Größe; \"1\" 100%.txt");
    let answer = server.anonymous().get(&path(&attachment["url"])).await;
    let expected =
        "inline; filename=\"Gr__e; _1_ 100_.txt\"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%3B%20%221%22%20100%25.txt";
    assert_eq!(answer.header("content-disposition"), Some(expected));
}

async fn file_links_begin_with_the_base_url(server: Server) {
    let other = server.configured(|config| config.base_url = Some("https://hire.example/records".into())).await;
    let member = member(&other).await;
    let attachment = attach(&other, &member, "a.txt", "a").await;
    let link = attachment["url"].as_str().expect("a link");
    assert!(link.starts_with("https://hire.example/records/files/"), "{link}");
    // A proxy removes the prefix of the path.
    other.anonymous().get(&path(&attachment["url"])).await.status(200);
}

async fn file_link_signed_with_another_key_is_refused(server: Server) {
    let other =
        server.configured(|config| config.secret_key = Some("another secret key of at least 32 bytes".into())).await;
    let here = attach(&server, &member(&server).await, "a.txt", "a").await;
    let there = attach(&other, &member(&other).await, "a.txt", "a").await;
    let signature = |link: &str| link.split_once("&signature=").expect("a signature").1.to_string();
    let (here, there) = (path(&here["url"]), path(&there["url"]));
    let forged = here.replace(&signature(&here), &signature(&there));
    server.anonymous().get(&forged).await.refused(403, "link_invalid");
}
