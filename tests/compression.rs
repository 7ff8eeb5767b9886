//! Compression of responses: negotiation, entity tags, exceptions, and the number of packets.

use std::os::fd::AsRawFd;

use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{Answer, Client, Server, on_both};

on_both!(
    large_response_is_compressed_if_the_client_accepts_gzip,
    a_compressed_record_has_a_tag_of_its_own_by_which_it_is_read_and_written,
    response_of_1024_bytes_is_compressed_and_one_of_1023_is_not,
    a_page_is_sent_in_one_segment_on_a_kept_connection,
    a_page_is_sent_in_few_segments_over_http_2,
    an_export_is_compressed_as_it_is_sent,
    cross_site_request_is_not_compressed,
);

/// Between two writes, a response would wait for the delayed acknowledgement of the client, 40 ms.
async fn a_page_is_sent_in_one_segment_on_a_kept_connection(server: Server) {
    products(&server, 20).await;
    let token = server.token(&["*"]).await;
    for (path, coding) in [
        ("/api/v1/products", "identity"),
        ("/api/v1/products", "gzip"),
        ("/api/v1/currencies?per_page=100", "gzip"),
        ("/docs", "gzip"),
    ] {
        let mut stream = tokio::net::TcpStream::connect(server.address).await.expect("the server listens");
        let head = format!(
            "GET {path} HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {token}\r\naccept-encoding: {coding}\r\n\r\n"
        );
        let mut before = 0;
        for turn in 0..3 {
            stream.write_all(head.as_bytes()).await.expect("the server reads");
            let length = whole(&mut stream).await;
            assert!(length < SEGMENT, "{path} is too long for one segment: {length}");
            let now = data_segments(&stream);
            assert_eq!(now - before, 1, "{path}, {coding}, request {turn}");
            before = now;
        }
    }
}

/// Over HTTP/2 the head and the body are frames of at most 16 KiB, which share segments. The smallest count of several requests
/// decides, because acknowledged settings and pings are segments of their own, which may come with any request.
async fn a_page_is_sent_in_few_segments_over_http_2(server: Server) {
    products(&server, 20).await;
    let authorization = format!("Bearer {}", server.token(&["*"]).await);
    for coding in ["identity", "gzip"] {
        let mut stream = tokio::net::TcpStream::connect(server.address).await.expect("the server listens");
        stream.write_all(PREFACE).await.expect("the server reads");
        let (mut fewest, mut longest) = (u32::MAX, 0);
        for turn in 0..6_u32 {
            let fields = [
                (":method", "GET"),
                (":scheme", "http"),
                (":path", "/api/v1/products"),
                (":authority", "test"),
                ("authorization", &authorization),
                ("accept-encoding", coding),
            ];
            let before = data_segments(&stream);
            stream.write_all(&headers_frame(1 + 2 * turn, &fields)).await.expect("the server reads");
            let bytes = stream_data(&mut stream, 1 + 2 * turn).await;
            let segments = data_segments(&stream) - before;
            assert!(bytes > 0 && segments > 0, "{coding}: they are counted: {bytes}, {segments}");
            (fewest, longest) = (fewest.min(segments), longest.max(bytes));
        }
        assert!(fewest as usize <= 1 + longest / 8_000, "{coding}: {longest}, {fewest}");
    }
}

/// The preface of a client, its settings (a window of 1 MiB for each stream), and as much for the connection (RFC 9113).
const PREFACE: &[u8] =
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x06\x04\0\0\0\0\0\0\x04\0\x10\0\0\0\0\x04\x08\0\0\0\0\0\0\x10\0\0";

/// A `HEADERS` frame that ends its stream; each field is a literal that no table keeps (RFC 7541, 6.2.2).
fn headers_frame(stream: u32, fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0);
        for text in [name, value] {
            block.push(u8::try_from(text.len()).ok().filter(|length| *length < 127).expect("one byte of length"));
            block.extend_from_slice(text.as_bytes());
        }
    }
    let length = u32::try_from(block.len()).expect("a short block").to_be_bytes();
    // END_STREAM and END_HEADERS.
    [&length[1..], &[1, 5], &stream.to_be_bytes(), &block].concat()
}

/// Reads frames until a stream ends, and returns the number of data bytes.
async fn stream_data(connection: &mut tokio::net::TcpStream, stream: u32) -> usize {
    let mut bytes = 0;
    loop {
        let mut head = [0; 9];
        connection.read_exact(&mut head).await.expect("the server answers");
        let [a, b, c, kind, flags, id @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        connection.read_exact(&mut payload).await.expect("the server answers");
        if u32::from_be_bytes(id) == stream {
            assert!(kind == 0 || kind == 1, "a frame of type {kind}");
            bytes += if kind == 0 { payload.len() } else { 0 };
            if flags & 1 == 1 {
                return bytes;
            }
        }
    }
}

/// Bytes of a segment on the loopback.
const SEGMENT: usize = 60_000;

/// Reads a response with a `Content-Length`, and returns its number of bytes.
async fn whole(stream: &mut tokio::net::TcpStream) -> usize {
    let mut read = Vec::new();
    loop {
        stream.read_buf(&mut read).await.expect("the server answers");
        let text = String::from_utf8_lossy(&read).to_ascii_lowercase();
        let Some(end) = read.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let length = text.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
        let length: usize = length.expect("it is not chunked").parse().expect("a number");
        if read.len() == end + 4 + length {
            return read.len();
        }
    }
}

/// Number of segments with data that the kernel received on a connection: `tcpi_data_segs_in` of `TCP_INFO` (tcp(7)).
fn data_segments(stream: &tokio::net::TcpStream) -> u32 {
    const OFFSET: usize = 152;
    let mut info = [0_u8; 256];
    let mut length = info.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into `info`, which is that long.
    let done = unsafe {
        let into = info.as_mut_ptr().cast();
        libc::getsockopt(stream.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, into, &raw mut length)
    };
    assert!(done == 0 && length as usize > OFFSET + 4, "the kernel tells the segments");
    u32::from_ne_bytes(info[OFFSET..OFFSET + 4].try_into().expect("four bytes"))
}

/// Minimum size of a compressed response in bytes, documented in `docs/requests.md`.
const WORTH: usize = 1024;

fn gzip(client: &Client) -> Client {
    client.with("accept-encoding", "gzip, deflate, br")
}

fn coding(answer: &Answer) -> Option<&str> {
    answer.header("content-encoding")
}

fn varies(answer: &Answer) -> String {
    let lines = answer.headers.get_all("vary").iter().map(|line| line.to_str().expect("text"));
    lines.collect::<Vec<_>>().join(", ").to_ascii_lowercase()
}

/// Products whose lists and records are long enough.
async fn products(server: &Server, count: usize) {
    let description = "of glass, and of brass. ".repeat(40);
    let product = |n: usize| json!({ "name": format!("Lamp {n}"), "description": description });
    let operations: Vec<_> = (0..count).map(|n| json!({ "method": "create", "product": product(n) })).collect();
    server.admin().post("/products/bulk", json!({ "operations": operations })).await.ok();
}

async fn large_response_is_compressed_if_the_client_accepts_gzip(server: Server) {
    products(&server, 20).await;
    let plain = server.admin();
    let coded = gzip(&plain);
    for path in ["/products", "/openapi.json", "~/docs", "~/panel/assets/panel.css"] {
        let (whole, less) = (plain.get(path).await, coded.get(path).await);
        assert_eq!((coding(&whole), whole.weight), (None, whole.text.len()), "{path}");
        assert_eq!(whole.header("content-length"), Some(whole.weight.to_string().as_str()), "{path}");
        if whole.weight < WORTH {
            assert_eq!(coding(&less), None, "{path} is short");
            continue;
        }
        assert_eq!(coding(&less), Some("gzip"), "{path}");
        assert!(less.text == whole.text && less.weight * 4 < whole.weight * 3, "{path}: {} bytes", less.weight);
        // `Vary` makes caches store both variants, in any order.
        assert!(varies(&less).contains("accept-encoding") && varies(&less) == varies(&whole), "{path}");
    }
    assert_eq!(varies(&coded.get("/products").await), "accept, accept-encoding");
    let short = coded.get("/products?per_page=1&fields=id").await;
    assert_eq!((coding(&short), short.header("content-length").is_some()), (None, true), "it is one packet anyway");
    for refusing in ["identity", "gzip;q=0", "br", ""] {
        assert_eq!(coding(&plain.with("accept-encoding", refusing).get("/products").await), None, "{refusing}");
    }
    for asking in ["*", "br;q=1, gzip;q=0.1", "GZIP"] {
        assert_eq!(coding(&plain.with("accept-encoding", asking).get("/products").await), Some("gzip"), "{asking}");
    }
    let head = coded.send(Method::HEAD, "/products", None).await;
    assert_eq!((coding(&head), head.weight), (Some("gzip"), 0));
    let refused = coded.get(&format!("/products?q[{}_eq]=1", "x".repeat(2_000))).await;
    assert_eq!(coding(refused.status(422)), Some("gzip"), "errors are answers");
}

async fn a_compressed_record_has_a_tag_of_its_own_by_which_it_is_read_and_written(server: Server) {
    products(&server, 1).await;
    let (plain, coded) = (server.admin(), gzip(&server.admin()));
    let tag = |answer: &Answer| answer.header("etag").expect("a tag").to_string();
    for path in ["/products/1", "/products/1?include=productGroup"] {
        let (whole, less) = (tag(&plain.get(path).await), tag(&coded.get(path).await));
        assert_eq!(less, format!("{}-gzip\"", whole.trim_end_matches('"')), "strong, and of other bytes");
        for client in [&plain, &coded] {
            for known in [&whole, &less] {
                let same = client.with("if-none-match", known).get(path).await;
                assert_eq!((same.status(304).text.as_str(), &tag(&same)), ("", known), "the client's own tag");
            }
            let same = client.with("if-none-match", &format!("\"x\", W/{less}, {whole}")).get(path).await;
            assert_eq!(tag(same.status(304)), whole);
        }
    }
    // The tag of a compressed response is valid in `If-Match` of any client, until the record changes.
    let read = tag(&coded.get("/products/1").await);
    let written = coded.with("if-match", &read).put("/products/1", json!({ "name": "Light" })).await;
    assert_eq!((coding(&written), written.record("product")["name"].as_str()), (Some("gzip"), Some("Light")));
    plain
        .with("if-match", &read)
        .put("/products/1", json!({ "name": "Late" }))
        .await
        .refused(412, "precondition_failed");
    let weak = format!("W/{}", tag(&written));
    plain
        .with("if-match", &weak)
        .put("/products/1", json!({ "name": "Weak" }))
        .await
        .refused(412, "precondition_failed");
    plain.with("if-match", &tag(&written)).delete("/products/1").await.deleted();
    // A short response is not compressed, and its tag has no suffix.
    let short = coded.get("/currencies/1?fields=id").await;
    assert!(coding(&short).is_none() && !tag(&short).contains("gzip"));
    let same = coded.with("if-none-match", &tag(&short)).get("/currencies/1?fields=id").await;
    assert_eq!(tag(same.status(304)), tag(&short));
    let document = coded.get("/openapi.json").await;
    assert!(tag(&document).ends_with("-gzip\""), "{}", tag(&document));
    let same = coded.with("if-none-match", &tag(&document)).get("/openapi.json").await;
    assert_eq!(tag(same.status(304)), tag(&document));
    // Anonymous clients can request the viewer, and each response would cost a compression.
    assert_eq!(coding(&coded.get("~/docs/viewer.js").await), None);
}

async fn response_of_1024_bytes_is_compressed_and_one_of_1023_is_not(server: Server) {
    let client = gzip(&server.admin());
    let path = "/products/1?fields=description";
    client.post("/products", json!({ "name": "Lamp", "description": "x" })).await.created("product");
    let about = client.get(path).await.text.len() - 1;
    for (length, expected) in [(WORTH - 1, None), (WORTH, Some("gzip"))] {
        let description = "x".repeat(length - about);
        client.put("/products/1", json!({ "description": description })).await.record("product");
        let answer = client.get(path).await;
        assert_eq!((answer.text.len(), coding(&answer)), (length, expected));
    }
}

async fn an_export_is_compressed_as_it_is_sent(server: Server) {
    products(&server, 700).await;
    for form in ["text/csv", "application/x-ndjson"] {
        let plain = server.admin().with("accept", form);
        let (whole, less) = (plain.get("/products").await, gzip(&plain).get("/products").await);
        assert_eq!((coding(&whole), coding(&less)), (None, Some("gzip")), "{form}");
        assert!(less.text == whole.status(200).text && less.weight * 10 < whole.weight, "{form}: {}", less.weight);
        assert_eq!(less.header("content-disposition"), whole.header("content-disposition"));
    }
}

async fn cross_site_request_is_not_compressed(server: Server) {
    products(&server, 20).await;
    for (site, expected) in
        [("cross-site", None), ("same-site", None), ("same-origin", Some("gzip")), ("none", Some("gzip"))]
    {
        let client = gzip(&server.admin()).with("sec-fetch-site", site);
        assert_eq!(coding(&client.get("/products").await), expected, "{site}");
    }
}
