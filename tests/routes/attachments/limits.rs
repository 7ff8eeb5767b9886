//! `POST /attachments`: limits of file and image size.

use reqwest::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{Form, content_type, member, path, stored};
use crate::support::{Server, on_both};

const MOST: usize = 20 * 1024 * 1024;

on_both!(
    upload_is_limited_to_20_mib,
    upload_with_a_too_large_content_length_is_refused_before_its_body,
    an_image_of_too_many_pixels_is_refused,
    slow_upload_does_not_block_other_requests,
);

async fn upload_is_limited_to_20_mib(server: Server) {
    let member = member(&server).await;
    // Bytes that repeatedly look like the start of a boundary.
    let bytes: Vec<u8> = b"\r\n------of-the-test".iter().copied().cycle().take(MOST + 1).collect();
    let form = Form::default().on(&member).file("large.bin", &bytes);
    let refused = form.send(&server.admin()).await.refused(413, "payload_too_large");
    assert_eq!(refused["message"], "The file is larger than 20971520 bytes.");
    assert!(stored(&server).is_empty(), "{:?}", stored(&server));
    let form = Form::default().file("large.bin", &bytes[..MOST]).on(&member);
    let attachment = form.send(&server.admin()).await.created("attachment");
    assert_eq!(attachment["file_size"], MOST);
    let file = std::fs::read(&stored(&server)[0]).expect("the file is there");
    assert!(file == bytes[..MOST], "the bytes are others");
    let answer = server.anonymous().with("range", "bytes=20971500-").get(&path(&attachment["url"])).await;
    assert_eq!(answer.status(206).text.as_bytes(), &bytes[MOST - 20..MOST]);
}

async fn upload_with_a_too_large_content_length_is_refused_before_its_body(server: Server) {
    let mut stream = TcpStream::connect(server.address).await.expect("the server listens");
    let token = server.token(&["members:write"]).await;
    let head = format!(
        "POST /api/v1/attachments HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer {token}\r\nContent-Type: {}\r\n\
         Content-Length: 2000000000\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n",
        content_type()
    );
    stream.write_all(head.as_bytes()).await.expect("the server reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("the server answers");
    assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("payload_too_large"), "{answer}");
    assert!(answer.contains("The file is larger than 20971520 bytes."), "{answer}");
}

/// Headers of a PNG with 60,000 × 60,000 pixels, and of a GIF and a WebP with their maximum size.
async fn an_image_of_too_many_pixels_is_refused(server: Server) {
    let member = member(&server).await;
    let png = super::thumbnails::png_head(60_000, 60_000);
    let gif = [b"GIF89a".as_slice(), &[0xff, 0xff, 0xff, 0xff, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]].concat();
    let gif = [&gif[..], b",\0\0\0\0\xff\xff\xff\xff\0\x02\0;"].concat();
    for (name, bytes, size) in [("bomb.png", png, "60000 × 60000"), ("bomb.gif", gif, "65535 × 65535")] {
        let answer = Form::default().on(&member).file(name, &bytes).send(&server.admin()).await;
        assert!(answer.invalid("file").contains(size), "{}", answer.text);
    }
    assert!(stored(&server).is_empty());
    // 10,000 × 10,000 pixels are the maximum. A file without image data after the header gets no thumbnail.
    let form = Form::default().on(&member).file("edge.png", &super::thumbnails::png_head(10_000, 10_000));
    assert!(form.send(&server.admin()).await.created("attachment")["thumb_url"].is_null());
    let form = Form::default().on(&member).file("over.png", &super::thumbnails::png_head(10_000, 10_001));
    form.send(&server.admin()).await.invalid("file");
}

async fn slow_upload_does_not_block_other_requests(server: Server) {
    let quick = server.configured(|config| config.request_timeout = std::time::Duration::from_millis(400)).await;
    let member = member(&quick).await;
    let body = Form::default().on(&member).file("a.txt", &[b'a'; 1000]).bytes();
    let begin = async || {
        let mut stream = TcpStream::connect(quick.address).await.expect("the server listens");
        let token = quick.token(&["members:write"]).await;
        let head = format!(
            "POST /api/v1/attachments HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer {token}\r\nContent-Type: {}\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            content_type(),
            body.len()
        );
        stream.write_all(head.as_bytes()).await.expect("the server reads");
        stream
    };
    let mut slow = begin().await;
    let mut silent = begin().await;
    silent.write_all(&body[..100]).await.expect("the server reads");
    // In total longer than the request timeout, but never idle for that long.
    for piece in body.chunks(body.len().div_ceil(5)) {
        slow.write_all(piece).await.expect("the server reads");
        tokio::time::sleep(std::time::Duration::from_millis(120)).await;
        quick.admin().send(Method::GET, "/members", None).await.ok();
    }
    let (mut answer, mut other) = (String::new(), String::new());
    slow.read_to_string(&mut answer).await.expect("the server answers");
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    silent.read_to_string(&mut other).await.expect("the server answers");
    assert!(other.starts_with("HTTP/1.1 408") && other.contains("request_timeout"), "{other}");
    assert!(other.to_ascii_lowercase().contains("\r\nconnection: close\r\n"), "{other}");
}
