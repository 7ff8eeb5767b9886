//! An application in a folder outside of this repository, and the commands that its developer runs.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use charter_testing::{Database, Program};

/// An application in a separate folder outside of this repository, where cargo's alias would hide the command. The
/// folder is always the same, so that later runs reuse the build.
pub struct Application {
    pub folder: PathBuf,
    /// The name of its package, and of its program.
    name: String,
    /// The PATH, with the folder of `cargo-charter`.
    path: std::ffi::OsString,
}

impl Application {
    pub fn empty() -> Application {
        Application::named("suppliers")
    }

    /// An empty folder for a test that runs at the same time.
    pub fn another_empty() -> Application {
        Application::named("postgres/suppliers")
    }

    pub fn lending() -> Application {
        let application = Application::named("lending");
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/lending"), &application.folder);
        application
    }

    pub fn named(name: &str) -> Application {
        let mut hash = DefaultHasher::new();
        env!("CARGO_MANIFEST_DIR").hash(&mut hash);
        let folder = std::env::temp_dir().join(format!("charter-{:x}", hash.finish())).join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let programs = developer_command();
        let others = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([programs].into_iter().chain(std::env::split_paths(&others))).unwrap();
        Application { folder, name: name.rsplit('/').next().unwrap_or_default().to_owned(), path }
    }

    /// The same application with `cargo-charter` from another folder.
    pub fn with_developer_command(mut self, programs: &Path) -> Application {
        let others = std::env::split_paths(&self.path).skip(1).collect::<Vec<_>>();
        self.path = std::env::join_paths([programs.to_owned()].into_iter().chain(others)).unwrap();
        self
    }

    /// A command of the page. It runs without network access, and shares the build folder of this workspace.
    pub fn command(&self, line: &str) -> Command {
        self.script(&format!("exec {line}"))
    }

    /// Commands for bash, as [`Application::command`].
    pub fn script(&self, text: &str) -> Command {
        let mut bash = without_package(Command::new("bash"));
        bash.args(["-c", text]).current_dir(&self.folder).env("PATH", &self.path);
        bash.env("CARGO_NET_OFFLINE", "true").env("CARGO_BUILD_BUILD_DIR", shared()).env_remove("CARGO_TARGET_DIR");
        bash
    }

    pub fn shell(&self, line: &str) {
        let output = self.command(line).output().expect("bash runs");
        let [told, errors] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        assert!(output.status.success(), "{line}: {told}{errors}");
    }

    /// Runs the command that starts the server, and waits until it listens.
    pub fn serve(&self, line: &str) -> Program {
        Program::start_by(self.command(line), self.executable(), Database::Sqlite)
    }

    pub fn executable(&self) -> PathBuf {
        self.folder.join("target/debug").join(&self.name)
    }

    /// The text of the only migration whose path has this end.
    pub fn migration(&self, end: &str) -> String {
        let files = self.files();
        let path = files.iter().find(|path| path.starts_with("migrations/m") && path.ends_with(end));
        fs::read_to_string(self.folder.join(path.unwrap_or_else(|| panic!("{files:?}")))).unwrap()
    }

    /// Its files by their paths.
    pub fn files(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        collect(&self.folder, "", &mut found);
        found
    }
}

impl Drop for Application {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The build folder of this workspace.
pub fn shared() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it stands in the target folder")
}

/// The folder of `cargo-charter`, built with the same features of dependencies as the workspace.
fn developer_command() -> PathBuf {
    let mut cargo = without_package(Command::new(env!("CARGO")));
    cargo.args(["build", "--quiet", "--offline", "--workspace", "--bin", "cargo-charter"]);
    let output = cargo.arg("--target-dir").arg(shared()).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let output = output.expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    shared().join("debug")
}

/// Removes cargo's variables of the package under test. Build scripts depend on them and would run again each time.
pub fn without_package(mut command: Command) -> Command {
    for (name, _) in std::env::vars_os() {
        if ["CARGO_MANIFEST_", "CARGO_PKG_", "OUT_DIR"].iter().any(|prefix| name.to_string_lossy().starts_with(prefix))
        {
            command.env_remove(name);
        }
    }
    command
}

pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        // Data of a server is not a part of the application.
        if matches!(entry.file_name().to_str(), Some("data" | "target")) {
            continue;
        }
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn collect(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{name}/"), found);
        } else {
            found.insert(name);
        }
    }
}
