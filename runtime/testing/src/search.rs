//! Search for the programs that tests start: PostgreSQL, Chromium, PgBouncer, proxies, and Python for an SMTP server
//! and a client of MCP.

// The build script includes this file, and does not use all of it.
#![allow(dead_code)]

use std::env::{split_paths, var_os};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// With the value 1, tests fail without PostgreSQL instead of being ignored.
pub const REQUIRE_POSTGRES: &str = "CHARTER_TEST_REQUIRE_POSTGRES";
/// With the value 1, tests fail without Chromium instead of being ignored.
pub const REQUIRE_BROWSER: &str = "CHARTER_TEST_REQUIRE_BROWSER";
/// With the value 1, tests fail without PgBouncer instead of being ignored.
pub const REQUIRE_PGBOUNCER: &str = "CHARTER_TEST_REQUIRE_PGBOUNCER";
/// With the value 1, tests fail without an SMTP server instead of being ignored.
pub const REQUIRE_SMTP: &str = "CHARTER_TEST_REQUIRE_SMTP";
/// With the value 1, tests fail without a client of MCP instead of being ignored.
pub const REQUIRE_MCP: &str = "CHARTER_TEST_REQUIRE_MCP";

/// With the value 1, tests fail without the tools of the typed clients instead of being ignored.
pub const REQUIRE_CLIENTS: &str = "CHARTER_TEST_REQUIRE_CLIENTS";

/// With the value 1, tests fail without [`DEPLOYMENT_PROGRAMS`] instead of being ignored.
pub const REQUIRE_DEPLOYMENT: &str = "CHARTER_TEST_REQUIRE_DEPLOYMENT";

/// Programs that check the files of `deploy/`.
pub const DEPLOYMENT_PROGRAMS: [&str; 3] = ["nginx", "caddy", "systemd-analyze"];

/// With the value 1, tests fail without [`GUIDE_PROGRAMS`] instead of being ignored.
pub const REQUIRE_GUIDES: &str = "CHARTER_TEST_REQUIRE_GUIDES";

/// Programs in the commands of guides.
pub const GUIDE_PROGRAMS: [&str; 6] = ["bash", "curl", "jq", "node", "python3", "sqlite3"];

/// Folders that [`postgres`] searches, for error messages.
pub const POSTGRES_FOLDERS: &str = "PG_BIN, the PATH or /usr/lib/postgresql/*/bin (Debian: apt-get install postgresql)";

/// Minor version of PgBouncer 1.x with support for prepared statements. Earlier ones mix up those of their clients.
pub const MIN_PGBOUNCER_MINOR: u32 = 21;

/// Names of Chromium in order of preference. The headless shells have no window system and start in half the time.
const BROWSERS: [&str; 7] = [
    "chromium-headless-shell",
    "chrome-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
];

/// True if the tests must fail without the program.
pub fn is_required(variable: &str) -> bool {
    var_os(variable).is_some_and(|value| value == "1")
}

/// The folder of PostgreSQL's programs, the newest if Debian has several.
pub fn postgres() -> Option<PathBuf> {
    let complete = |folder: &PathBuf| {
        ["initdb", "postgres", "psql", "pg_basebackup"].iter().all(|name| folder.join(name).is_file())
    };
    if let Some(folder) = var_os("PG_BIN") {
        return Some(PathBuf::from(folder)).filter(complete);
    }
    // The PATH often has a link to one program only; the others are next to its target.
    let path = var_os("PATH").unwrap_or_default();
    let linked = split_paths(&path).filter_map(|folder| folder.join("initdb").canonicalize().ok());
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

/// Chromium: `CHROMIUM`, or the first of its names in the PATH.
pub fn browser() -> Option<PathBuf> {
    let path = var_os("PATH").unwrap_or_default();
    let mut paths = split_paths(&path).flat_map(|folder| BROWSERS.iter().map(move |name| folder.join(name)));
    var_os("CHROMIUM").map(PathBuf::from).or_else(|| paths.find(|path| path.is_file()))
}

/// PgBouncer: `PGBOUNCER`, or the program in the PATH or Debian's folder.
///
/// # Errors
/// The version that was found instead, if any.
pub fn pgbouncer() -> Result<PathBuf, Option<(u32, u32)>> {
    let named = var_os("PGBOUNCER").map(PathBuf::from).filter(|program| program.is_file());
    let found = named.or_else(|| program("pgbouncer")).ok_or(None)?;
    match version(&found) {
        Some(version) if version >= (1, MIN_PGBOUNCER_MINOR) => Ok(found),
        version => Err(version),
    }
}

/// A program in the PATH or in Debian's folder for services.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = var_os("PATH").unwrap_or_default();
    let mut paths = split_paths(&path).chain(["/usr/sbin".into()]).map(|folder| folder.join(name));
    paths.find(|path| path.is_file())
}

/// Python with aiosmtpd, which `.ci/run` installs: `CHARTER_TEST_SMTP`.
pub fn smtp() -> Option<PathBuf> {
    var_os("CHARTER_TEST_SMTP").map(PathBuf::from)
}

/// Folder with Flask (`bin/python3`), Express (`node_modules`) and a build of the receiver with axum (`cargo`), which
/// `.ci/run` makes: `CHARTER_TEST_RECEIVERS`.
pub fn receivers() -> Option<PathBuf> {
    var_os("CHARTER_TEST_RECEIVERS").map(PathBuf::from)
}

/// Python with the package `mcp`, which `.ci/run` installs: `CHARTER_TEST_MCP`.
pub fn mcp() -> Option<PathBuf> {
    var_os("CHARTER_TEST_MCP").map(PathBuf::from)
}

/// The TypeScript compiler, which `.ci/run` installs: `CHARTER_TEST_TSC`. Node runs its output.
pub fn tsc() -> Option<PathBuf> {
    var_os("CHARTER_TEST_TSC").map(PathBuf::from)
}

/// Python with httpx and mypy, which `.ci/run` installs: `CHARTER_TEST_CLIENT_PYTHON`.
pub fn client_python() -> Option<PathBuf> {
    var_os("CHARTER_TEST_CLIENT_PYTHON").map(PathBuf::from)
}

fn version(program: &Path) -> Option<(u32, u32)> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut numbers = text.lines().next()?.rsplit(' ').next()?.split('.').map(str::parse::<u32>);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}
