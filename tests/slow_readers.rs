//! HTTP/2 clients that request long responses and do not read them.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{Database, Server, run};

#[test]
fn static_responses_do_not_count_as_unsent() {
    run(Database::Sqlite, request_the_viewer);
}

#[test]
fn connection_that_reads_no_responses_to_writes_is_closed() {
    run(Database::Sqlite, write_without_reading_responses);
}

#[test]
fn reads_by_mcp_do_not_close_connections_of_others() {
    run(Database::Sqlite, read_by_mcp_without_reading_responses);
}

/// A connection with a flow-control window of 0, on which no byte of a body can be sent (RFC 9113, section 6.5.2).
struct BlockedConnection {
    stream: TcpStream,
    next: u32,
}

const HEADERS: u8 = 1;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a frame").to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A header field without compression or index (RFC 7541, section 6.2.2).
fn field(name: &str, value: &str) -> Vec<u8> {
    let text = |text: &str| [&[u8::try_from(text.len()).expect("it is short")], text.as_bytes()].concat();
    [vec![0], text(name), text(value)].concat()
}

impl BlockedConnection {
    async fn open(server: &Server) -> BlockedConnection {
        let mut stream = TcpStream::connect(server.address).await.expect("the server listens");
        let settings = frame(4, 0, 0, &[0, 4, 0, 0, 0, 0]);
        stream.write_all(&[b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &settings[..]].concat()).await.expect("it is taken");
        BlockedConnection { stream, next: 1 }
    }

    /// Sends a request. True if the head of the response arrives, false if the server closes the connection.
    async fn request(&mut self, token: &str, method: &str, path: &str, body: Option<&Value>) -> bool {
        let credentials = format!("Bearer {token}");
        let fields = [
            (":method", method),
            (":scheme", "http"),
            (":path", path),
            (":authority", "x"),
            ("authorization", &credentials),
            ("content-type", "application/json"),
        ];
        let fields: Vec<u8> = fields.into_iter().flat_map(|(name, value)| field(name, value)).collect();
        let mut frames = frame(HEADERS, if body.is_some() { 4 } else { 5 }, self.next, &fields);
        if let Some(body) = body {
            frames.extend(frame(0, 1, self.next, body.to_string().as_bytes()));
        }
        self.next += 2;
        self.stream.write_all(&frames).await.is_ok() && self.head().await.is_ok()
    }

    /// Waits for the head of a response.
    async fn head(&mut self) -> std::io::Result<()> {
        loop {
            let mut head = [0; 9];
            self.stream.read_exact(&mut head).await?;
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
            self.stream.read_exact(&mut vec![0; length as usize]).await?;
            if head[3] == HEADERS {
                return Ok(());
            }
        }
    }
}

async fn request_the_viewer(server: Server) {
    let client = server.admin();
    let long = json!({ "name": "Lamp", "description": "x".repeat(100_000) });
    client.post("/products", long).await.created("product");
    let mut connection = BlockedConnection::open(&server).await;
    // Five megabytes each.
    for _ in 0..60 {
        assert!(connection.request("", "GET", "/docs/viewer.js", None).await);
    }
    client.get("/products/1").await.ok();
}

async fn write_without_reading_responses(server: Server) {
    let client = server.admin();
    let mut operations = Vec::new();
    for number in 0..9 {
        let long = json!({ "name": number.to_string(), "description": "x".repeat(900_000) });
        client.post("/products", long).await.created("product");
        operations.push(json!({ "method": "update", "id": number + 1, "product": { "weight": "1" } }));
    }
    let (token, body) = (server.token(&["*"]).await, json!({ "operations": operations }));
    let mut connection = BlockedConnection::open(&server).await;
    // Eight megabytes each.
    let mut answered = 0;
    while answered < 60 && connection.request(&token, "POST", "/api/v1/products/bulk", Some(&body)).await {
        answered += 1;
    }
    assert!((30..40).contains(&answered), "{answered} responses are 256 MiB");
    client.post("/products/bulk", body).await.status(200);
}

async fn read_by_mcp_without_reading_responses(server: Server) {
    let server = server.configured(|config| config.mcp = true).await;
    let client = server.admin();
    let long = json!({ "name": "Lamp", "description": "x".repeat(900_000) });
    client.post("/products", long).await.created("product");
    let token = server.token(&["*"]).await;
    let mut first = BlockedConnection::open(&server).await;
    assert!(first.request(&token, "GET", "/api/v1/products/1", None).await);
    let show = json!({ "name": "show_product", "arguments": { "id": 1 } });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": show });
    // Nearly two megabytes each, together more than the 256 MiB of all connections.
    let mut agents = Vec::new();
    for _ in 0..3 {
        let mut agent = BlockedConnection::open(&server).await;
        for _ in 0..55 {
            assert!(agent.request(&token, "POST", "/mcp", Some(&message)).await);
        }
        agents.push(agent);
    }
    assert!(first.request(&token, "GET", "/health/live", None).await, "its response is not overdue");
}
