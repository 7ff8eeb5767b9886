//! Command line of an application's server command.

mod account;
mod bootstrap;
mod doctor;
mod explain_access;
mod from_db;
mod health;
mod import;
mod indexes;
mod mail;
mod migrate;
mod missing_columns;
mod openapi;
mod output;
mod serve;
mod stored_forms;
mod table_faults;
mod texts;
mod unknown_enum_values;
mod webhook_listen;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command};
use rustix::fs::Mode;
use rustix::process::umask;

use crate::app::App;
use crate::config::{Config, SETTINGS, Setting};
use crate::log::{self, Log};
use crate::process;
use crate::server::ServerState;
use charter_core::error::{Error, Result};
use charter_model::invisible::escape_lines;

/// Exit code of a failed command.
const FAILED: u8 = 1;
/// Exit code of wrong usage, which is also clap's.
const WRONG_USAGE: u8 = 2;

/// Time that blocking work has to end after a command.
const BLOCKING_TIMEOUT: Duration = Duration::from_secs(1);

/// Runs the command line of an application: the whole `main` of its program.
///
/// It also tunes the process as the measured servers of `docs/performance` are.
pub fn main(app: App) -> ExitCode {
    process::disable_huge_pages();
    let matches = command(&app).get_matches();
    // Files and folders are readable by their owner only, whatever the folder around them allows.
    umask(Mode::RWXG | Mode::RWXO);
    // This command needs no settings, no database and no data folder.
    if let Some(("webhook", matches)) = matches.subcommand()
        && let Some(("listen", matches)) = matches.subcommand()
    {
        return block_on(webhook_listen::run(matches), 1, false, None);
    }
    let config = match Config::read(&matches, environment()) {
        Ok(config) => config,
        Err(problems) => {
            eprintln!("{}", escape_lines(&problems.to_string()));
            return ExitCode::from(WRONG_USAGE);
        }
    };
    let log = match log::init(&config) {
        Ok(log) => log,
        Err(error) => {
            eprintln!("{}", escape_lines(&message(&error)));
            return ExitCode::from(FAILED);
        }
    };
    // A server that logs JSON also logs its failure as JSON.
    let logs_failure = config.log_json && matches!(matches.subcommand(), None | Some(("serve", _)));
    // It opens no database: the server may be the only process that can.
    if let Some(("health", _)) = matches.subcommand() {
        return block_on(health::run(&config), 1, false, Some(log));
    }
    let threads = config.threads;
    block_on(run(app, config, &matches), threads, logs_failure, Some(log))
}

/// Runs a command, and writes its error to standard error or to the log.
fn block_on(
    command: impl Future<Output = Result<()>>,
    threads: usize,
    logs_failure: bool,
    log: Option<Log>,
) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("could not start the async runtime: {error}");
            return ExitCode::from(FAILED);
        }
    };
    let done = runtime.block_on(command);
    // A thread may wait for the lock of another process that prepares the database.
    runtime.shutdown_timeout(BLOCKING_TIMEOUT);
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if logs_failure && tracing::enabled!(tracing::Level::ERROR) {
                tracing::error!(cause = message(&error), "server failed");
            } else if let Some(log) = log {
                log.print(&message(&error));
            } else {
                // If standard error is closed, only the exit code remains.
                let _ = writeln!(std::io::stderr(), "{}", escape_lines(&message(&error)));
            }
            ExitCode::from(FAILED)
        }
    }
}

/// The message for operators, with the cause of an internal error.
fn message(error: &Error) -> String {
    match error {
        Error::Internal(cause) => cause.to_string(),
        other => other.message("-"),
    }
}

/// The environment as text. Bytes that are not UTF-8 become a character that no setting may contain.
fn environment() -> impl Iterator<Item = (String, String)> {
    let text = |text: OsString| text.to_string_lossy().into_owned();
    std::env::vars_os().map(move |(name, value)| (text(name), text(value)))
}

/// The commands and their arguments.
pub fn command(app: &App) -> Command {
    let format = Arg::new("format")
        .long("format")
        .value_parser(["text", "json"])
        .default_value("text")
        .help("Format of the list");
    let required = |name: &'static str, help: &'static str| Arg::new(name).long(name).required(true).help(help);
    let migrate = Command::new("migrate")
        .about("Apply or undo database migrations; without a command, apply all pending ones")
        .arg(format.clone().global(true))
        .subcommand(Command::new("up").about("Apply all pending migrations (the default)"))
        .subcommand(Command::new("status").about("List the migrations and whether each is applied"))
        .subcommand(
            Command::new("down").about("Undo the last applied migrations").arg(
                Arg::new("steps")
                    .long("steps")
                    .default_value("1")
                    .value_parser(clap::value_parser!(u32))
                    .help("Number of migrations to undo"),
            ),
        );
    let user = Command::new("user")
        .about("Create users, set their passwords and invite them")
        .subcommand_required(true)
        .subcommand(
            Command::new("create")
                .about("Create a user")
                .arg(required("email", "E-mail address of the user"))
                .arg(required("name", "Name of the user"))
                .arg(Arg::new("admin").long("admin").action(ArgAction::SetTrue).help("Make the user an administrator"))
                .arg(
                    Arg::new("role")
                        .long("role")
                        .action(ArgAction::Append)
                        .help("Name of a role of the user; may be repeated"),
                ),
        )
        .subcommand(
            Command::new("password")
                .about("Set the password of a user, read as one line from standard input, and end the user's sessions")
                .arg(Arg::new("email").required(true).help("E-mail address of the user")),
        )
        .subcommand(
            Command::new("invite")
                .about("Print a link with which a user sets a password; it can be used once, within a week")
                .arg(Arg::new("email").required(true).help("E-mail address of the user")),
        );
    let token = Command::new("token")
        .about("Create, list and revoke API tokens")
        .subcommand_required(true)
        .subcommand(
            Command::new("create")
                .about("Create a token and print nothing but the token")
                .arg(required("user", "E-mail address of the token's user"))
                .arg(required("name", "Purpose of the token"))
                .arg(
                    Arg::new("ability")
                        .long("ability")
                        .action(ArgAction::Append)
                        .required(true)
                        .help("Ability such as users:read, or * for all; may be repeated"),
                )
                .arg(
                    Arg::new("expires-at")
                        .long("expires-at")
                        .help("Time of expiry in RFC 3339 format; without it the token does not expire"),
                ),
        )
        .subcommand(Command::new("list").about("List the tokens, without their secrets").arg(format.clone()))
        .subcommand(
            Command::new("revoke")
                .about("Revoke a token")
                .arg(Arg::new("id").required(true).value_parser(clap::value_parser!(i64)).help("Id of the token")),
        );
    let mut command = Command::new(app.name)
        .about("Serve the API and the admin panel; without a command, the same as `serve`")
        .version(env!("CARGO_PKG_VERSION"))
        .args(SETTINGS.iter().map(Setting::argument))
        .subcommand(Command::new("serve").about("Apply pending migrations, insert missing seed data, and serve"))
        .subcommands([migrate, user, token, webhook_listen::command()])
        .subcommands([explain_access::command(format.clone()), doctor::command(format.clone()), from_db::command()])
        .subcommands([mail::command(), import::command(format.clone()), health::command(), texts::command()])
        .subcommand(
            Command::new("recount")
                .about("Rebuild record counts and search indexes, after rows were loaded with triggers disabled")
                .arg(Arg::new("resource").help("Plural name of a resource; without it, all are rebuilt"))
                .arg(format.clone()),
        )
        .subcommand(
            Command::new("routes")
                .about("List all routes with the abilities and permissions that they require")
                .arg(format.clone()),
        )
        .subcommand(openapi::command(format.clone().default_value("json")));
    if let Some(sample) = app.demo {
        let mut demo = Command::new("demo").about("Add realistic sample data; a second run adds only missing records");
        for (resource, default) in sample.counts {
            let help = format!("Number of {resource} [default: {default}]");
            demo = demo.arg(Arg::new(*resource).long(*resource).value_parser(clap::value_parser!(u64)).help(help));
        }
        demo = demo.arg(format);
        command = command.subcommand(
            Command::new("seed").about("Fill the database with sample data").subcommand_required(true).subcommand(demo),
        );
    }
    command
}

async fn run(app: App, mut config: Config, matches: &ArgMatches) -> Result<()> {
    config.prepare()?;
    let command = match matches.subcommand() {
        None | Some(("serve", _)) => return serve::serve(&app, config).await,
        Some(command) => command,
    };
    // Only the server has a statement timeout, and waits for the database.
    let state = app.open_with(config, None, Duration::ZERO).await?;
    let done = dispatch(&app, &state, command).await;
    state.db.close().await;
    done
}

async fn dispatch(app: &App, state: &Arc<ServerState>, command: (&str, &ArgMatches)) -> Result<()> {
    match command {
        ("migrate", matches) => migrate::run(app, state, matches).await,
        ("routes", matches) => serve::routes(state, matches),
        ("openapi", matches) => openapi::run(state, matches),
        ("texts", matches) => texts::run(state, matches),
        ("doctor", matches) => doctor::run(app, state, matches).await,
        ("from-db", matches) => from_db::run(state, matches).await,
        ("mail", matches) => match matches.subcommand() {
            Some((_, matches)) => mail::test(state, matches).await,
            None => Err(Error::internal("no such command")),
        },
        (name, matches) => {
            app.prepare(state).await?;
            match (name, matches.subcommand()) {
                ("user", Some(("create", matches))) => account::create_user(state, matches).await,
                ("user", Some(("password", matches))) => account::set_password(state, matches).await,
                ("user", Some(("invite", matches))) => account::invite(state, matches).await,
                ("token", Some(("create", matches))) => account::create_token(state, matches).await,
                ("token", Some(("list", matches))) => account::list_tokens(state, matches).await,
                ("token", Some(("revoke", matches))) => account::revoke_token(state, matches).await,
                ("can", _) => explain_access::run(state, matches).await,
                ("import", _) => import::run(state, matches).await,
                ("recount", _) => serve::recount(state, matches).await,
                ("seed", Some(("demo", matches))) => match &app.demo {
                    Some(sample) => serve::demo(sample, state, matches).await,
                    None => Ok(()),
                },
                _ => Err(Error::internal("no such command")),
            }
        }
    }
}
