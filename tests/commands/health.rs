//! `charter health` asks the server of the same settings if it is ready.

use std::io::{Read, Write};
use std::net::TcpListener;

use super::on_both;
use crate::support::Database;
use crate::support::program::Program;

on_both!(running_server_is_ready_and_a_stopped_one_is_not);

fn running_server_is_ready_and_a_stopped_one_is_not(program: Program) {
    let serving = program.serve_first(&[]);
    let listen = serving.address().to_string();
    assert_eq!(program.done(&["health", "--listen", &listen]), "{\"status\":\"ready\"}\n");
    // As in a container, where the server listens on all addresses.
    assert_eq!(program.run(&["health", "--listen", &format!("0.0.0.0:{}", serving.address().port())]).code, 0);
    serving.signal("TERM");
    assert_eq!(serving.end().code, 0);
    let said = program.run(&["health", "--listen", &listen]);
    assert!(said.code == 1 && said.out.is_empty() && said.err.contains("Connection refused"), "{said:?}");
}

#[test]
fn server_that_is_not_ready_or_another_one_fails() {
    let program = Program::new(Database::Sqlite);
    for answer in
        ["HTTP/1.1 503 Service Unavailable\r\n\r\n{\"status\":\"unavailable\"}", "SSH-2.0-OpenSSH_9.2\r\n", ""]
    {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let listen = listener.local_addr().expect("an address").to_string();
        let answering = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            let mut request = [0; 512];
            let length = stream.read(&mut request).expect("a request");
            assert!(request[..length].starts_with(b"GET /health/ready HTTP/1.0\r\n"));
            stream.write_all(answer.as_bytes()).expect("it is read");
        });
        let said = program.run(&["health", "--listen", &listen]);
        assert!(said.code == 1 && said.err.contains(&format!("{listen} answered")), "{said:?}");
        answering.join().expect("it answered");
    }
}
