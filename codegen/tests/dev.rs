//! `cargo charter dev` with a stub of cargo that records its calls: builds, and starts and stops of the server.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The stub: the build fails if a file `broken` exists and lasts while a file `long` exists. The server runs until it
/// is stopped, unless a file `ends` exists.
const CARGO: &str = "#!/bin/sh
echo \"$@\" >> calls
case \"$1\" in
build)
    trap 'echo given up >> calls; exit 1' TERM
    while [ -e long ]; do sleep 0.05; done
    [ ! -e broken ] ;;
run)
    trap 'echo stopped >> calls; exit 0' TERM
    echo serving >> calls
    while [ ! -e ends ]; do sleep 0.05; done ;;
esac
";

const GOOD: &str = "resource: thing\nfields:\n  name: { type: string(40), required: true }\n";

/// A version that the migrations do not know.
const ANOTHER: &str = "resource: thing\nlabel: Thing of ours\nfields:\n  name: { type: string(40), required: true }\n";

fn charter(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-charter"));
    command.args(arguments).current_dir(folder);
    command
}

/// Writes the migration to the current YAML.
#[track_caller]
fn migrated(folder: &Path, name: &str) {
    let output = charter(folder, &["migration", "new", name]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

struct Dev {
    folder: PathBuf,
    child: Child,
}

impl Dev {
    fn start(name: &str) -> Dev {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dev").join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("resources")).unwrap();
        fs::create_dir_all(folder.join("src")).unwrap();
        fs::write(folder.join("resources/thing.yaml"), GOOD).unwrap();
        fs::write(folder.join("cargo"), CARGO).unwrap();
        fs::set_permissions(folder.join("cargo"), fs::Permissions::from_mode(0o755)).unwrap();
        migrated(&folder, "begin");
        let mut command = charter(&folder, &["dev", "--package", "app", "--", "--listen", "127.0.0.1:0"]);
        command.env("CARGO", folder.join("cargo")).stdin(Stdio::null()).stdout(Stdio::null());
        // A process group of its own, which ends with the test.
        command.stderr(fs::File::create(folder.join("told")).unwrap()).process_group(0);
        let child = command.spawn().unwrap();
        Dev { folder, child }
    }

    /// Replaces a file atomically, as editors do.
    fn write(&self, path: &str, text: &str) {
        let new = self.folder.join("new");
        fs::write(&new, text).unwrap();
        fs::rename(&new, self.folder.join(path)).unwrap();
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.folder.join(file)).unwrap_or_default()
    }

    fn calls(&self) -> Vec<String> {
        self.read("calls").lines().map(str::to_owned).collect()
    }

    /// Sends a signal to the process alone, as a supervisor does, and waits for its exit.
    fn end(&mut self, signal: &str) -> ExitStatus {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        self.child.wait().unwrap()
    }

    /// Waits until a file contains a text `times` times.
    #[track_caller]
    fn wait(&self, file: &str, text: &str, times: usize) {
        let began = Instant::now();
        while self.read(file).matches(text).count() < times {
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "no {text} in {file}:\n{}\n{}",
                self.read(file),
                self.read("told")
            );
            sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        // The process and its server.
        let group = format!("-{}", self.child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _ = self.child.wait();
    }
}

#[test]
fn an_edit_is_checked_built_and_served_unless_it_is_broken() {
    let dev = Dev::start("edits");
    let (build, run) = ("build --quiet --package app", "run --quiet --package app -- --listen 127.0.0.1:0");
    dev.wait("calls", "serving", 1);
    assert_eq!(dev.calls(), [build, run, "serving"]);

    dev.write("resources/thing.yaml", &GOOD.replace("string(40)", "strin"));
    dev.wait("told", "the running server continues", 1);
    assert!(dev.read("told").contains("resources/thing.yaml:3"), "{}", dev.read("told"));
    assert_eq!(dev.calls().len(), 3, "nothing was built or stopped");

    dev.write("resources/thing.yaml", ANOTHER);
    dev.wait("calls", "serving", 2);
    assert_eq!(dev.calls()[3..], [build, "stopped", run, "serving"]);

    dev.write("broken", "");
    dev.write("src/main.rs", "fn main() {");
    dev.wait("told", "the running server continues", 2);
    assert_eq!(dev.calls()[7..], [build]);
    fs::remove_file(dev.folder.join("broken")).unwrap();
    dev.write("src/main.rs", "fn main() {}");
    dev.wait("calls", "serving", 3);
    assert_eq!(dev.calls()[8..], [build, "stopped", run, "serving"]);
}

#[test]
fn a_server_that_exits_is_restarted_after_the_next_edit() {
    let dev = Dev::start("ends");
    dev.wait("calls", "serving", 1);
    dev.write("ends", "");
    dev.wait("told", "the server exited", 1);
    fs::remove_file(dev.folder.join("ends")).unwrap();
    dev.write("resources/thing.yaml", ANOTHER);
    dev.wait("calls", "serving", 2);
    assert!(!dev.calls().contains(&"stopped".to_owned()));
}

#[test]
fn signals_end_the_server_and_the_build() {
    for signal in ["-TERM", "-INT", "-HUP"] {
        let mut dev = Dev::start(&format!("ended{signal}"));
        dev.wait("calls", "serving", 1);
        assert!(dev.end(signal).success(), "{signal}: {}", dev.read("told"));
        assert_eq!(dev.calls()[2..], ["serving", "stopped"], "{signal}");
    }
    let mut dev = Dev::start("ended-in-a-build");
    dev.wait("calls", "serving", 1);
    dev.write("long", "");
    dev.write("src/main.rs", "fn main() {}");
    dev.wait("calls", "build", 2);
    assert!(dev.end("-TERM").success(), "{}", dev.read("told"));
    assert_eq!(dev.calls()[4..], ["given up", "stopped"]);
}

#[test]
fn missing_migrations_are_reported_and_not_served() {
    let dev = Dev::start("unmigrated");
    dev.wait("calls", "serving", 1);
    dev.write("resources/thing.yaml", &format!("{GOOD}  size: {{ type: integer, nullable: true }}\n"));
    dev.wait("told", "the running server continues", 1);
    let told = dev.read("told");
    assert!(told.contains("size") && told.contains("cargo charter migration new"), "{told}");
    assert_eq!(dev.calls().len(), 3, "nothing was built or stopped");
    migrated(&dev.folder, "add_size");
    dev.wait("calls", "serving", 2);

    // The change adds an index only.
    let searched = format!("{}search: [name]\n", dev.read("resources/thing.yaml"));
    dev.write("resources/thing.yaml", &searched);
    dev.wait("calls", "serving", 3);
    assert_eq!(dev.read("told").matches("cargo charter migration new").count(), 2, "{}", dev.read("told"));
}

#[test]
fn without_a_snapshot_the_server_starts() {
    let dev = Dev::start("by-hand");
    dev.wait("calls", "serving", 1);
    fs::remove_dir_all(dev.folder.join("migrations/snapshot")).unwrap();
    dev.wait("calls", "serving", 2);
    fs::remove_dir_all(dev.folder.join("migrations")).unwrap();
    dev.wait("calls", "serving", 3);
}
