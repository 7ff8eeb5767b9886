//! A private PostgreSQL for the tests of one process, started on demand and removed at the end.
//!
//! [`server`] starts it on first use, in a temporary folder ([`room`]), on a free port of 127.0.0.1 and without
//! durability. It ends with the test process, even if that is killed: a shell reads from a pipe whose other end only
//! this process holds. When the pipe closes, the shell stops the server and removes the folder.
//!
//! The programs are those in `PG_BIN`, in the PATH or in Debian's folders. Without them, the tests that need the server
//! are ignored (`needs_postgres!`), unless `CHARTER_TEST_REQUIRE_POSTGRES=1` is set.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::search;

/// Timeout of the start, on a machine that is busy with other tests.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// Free memory in KiB that suffices for the databases of concurrent tests.
const ENOUGH_MEMORY_KIB: u64 = 6 << 20;

/// The shell that ends the server. It waits for the end of its input, which is the end of the test process.
///
/// It waits for the removal of the server's lock file, because the server's process may stay as a zombie. A server
/// that has not yet written that file ends by itself, because its folder is removed.
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

/// A running server, stopped when this is dropped.
pub struct Postgres {
    programs: PathBuf,
    port: u16,
    databases: AtomicU32,
    pub(crate) server: Child,
    watchdog: Child,
}

/// The server that the tests of this process share, started on first use.
///
/// # Panics
/// If PostgreSQL is not installed or does not start.
pub fn server() -> &'static Postgres {
    static SERVER: OnceLock<Postgres> = OnceLock::new();
    SERVER.get_or_init(Postgres::start)
}

impl Postgres {
    /// A separate server, for tests that stop it.
    ///
    /// # Panics
    /// If PostgreSQL is not installed or does not start.
    pub fn start() -> Postgres {
        Postgres::start_new(&[])
    }

    /// A separate server for standbys.
    ///
    /// # Panics
    /// If PostgreSQL is not installed or does not start.
    pub fn start_primary() -> Postgres {
        Postgres::start_new(&["synchronous_commit=on"])
    }

    fn start_new(settings: &[&str]) -> Postgres {
        Postgres::start_with(settings, |account, programs, data| {
            let mut initdb = account.command(&programs.join("initdb"));
            initdb.args(["--no-sync", "--auth=trust", "--username=postgres", "--locale=C.UTF-8", "--encoding=UTF8"]);
            initdb.arg("--pgdata").arg(data);
            initdb
        })
    }

    /// Starts a server on the data that a command creates, with these settings.
    pub(crate) fn start_with(settings: &[&str], create: impl FnOnce(Account, &Path, &Path) -> Command) -> Postgres {
        let programs = search::postgres();
        let programs = programs.unwrap_or_else(|| panic!("PostgreSQL is not in {}", search::POSTGRES_FOLDERS));
        let account = Account::for_server();
        let folder = temporary_folder(account);
        let watchdog = watch(&folder);
        let data = folder.join("data");
        let output = create(account, &programs, &data).output().expect("the command runs");
        assert!(output.status.success(), "no data: {}", String::from_utf8_lossy(&output.stderr));
        let (server, port) = serve(&programs, account, &folder, &data, settings);
        Postgres { programs, port, databases: AtomicU32::new(0), server, watchdog }
    }

    /// The URL of a new database: empty, or a copy of the one at `template`, which must have no connections.
    ///
    /// # Panics
    /// If the database cannot be created.
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
            // The server sees the end of a connection shortly after the client closed it.
            let retry = message.contains("being accessed by other users") && Instant::now() < deadline;
            assert!(retry, "{statement}: {message}");
            sleep(Duration::from_millis(50));
        }
    }

    /// Removes the database at this URL with its open connections.
    ///
    /// # Panics
    /// If the database does not exist.
    pub fn drop_database(&self, url: &str) {
        let name = url.rsplit('/').next().expect("a URL has a last segment");
        let statement = format!("DROP DATABASE {name} WITH (FORCE)");
        self.psql(&statement).unwrap_or_else(|message| panic!("{statement}: {message}"));
    }

    /// Stops the server's processes with SIGSTOP: it neither responds nor closes connections.
    pub fn hang(&self) {
        self.signal("STOP");
    }

    /// Resumes the stopped processes.
    pub fn resume(&self) {
        self.signal("CONT");
    }

    /// Sends a signal to the server and each of its sessions.
    pub(crate) fn signal(&self, name: &str) {
        let server = self.server.id();
        let sessions = fs::read_to_string(format!("/proc/{server}/task/{server}/children")).expect("Linux tells");
        let processes = std::iter::once(server.to_string()).chain(sessions.split_whitespace().map(String::from));
        // A session may have ended since it was listed.
        Command::new("kill").arg(format!("-{name}")).args(processes).stderr(Stdio::null()).status().expect("kill runs");
    }

    /// Host and port of the server.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Port of the server.
    pub fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Runs a statement in the maintenance database with psql, so that this file needs no driver.
    pub(crate) fn psql(&self, statement: &str) -> Result<(), String> {
        let output = Command::new(self.programs.join("psql"))
            .args(["--no-psqlrc", "--quiet", "--command", statement, &self.url("postgres")])
            .output()
            .expect("psql is in the folder of initdb");
        if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // A stopped server would never end.
        if matches!(self.server.try_wait(), Ok(None)) {
            self.resume();
        }
        // Waiting closes the pipe first, which makes the watchdog stop the server.
        let _ = self.watchdog.wait();
        let _ = self.server.wait();
    }
}

/// The user that the server runs as. PostgreSQL refuses to run as root.
#[derive(Clone, Copy)]
pub enum Account {
    /// The user of the tests.
    Own,
    /// Another user, by the numbers of the user and the group.
    Other {
        /// Number of the user.
        user: u32,
        /// Number of the group.
        group: u32,
    },
}

impl Account {
    /// The user of the tests; for root, `postgres` or `nobody`.
    ///
    /// # Panics
    /// If root's machine has neither of them.
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

    /// A command run by this account, in a process group that a ctrl-c does not reach.
    pub fn command(self, program: &Path) -> Command {
        let mut command = Command::new(program);
        if let Account::Other { user, group } = self {
            command.uid(user).gid(group);
        }
        // The account may have no access to the current folder.
        command.current_dir("/").stdin(Stdio::null()).process_group(0);
        command
    }
}

/// The folder for test files: `TMPDIR` if it is set, memory if there is enough, else the system's temporary folder.
/// On a disk, creating the files of a database takes longer than filling them.
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
        if !chosen && free.is_some_and(|free| free >= ENOUGH_MEMORY_KIB) { memory.into() } else { std::env::temp_dir() }
    };
    ROOM.get_or_init(find).clone()
}

/// A new folder that this account can write. The caller removes it.
///
/// # Panics
/// If the folder cannot be created.
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

/// Starts the watchdog. It starts before the server, so that a kill at any time leaves nothing behind.
fn watch(folder: &Path) -> Child {
    Command::new("sh")
        .args(["-c", WATCHDOG, "watchdog"])
        .arg(folder)
        .current_dir("/")
        .stdin(Stdio::piped())
        // Otherwise a reader of the tests' output would also wait for this shell.
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .expect("sh runs")
}

/// Starts the server and waits until it is ready on the returned port.
fn serve(programs: &Path, account: Account, folder: &Path, data: &Path, changed: &[&str]) -> (Child, u16) {
    let log = folder.join("log");
    let deadline = Instant::now() + START_TIMEOUT;
    loop {
        let port = free_port();
        let mut server = account
            .command(&programs.join("postgres"))
            .arg("-D")
            .arg(data)
            .args(settings(port))
            .args(changed.iter().map(|setting| format!("--{setting}")))
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
        // Another process may have taken the port in the meantime.
        assert!(read(&log).contains("Address already in use"), "PostgreSQL does not start: {}", read(&log));
    }
}

/// Settings for speed without durability, and without background work.
fn settings(port: u16) -> impl Iterator<Item = String> {
    let port = format!("port={port}");
    let settings = [
        port.as_str(),
        "listen_addresses=127.0.0.1",
        "unix_socket_directories=",
        "max_connections=200",
        "fsync=off",
        "synchronous_commit=off",
        "synchronous_commit=off",
        "full_page_writes=off",
        "autovacuum=off",
        "max_wal_size=1GB",
    ];
    settings.map(|setting| format!("--{setting}")).into_iter()
}

/// A port of 127.0.0.1 that no process listens on.
///
/// # Panics
/// If there is none.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    listener.local_addr().expect("it is bound").port()
}

/// True if the last line of the server's lock file reports that it is ready.
fn is_ready(data: &Path) -> bool {
    read(&data.join("postmaster.pid")).lines().nth(7).is_some_and(|status| status.trim() == "ready")
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_default()
}
