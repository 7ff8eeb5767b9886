//! `cargo charter dev`: watches the files of an application, checks the YAML, builds, and restarts the server.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use charter_codegen::compile;
use clap::Args;
use signal_hook::consts::TERM_SIGNALS;
use signal_hook::flag;

use crate::command::cargo;
use crate::command::migration::{Folders, MIGRATIONS_BEHIND};
use crate::{EXIT_DONE, EXIT_PROBLEMS, EXIT_USAGE};

/// Serve while you edit: check, build and restart on every change
///
/// The running server stays as it is while the YAML has problems or lacks a migration, or the Rust does not compile.
/// Ctrl-C ends this command and the server.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    folders: Folders,
    /// The package of the application, if the workspace has several
    #[arg(long, short)]
    package: Option<String>,
    /// Another file or folder to watch, besides `resources`, `src`, `migrations`, `build.rs` and `Cargo.toml`
    #[arg(long)]
    watch: Vec<PathBuf>,
    /// Arguments for the server
    #[arg(last = true)]
    server: Vec<String>,
}

/// How often the files are compared.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How long a server may take to stop: longer than its own timeout for requests in flight.
const STOP_TIMEOUT: Duration = Duration::from_secs(20);

/// The files, each with its modification time and size.
type State = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

pub fn run(arguments: &Arguments) -> u8 {
    if !arguments.folders.dir.is_dir() {
        eprintln!(
            "the folder `{}` does not exist; `--dir` names the folder of the resources",
            arguments.folders.dir.display()
        );
        return EXIT_USAGE;
    }
    let is_stopping = match register_signals() {
        Ok(is_stopping) => is_stopping,
        Err(problem) => {
            eprintln!("signals cannot be handled: {problem}");
            return EXIT_PROBLEMS;
        }
    };
    let mut dev = Dev { arguments, server: None, is_stopping };
    let mut seen = State::new();
    while !dev.must_stop() {
        let now = dev.settled();
        if now != seen {
            seen = now;
            dev.take();
        }
        dev.look_after();
        sleep(POLL_INTERVAL);
    }
    dev.stop();
    EXIT_DONE
}

/// Set by SIGTERM, SIGQUIT or SIGINT. Only a terminal sends a signal to the server as well.
fn register_signals() -> io::Result<Arc<AtomicBool>> {
    let is_stopping = Arc::new(AtomicBool::new(false));
    let signals = TERM_SIGNALS.iter().copied();
    #[cfg(unix)]
    let signals = signals.chain([signal_hook::consts::SIGHUP]);
    for signal in signals {
        flag::register(signal, is_stopping.clone())?;
    }
    Ok(is_stopping)
}

struct Dev<'a> {
    arguments: &'a Arguments,
    server: Option<Child>,
    is_stopping: Arc<AtomicBool>,
}

impl Dev<'_> {
    /// True if this command must end.
    fn must_stop(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }

    /// The files once they stop changing, because an editor may save several.
    fn settled(&self) -> State {
        let mut state = self.state();
        loop {
            sleep(POLL_INTERVAL / 2);
            let next = self.state();
            if next == state || self.must_stop() {
                return state;
            }
            state = next;
        }
    }

    fn state(&self) -> State {
        let own = ["src", "migrations", "build.rs", "Cargo.toml"].map(PathBuf::from);
        let mut state = State::new();
        let folders = &self.arguments.folders;
        let named = [&folders.dir].into_iter().chain(&folders.migrations).chain(&self.arguments.watch);
        for path in named.chain(&own) {
            collect(path, &mut state);
        }
        state
    }

    /// Checks, builds and restarts. The first problem leaves the running server as it is.
    fn take(&mut self) {
        let began = Instant::now();
        match compile(&self.arguments.folders.dir) {
            Ok(output) => {
                eprint!("{}", output.warnings().render());
                eprintln!("checked in {} ms", began.elapsed().as_millis());
            }
            Err(report) => {
                eprintln!("{}{}", report.render(), report.summary());
                return self.report_waiting();
            }
        }
        if !self.is_migrated() {
            return self.report_waiting();
        }
        let began = Instant::now();
        match self.cargo("build").spawn().and_then(|build| self.waited_for(build)) {
            _ if self.must_stop() => return,
            Ok(status) if status.success() => eprintln!("built in {:.1} s", began.elapsed().as_secs_f64()),
            Ok(_) => return self.report_waiting(),
            Err(problem) => {
                eprintln!("cargo cannot be run: {problem}");
                return self.report_waiting();
            }
        }
        self.stop();
        let mut cargo = self.cargo("run");
        cargo.arg("--").args(&self.arguments.server);
        match cargo.spawn() {
            Ok(server) => self.server = Some(server),
            Err(problem) => eprintln!("the server cannot be started: {problem}"),
        }
    }

    /// True if the migrations create the tables that the YAML declares; every request for another would be 500. Reports
    /// what is missing.
    fn is_migrated(&self) -> bool {
        match self.arguments.folders.unreached() {
            Ok(None) => true,
            Ok(Some(plan)) => {
                plan.lines().iter().for_each(|line| eprintln!("{line}"));
                plan.unsupported.iter().for_each(|refused| eprintln!("{refused}"));
                eprintln!("{MIGRATIONS_BEHIND}");
                !plan.is_awaited()
            }
            Err(_) => false,
        }
    }

    /// Waits for a build, and kills it if this command must end.
    fn waited_for(&self, mut build: Child) -> io::Result<ExitStatus> {
        loop {
            if let Some(status) = build.try_wait()? {
                return Ok(status);
            }
            if self.must_stop() {
                end(&mut build)?;
            }
            sleep(POLL_INTERVAL / 10);
        }
    }

    fn cargo(&self, command: &str) -> Command {
        cargo(command, self.arguments.package.as_deref())
    }

    fn report_waiting(&self) {
        match self.server {
            Some(_) => eprintln!("the running server continues"),
            None => eprintln!("no server is running; waiting for a change"),
        }
    }

    /// Reports a server that ended by itself.
    fn look_after(&mut self) {
        if let Some(server) = &mut self.server
            && let Ok(Some(status)) = server.try_wait()
        {
            eprintln!("the server exited ({status}); waiting for a change");
            self.server = None;
        }
    }

    /// Stops the server gracefully.
    fn stop(&mut self) {
        let Some(mut server) = self.server.take() else { return };
        if let Err(problem) = end(&mut server) {
            eprintln!("the server cannot be stopped: {problem}");
        }
    }
}

/// Sends SIGTERM to a process, and kills it if it does not end.
fn end(process: &mut Child) -> io::Result<()> {
    let signalled = Command::new("kill").args(["-TERM", &process.id().to_string()]).status();
    let began = Instant::now();
    while signalled.as_ref().is_ok_and(ExitStatus::success) && began.elapsed() < STOP_TIMEOUT {
        if !matches!(process.try_wait(), Ok(None)) {
            return Ok(());
        }
        sleep(POLL_INTERVAL / 10);
    }
    // There is no `kill` command, or the process ignores SIGTERM.
    process.kill().and_then(|()| process.wait().map(drop))
}

/// Collects a file, or the files of a folder without hidden ones. Unreadable files are skipped.
fn collect(path: &Path, state: &mut State) {
    let Ok(about) = fs::metadata(path) else { return };
    if about.is_file() {
        state.insert(path.to_owned(), (about.modified().ok(), about.len()));
        return;
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with('.') {
            collect(&entry.path(), state);
        }
    }
}
