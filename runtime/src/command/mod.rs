//! The server command that every application has: serve, migrate, user, token, webhook, can, doctor, from-db, recount,
//! routes, openapi, seed.

mod account;
mod can;
mod columns;
mod doctor;
mod first_start;
mod from_db;
mod indexes;
mod listen;
pub(crate) mod log;
mod migrate;
mod openapi;
mod output;
mod serve;
mod words;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::app::App;
use crate::config::{Config, SETTINGS, Setting};
use crate::context::State;
use crate::error::{Error, Result};

/// Exit codes are a contract: 0 done, 1 failed, 2 wrong usage (which clap answers by itself).
const FAILED: u8 = 1;
const WRONG_USAGE: u8 = 2;

impl App {
    /// Runs the command line of the process.
    pub fn main(self) -> ExitCode {
        let matches = command(&self).get_matches();
        // It is no part of the service: no setting applies to it, and it needs neither a database nor a data folder.
        if let Some(("webhook", matches)) = matches.subcommand()
            && let Some(("listen", matches)) = matches.subcommand()
        {
            return to_the_end(listen::run(matches), 1, false);
        }
        let config = match Config::read(&matches, environment()) {
            Ok(config) => config,
            Err(problems) => {
                eprintln!("{problems}");
                return ExitCode::from(WRONG_USAGE);
            }
        };
        log::init(&config);
        // Whoever reads the log of a server reads its end there too.
        let logged = config.log_json && matches!(matches.subcommand(), None | Some(("serve", _)));
        let threads = config.threads;
        to_the_end(run(self, config, &matches), threads, logged)
    }
}

/// Runs a command, and tells of its failure on standard error, or in the log that is there.
fn to_the_end(command: impl Future<Output = Result<()>>, threads: usize, logged: bool) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("the runtime did not start: {error}");
            return ExitCode::from(FAILED);
        }
    };
    match runtime.block_on(command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if logged && tracing::enabled!(tracing::Level::ERROR) {
                tracing::error!(cause = told(&error), "the server ended");
            } else {
                // Where standard error is gone too the code tells alone.
                let _ = writeln!(std::io::stderr(), "{}", told(&error));
            }
            ExitCode::from(FAILED)
        }
    }
}

/// An operator is told the cause, and not its code.
fn told(error: &Error) -> String {
    match error {
        Error::Internal(cause) => cause.to_string(),
        other => other.message("-"),
    }
}

/// The environment as text; what is not UTF-8 of a name or a value is a character that no setting may have.
fn environment() -> impl Iterator<Item = (String, String)> {
    let text = |given: OsString| given.to_string_lossy().into_owned();
    std::env::vars_os().map(move |(name, value)| (text(name), text(value)))
}

/// The grammar of the command line.
pub fn command(app: &App) -> Command {
    let format = Arg::new("format")
        .long("format")
        .value_parser(["text", "json"])
        .default_value("text")
        .help("How the list is written");
    let required = |name: &'static str, help: &'static str| Arg::new(name).long(name).required(true).help(help);
    let migrate = Command::new("migrate")
        .about("Bring the tables up to date")
        .subcommand(Command::new("up").about("Apply every migration that is not applied (the default)"))
        .subcommand(Command::new("status").about("Tell which migrations are applied").arg(format.clone()))
        .subcommand(Command::new("down").about("Undo migrations").arg(
            Arg::new("steps").long("steps").default_value("1").value_parser(clap::value_parser!(u32)).help("How many"),
        ));
    let user = Command::new("user")
        .about("Users")
        .subcommand_required(true)
        .subcommand(
            Command::new("create")
                .about("Create a user")
                .arg(required("email", "The address"))
                .arg(required("name", "The name"))
                .arg(Arg::new("admin").long("admin").action(ArgAction::SetTrue).help("Make an administrator"))
                .arg(Arg::new("role").long("role").action(ArgAction::Append).help("A role's name; may be repeated")),
        )
        .subcommand(
            Command::new("password")
                .about("Set the password of a user, read as one line from standard input, and end the user's sessions")
                .arg(Arg::new("email").required(true).help("The address")),
        )
        .subcommand(
            Command::new("invite")
                .about("Print a link by which a user sets a password: it works once, and for a week")
                .arg(Arg::new("email").required(true).help("The address")),
        );
    let token = Command::new("token")
        .about("Tokens")
        .subcommand_required(true)
        .subcommand(
            Command::new("create")
                .about("Create a token and print it, alone, on standard output")
                .arg(required("user", "The user's e-mail address"))
                .arg(required("name", "What the token is for"))
                .arg(
                    Arg::new("ability")
                        .long("ability")
                        .action(ArgAction::Append)
                        .required(true)
                        .help("For example users:read, or * for all; may be repeated"),
                )
                .arg(
                    Arg::new("expires-at")
                        .long("expires-at")
                        .help("An RFC 3339 time; without it the token does not expire"),
                ),
        )
        .subcommand(Command::new("list").about("List the tokens, without their secrets").arg(format.clone()))
        .subcommand(
            Command::new("revoke")
                .about("Revoke a token")
                .arg(Arg::new("id").required(true).value_parser(clap::value_parser!(i64))),
        );
    let mut command = Command::new(app.name)
        .about("Serves the API; `serve` is what it does without a command")
        .version(env!("CARGO_PKG_VERSION"))
        .args(SETTINGS.iter().map(Setting::argument))
        .subcommand(Command::new("serve").about("Migrate, seed the reference data, and serve"))
        .subcommands([migrate, user, token, listen::command()])
        .subcommands([can::command(format.clone()), doctor::command(format.clone()), from_db::command()])
        .subcommand(
            Command::new("recount")
                .about("Count the records again, and have what is searched indexed anew, after rows were loaded with the triggers off")
                .arg(Arg::new("resource").help("The plural name of one resource; without it all are counted"))
                .arg(format.clone()),
        )
        .subcommand(Command::new("routes").about("List every path with the ability that it needs").arg(format.clone()))
        .subcommand(
            Command::new("openapi").about("Print the OpenAPI description of the API").arg(format.default_value("json")),
        );
    if let Some(sample) = app.demo {
        let mut demo =
            Command::new("demo").about("Add realistic sample data; running it again adds only what is missing");
        for (resource, default) in sample.counts {
            let help = format!("How many {resource} there shall be [default: {default}]");
            demo = demo.arg(Arg::new(*resource).long(*resource).value_parser(clap::value_parser!(u64)).help(help));
        }
        command = command
            .subcommand(Command::new("seed").about("Fill the database").subcommand_required(true).subcommand(demo));
    }
    command
}

async fn run(app: App, mut config: Config, matches: &ArgMatches) -> Result<()> {
    config.prepare()?;
    // Who gave another command waits for its end.
    let state = match matches.subcommand() {
        None | Some(("serve", _)) => app.open(config).await?,
        _ => app.open_with(config, None).await?,
    };
    let done = dispatch(&app, &state, matches).await;
    state.db.close().await;
    done
}

async fn dispatch(app: &App, state: &Arc<State>, matches: &ArgMatches) -> Result<()> {
    match matches.subcommand() {
        None | Some(("serve", _)) => serve::serve(app, state).await,
        Some(("migrate", matches)) => migrate::run(app, state, matches).await,
        Some(("routes", matches)) => serve::routes(state, matches),
        Some(("openapi", _)) => openapi::run(state),
        Some(("doctor", matches)) => doctor::run(app, state, matches).await,
        Some(("from-db", matches)) => from_db::run(state, matches).await,
        Some((name, matches)) => {
            app.prepare(state).await?;
            match (name, matches.subcommand()) {
                ("user", Some(("create", matches))) => account::create_user(state, matches).await,
                ("user", Some(("password", matches))) => account::set_password(state, matches).await,
                ("user", Some(("invite", matches))) => account::invite(state, matches).await,
                ("token", Some(("create", matches))) => account::create_token(state, matches).await,
                ("token", Some(("list", matches))) => account::list_tokens(state, matches).await,
                ("token", Some(("revoke", matches))) => account::revoke_token(state, matches).await,
                ("can", _) => can::run(state, matches).await,
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
