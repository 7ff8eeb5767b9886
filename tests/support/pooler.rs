//! PgBouncer in transaction mode before the tests' PostgreSQL.
//!
//! The program is `PGBOUNCER`, or is in the PATH or Debian's folder. Versions before 1.21 mix up the prepared
//! statements of their clients and are ignored. `CHARTER_TEST_REQUIRE_PGBOUNCER=1` makes its absence a failure.
//! Otherwise a notice is printed once, and the tests that need it pass without running.

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::postgres::{Account, free_port, server, temporary_folder};

/// Minor version of 1.x with support for prepared statements.
const LEAST: u32 = 21;

/// Stops the pooler when the test process ends, like the watchdog of PostgreSQL.
const WATCHDOG: &str = r#""$1" "$2/pgbouncer.ini" > /dev/null 2> "$2/log" & cat > /dev/null; kill "$!"; rm -rf "$2""#;

/// A running pooler, stopped when this is dropped.
pub struct Pooler {
    port: u16,
    watchdog: Child,
}

impl Pooler {
    /// A new pooler with this many connections to each database.
    pub fn start(connections: usize) -> Option<Pooler> {
        static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
        let (program, postgres) = (PROGRAM.get_or_init(program).as_ref()?, server()?);
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
        Some(pooler)
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

fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into()]).map(|folder| folder.join("pgbouncer"));
    let named = std::env::var_os("PGBOUNCER").map(PathBuf::from);
    let found = named.into_iter().chain(folders).find(|program| program.is_file());
    let version = found.as_deref().and_then(version);
    if version.is_some_and(|version| version >= (1, LEAST)) {
        return found;
    }
    let required = std::env::var_os("CHARTER_TEST_REQUIRE_PGBOUNCER").is_some_and(|value| value == "1");
    assert!(
        !required,
        "CHARTER_TEST_REQUIRE_PGBOUNCER=1, but there is no pgbouncer of 1.{LEAST} or later: {version:?}"
    );
    let notice = format!(
        "\n*** SKIPPED: there is no pgbouncer of 1.{LEAST} or later (found: {version:?}); the tests behind a pooler do \
         not run: set PGBOUNCER to the program ***\n\n"
    );
    let _ = std::io::stderr().write_all(notice.as_bytes());
    None
}

fn version(program: &Path) -> Option<(u32, u32)> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut numbers = text.lines().next()?.rsplit(' ').next()?.split('.').map(str::parse::<u32>);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}
