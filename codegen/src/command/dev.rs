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
use crate::command::migration::{Folders, UNREACHED};
use crate::{DONE, PROBLEMS, USAGE};

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
const PAUSE: Duration = Duration::from_millis(100);
/// How long a server may take to stop: longer than its own timeout for requests in flight.
const STOP: Duration = Duration::from_secs(20);

/// The files, each with its modification time and size.
type State = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

pub fn run(arguments: &Arguments) -> u8 {
    if !arguments.folders.dir.is_dir() {
        eprintln!(
            "the folder `{}` does not exist; `--dir` names the folder of the resources",
            arguments.folders.dir.display()
        );
        return USAGE;
    }
    let told = match told_to_end() {
        Ok(told) => told,
        Err(problem) => {
            eprintln!("signals cannot be handled: {problem}");
            return PROBLEMS;
        }
    };
    let mut dev = Dev { arguments, server: None, told };
    let mut seen = State::new();
    while !dev.is_told() {
        let now = dev.settled();
        if now != seen {
            seen = now;
            dev.take();
        }
        dev.look_after();
        sleep(PAUSE);
    }
    dev.stop();
    DONE
}

/// Set by SIGTERM, SIGQUIT or SIGINT. Only a terminal sends a signal to the server as well.
fn told_to_end() -> io::Result<Arc<AtomicBool>> {
    let told = Arc::new(AtomicBool::new(false));
    let signals = TERM_SIGNALS.iter().copied();
    #[cfg(unix)]
    let signals = signals.chain([signal_hook::consts::SIGHUP]);
    for signal in signals {
        flag::register(signal, told.clone())?;
    }
    Ok(told)
}

struct Dev<'a> {
    arguments: &'a Arguments,
    server: Option<Child>,
    told: Arc<AtomicBool>,
}

impl Dev<'_> {
    /// True if this command must end.
    fn is_told(&self) -> bool {
        self.told.load(Ordering::Relaxed)
    }

    /// The files once they stop changing, because an editor may save several.
    fn settled(&self) -> State {
        let mut state = self.state();
        loop {
            sleep(PAUSE / 2);
            let next = self.state();
            if next == state || self.is_told() {
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
                return self.tell_what_stays();
            }
        }
        if !self.is_migrated() {
            return self.tell_what_stays();
        }
        let began = Instant::now();
        match self.cargo("build").spawn().and_then(|build| self.waited_for(build)) {
            _ if self.is_told() => return,
            Ok(status) if status.success() => eprintln!("built in {:.1} s", began.elapsed().as_secs_f64()),
            Ok(_) => return self.tell_what_stays(),
            Err(problem) => {
                eprintln!("cargo cannot be run: {problem}");
                return self.tell_what_stays();
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
                eprintln!("{UNREACHED}");
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
            if self.is_told() {
                end(&mut build)?;
            }
            sleep(PAUSE / 10);
        }
    }

    fn cargo(&self, command: &str) -> Command {
        cargo(command, self.arguments.package.as_deref())
    }

    fn tell_what_stays(&self) {
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
    let told = Command::new("kill").args(["-TERM", &process.id().to_string()]).status();
    let began = Instant::now();
    while told.as_ref().is_ok_and(ExitStatus::success) && began.elapsed() < STOP {
        if !matches!(process.try_wait(), Ok(None)) {
            return Ok(());
        }
        sleep(PAUSE / 10);
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
