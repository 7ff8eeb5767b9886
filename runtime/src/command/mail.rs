//! Command `mail test`: sends a mail and prints the answer of the mail server.

use std::sync::Arc;

use clap::{Arg, ArgMatches, Command};

use super::output;
use crate::server::ServerState;
use charter_core::error::{Error, Result};
use charter_platform::mail::{Kind, Mail, Mailer};

pub(super) fn command() -> Command {
    let address = Arg::new("address").required(true).help("Address of the recipient");
    Command::new("mail")
        .about("Test the settings of mail")
        .subcommand_required(true)
        .subcommand(Command::new("test").about("Send a test mail and print the answer of the mail server").arg(address))
}

pub(super) async fn test(state: &Arc<ServerState>, matches: &ArgMatches) -> Result<()> {
    let mailer = state.extension::<Mailer>()?;
    if !mailer.is_on() {
        return Err(Error::internal("no mail server is set: set CHARTER_SMTP_URL and CHARTER_MAIL_FROM"));
    }
    let address = matches.get_one::<String>("address").cloned().unwrap_or_default();
    let app = state.name_for_people();
    let text = format!("This is a test. {app} at {} can send mail.\n", state.base_url());
    let subject = format!("Test mail from {app}");
    let mail = Mail { kind: Kind::Test, name: String::new(), email: address.clone(), subject, text, secret: None };
    let answer = mailer.send(&mail).await;
    let answer = answer.map_err(|reason| Error::internal(format!("the mail could not be sent: {reason}")))?;
    output::line(&format!("Sent to {address}. The mail server answered: {answer}"))
}
