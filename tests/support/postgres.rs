//! A private PostgreSQL for the tests of one process, started when its programs are installed and removed at the end.
//!
//! [`server`] starts it on first use, in a temporary folder ([`room`]) and on a free port of 127.0.0.1, without durability. It ends
//! with the test process, however that ends: a small shell reads from a pipe whose other end only this process holds;
//! when the process is gone the pipe closes, and the shell stops the server and removes the folder.
//!
//! The programs are those in `PG_BIN`, in the PATH or in Debian's folders. `CHARTER_TEST_REQUIRE_POSTGRES=1` makes their
//! absence a failure; otherwise it is said once, loudly, and the tests that need the server pass without having run.

// Several test crates include this file, and none of them uses all of it.
#![allow(dead_code)]

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Where the programs are looked for.
const WHERE: &str = "no initdb in PG_BIN, the PATH or /usr/lib/postgresql/*/bin (Debian: apt-get install postgresql)";

/// How long a server may take to start, on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(60);

/// So many KiB of memory are plenty for the databases of tests that run at the same time.
const PLENTY: u64 = 6 << 20;

/// What ends the server: it waits for the end of its input, which is the end of the test process.
///
/// It does not ask whether the server's process is there, which may stay as a zombie, but for the file that the server
/// removes last. A server that has not yet written that file stops by itself, because its folder is gone.
const WATCHDOG: &str = r#"
cat > /dev/null
if read -r server < "$1/data/postmaster.pid"; then
    kill -QUIT "$server"
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        [ -e "$1/data/postmaster.pid" ] || break
        sleep 0.1
    done
fi
rm -rf "$1"
"#;

/// A running server, which stops when this is dropped.
pub struct Postgres {
    programs: PathBuf,
    port: u16,
    databases: AtomicU32,
    server: Child,
    watchdog: Child,
}

/// The server that the tests of this process share, started on first use; none where PostgreSQL is not installed.
///
/// # Panics
/// When it is installed and does not start, and when it is not installed though the environment requires it.
pub fn server() -> Option<&'static Postgres> {
    static SERVER: OnceLock<Option<Postgres>> = OnceLock::new();
    SERVER.get_or_init(Postgres::start).as_ref()
}

impl Postgres {
    /// A server of one's own, for a test that stops it; none where PostgreSQL is not installed.
    pub fn start() -> Option<Postgres> {
        let Some(programs) = programs() else {
            let required = std::env::var_os("CHARTER_TEST_REQUIRE_POSTGRES").is_some_and(|value| value == "1");
            assert!(!required, "CHARTER_TEST_REQUIRE_POSTGRES=1, but PostgreSQL is not installed: {WHERE}");
            // Past the test harness, which keeps to itself what a passing test prints.
            let notice = format!("\n*** SKIPPED: PostgreSQL is not installed; its tests do not run: {WHERE} ***\n\n");
            let _ = std::io::stderr().write_all(notice.as_bytes());
            return None;
        };
        let account = Account::for_server();
        let folder = temporary_folder(account);
        let watchdog = watch(&folder);
        let data = folder.join("data");
        let mut initdb = account.command(&programs.join("initdb"));
        initdb.args(["--no-sync", "--auth=trust", "--username=postgres", "--locale=C.UTF-8", "--encoding=UTF8"]);
        let output = initdb.arg("--pgdata").arg(&data).output().expect("initdb runs");
        assert!(output.status.success(), "initdb failed: {}", String::from_utf8_lossy(&output.stderr));
        let (server, port) = serve(&programs, account, &folder, &data);
        Some(Postgres { programs, port, databases: AtomicU32::new(0), server, watchdog })
    }

    /// The URL of a fresh database: an empty one, or a copy of the one at `template`, to which nobody may be connected.
    pub fn create_database(&self, template: Option<&str>) -> String {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let template = template.map_or("template0", |url| url.rsplit('/').next().expect("a URL has a last segment"));
        let statement = format!("CREATE DATABASE {name} TEMPLATE {template}");
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let message = match self.psql(&statement) {
                Ok(()) => return self.url(&name),
                Err(message) => message,
            };
            // A connection to the template ends a moment after its client has closed it.
            let again = message.contains("being accessed by other users") && Instant::now() < deadline;
            assert!(again, "{statement}: {message}");
            sleep(Duration::from_millis(50));
        }
    }

    /// Stops it in the middle of whatever it does: it neither answers nor hangs up.
    pub fn hang(&self) {
        self.signal("STOP");
    }

    /// Lets it go on.
    pub fn go_on(&self) {
        self.signal("CONT");
    }

    /// To the server and to each of its sessions.
    fn signal(&self, name: &str) {
        let server = self.server.id();
        let sessions = fs::read_to_string(format!("/proc/{server}/task/{server}/children")).expect("Linux tells");
        let those = std::iter::once(server.to_string()).chain(sessions.split_whitespace().map(String::from));
        // One that has ended meanwhile is no failure: the server may have noticed since it was listed.
        Command::new("kill").arg(format!("-{name}")).args(those).stderr(Stdio::null()).status().expect("kill runs");
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Runs a statement in the maintenance database through psql, so that this file needs no driver.
    fn psql(&self, statement: &str) -> Result<(), String> {
        let output = Command::new(self.programs.join("psql"))
            .args(["--no-psqlrc", "--quiet", "--command", statement, &self.url("postgres")])
            .output()
            .expect("psql stands beside initdb");
        if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // One that a failed test has left stopped would never end.
        self.go_on();
        // Waiting closes the pipe first, which makes the watchdog stop the server.
        let _ = self.watchdog.wait();
        let _ = self.server.wait();
    }
}

/// The folder of PostgreSQL's programs; the newest where Debian has several.
fn programs() -> Option<PathBuf> {
    let complete = |folder: &PathBuf| ["initdb", "postgres", "psql"].iter().all(|name| folder.join(name).is_file());
    if let Some(folder) = std::env::var_os("PG_BIN") {
        return Some(PathBuf::from(folder)).filter(complete);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    // The PATH often has a link to the one program, and the others stand where it leads.
    let linked = std::env::split_paths(&path).filter_map(|folder| folder.join("initdb").canonicalize().ok());
    let mut folders = linked.filter_map(|program| program.parent().map(Path::to_path_buf));
    if let Some(folder) = folders.find(complete) {
        return Some(folder);
    }
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten().map(|entry| entry.path());
    let number =
        |folder: &PathBuf| folder.file_name().and_then(OsStr::to_str).and_then(|name| name.parse::<u32>().ok());
    let mut versions: Vec<_> = versions.filter(|folder| complete(&folder.join("bin"))).collect();
    versions.sort_by_key(number);
    versions.pop().map(|folder| folder.join("bin"))
}

/// Who the server runs as: it refuses to run as root.
#[derive(Clone, Copy)]
pub enum Account {
    Own,
    Other { user: u32, group: u32 },
}

impl Account {
    pub fn for_server() -> Account {
        let root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
        if !root {
            return Account::Own;
        }
        let accounts = fs::read_to_string("/etc/passwd").expect("root's machine has accounts");
        let find = |name: &str| {
            let line = accounts.lines().find(|line| line.split(':').next() == Some(name))?;
            let mut ids = line.split(':').skip(2).map(str::parse::<u32>);
            Some(Account::Other { user: ids.next()?.ok()?, group: ids.next()?.ok()? })
        };
        find("postgres").or_else(|| find("nobody")).expect("an account `postgres` or `nobody` to run PostgreSQL as")
    }

    /// A program run by this account, out of reach of a ctrl-c at the terminal.
    pub fn command(self, program: &Path) -> Command {
        let mut command = Command::new(program);
        if let Account::Other { user, group } = self {
            command.uid(user).gid(group);
        }
        // Wherever the tests run, the account may not be allowed there.
        command.current_dir("/").stdin(Stdio::null()).process_group(0);
        command
    }
}

/// Where tests keep files: in `TMPDIR` if it is set; else in memory where there is plenty, because a disk's file system takes
/// longer to make the files of a database than PostgreSQL to fill them; else in the system's temporary folder.
pub fn room() -> PathBuf {
    static ROOM: OnceLock<PathBuf> = OnceLock::new();
    let find = || {
        let memory = Path::new("/dev/shm");
        let free = Command::new("df").args(["-Pk"]).arg(memory).output().ok().filter(|output| output.status.success());
        let free = free.and_then(|output| {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let line = text.lines().nth(1)?.strip_prefix("tmpfs")?.to_string();
            line.split_whitespace().nth(2)?.parse::<u64>().ok()
        });
        let chosen = std::env::var_os("TMPDIR").is_some();
        if !chosen && free.is_some_and(|free| free >= PLENTY) { memory.into() } else { std::env::temp_dir() }
    };
    ROOM.get_or_init(find).clone()
}

pub fn temporary_folder(account: Account) -> PathBuf {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("the clock is past 1970");
    let name = format!("charter-postgres-{}-{}", std::process::id(), now.as_nanos());
    let folder = room().join(name);
    fs::DirBuilder::new().mode(0o700).create(&folder).expect("the temporary folder can be written");
    if let Account::Other { user, group } = account {
        chown(&folder, Some(user), Some(group)).expect("root gives the folder away");
    }
    folder
}

/// Starts the shell that cleans up. It comes first, so that nothing is left over whenever the process is killed.
fn watch(folder: &Path) -> Child {
    Command::new("sh")
        .args(["-c", WATCHDOG, "watchdog"])
        .arg(folder)
        .current_dir("/")
        .stdin(Stdio::piped())
        // Whoever reads the output of the tests would otherwise wait for this shell too.
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .expect("sh runs")
}

/// Starts the server and waits until it answers on the port that is returned.
fn serve(programs: &Path, account: Account, folder: &Path, data: &Path) -> (Child, u16) {
    let log = folder.join("log");
    let deadline = Instant::now() + PATIENCE;
    loop {
        let port = free_port();
        let mut server = account
            .command(&programs.join("postgres"))
            .arg("-D")
            .arg(data)
            .args(settings(port))
            .stdout(Stdio::null())
            .stderr(fs::File::create(&log).expect("the temporary folder takes a log"))
            .spawn()
            .expect("postgres runs");
        while server.try_wait().expect("the server is a child").is_none() {
            if is_ready(data) {
                return (server, port);
            }
            assert!(Instant::now() < deadline, "PostgreSQL does not start: {}", read(&log));
            sleep(Duration::from_millis(20));
        }
        // Another process may have taken the port since it was found free.
        assert!(read(&log).contains("Address already in use"), "PostgreSQL does not start: {}", read(&log));
    }
}

/// Fast and forgetful, and with nothing that works behind the back of a test.
fn settings(port: u16) -> impl Iterator<Item = String> {
    let port = format!("port={port}");
    let settings = [
        port.as_str(),
        "listen_addresses=127.0.0.1",
        "unix_socket_directories=",
        "max_connections=200",
        "fsync=off",
        "synchronous_commit=off",
        "full_page_writes=off",
        "autovacuum=off",
        "max_wal_size=1GB",
    ];
    settings.map(|setting| format!("--{setting}")).into_iter()
}

pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    listener.local_addr().expect("it is bound").port()
}

/// Whether the server has come up: the last line of its lock file says so.
fn is_ready(data: &Path) -> bool {
    read(&data.join("postmaster.pid")).lines().nth(7).is_some_and(|status| status.trim() == "ready")
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_default()
}
