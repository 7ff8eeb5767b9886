//! PgBouncer in transaction mode before the tests' PostgreSQL.
//!
//! The program is `PGBOUNCER`, or is in the PATH or Debian's folder. Versions before 1.21 do not count, because they mix up
//! the prepared statements of their clients. Without the program, the tests that need it are ignored
//! (`needs_pgbouncer!`), unless `CHARTER_TEST_REQUIRE_PGBOUNCER=1` is set.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use charter_testing::postgres::{Account, free_port, server, temporary_folder};
use charter_testing::search;

/// Stops the pooler when the test process ends, like the watchdog of PostgreSQL.
const WATCHDOG: &str = r#""$1" "$2/pgbouncer.ini" > /dev/null 2> "$2/log" & cat > /dev/null; kill "$!"; rm -rf "$2""#;

/// A running pooler, stopped when this is dropped.
pub struct Pooler {
    port: u16,
    watchdog: Child,
}

impl Pooler {
    /// A new pooler with this many connections to each database.
    pub fn start(connections: usize) -> Pooler {
        let (program, postgres) = (search::pgbouncer().expect("PgBouncer of version 1.21 or later"), server());
        let (account, port) = (Account::for_server(), free_port());
        let folder = temporary_folder(account);
        let settings = format!(
            "[databases]\n* = host=127.0.0.1 port={} user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             listen_port = {port}\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\n\
             max_prepared_statements = 200\ndefault_pool_size = {connections}\nmax_client_conn = 200\n",
            postgres.port()
        );
        fs::write(folder.join("pgbouncer.ini"), settings).expect("the temporary folder can be written");
        let mut shell = account.command(Path::new("/bin/sh"));
        shell.args(["-c", WATCHDOG, "watchdog"]).arg(program).arg(&folder);
        let watchdog = shell.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("sh runs");
        let pooler = Pooler { port, watchdog };
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
            assert!(started.elapsed() < Duration::from_secs(20), "pgbouncer does not start: {log}");
            sleep(Duration::from_millis(20));
        }
        pooler
    }

    /// The same database, through the pooler.
    pub fn url(&self, url: &str) -> String {
        let database = url.rsplit('/').next().expect("a URL has a last segment");
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        // Waiting closes the pipe first, which makes the shell stop the pooler.
        let _ = self.watchdog.wait();
    }
}
