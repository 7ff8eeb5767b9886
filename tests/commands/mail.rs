//! `charter mail test` and the settings of mail: TLS, users, and failures in plain words.

use std::process::Command;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use charter_testing::needs_smtp;
use charter_testing::postgres::free_port;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use super::blocking;
use crate::support::program::{CommandOutput, Program, Serving};
use crate::support::{Database, Smtp};

const PASSWORD: &str = "hush-hush";

/// A mail server with a certificate for `localhost` in files, and the authority that issued it.
struct Certified {
    certificate: String,
    key: String,
    authority: String,
}

impl Certified {
    fn new(program: &Program) -> Certified {
        let authority_key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = params.self_signed(&authority_key).expect("a certificate");
        let issuer = Issuer::new(params, authority_key);
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(vec!["localhost".to_string()]).expect("a name");
        let certificate = params.signed_by(&key, &issuer).expect("a certificate");
        let write = |name: &str, text: String| {
            let path = program.path().join(name);
            std::fs::write(&path, text).expect("the folder can be written");
            path.display().to_string()
        };
        Certified {
            certificate: write("certificate.pem", pem("CERTIFICATE", certificate.der())),
            key: write("key.pem", pem("PRIVATE KEY", &key.serialize_der())),
            authority: write("authority.pem", pem("CERTIFICATE", authority.der())),
        }
    }

    fn serve(&self, more: &[&str]) -> Smtp {
        let user = ["--user", "ada@example.com", "--password", PASSWORD];
        Smtp::with(&[&["--certificate", &self.certificate, "--key", &self.key], &user[..], more].concat())
    }
}

/// Bytes in the textual encoding of RFC 7468.
fn pem(label: &str, bytes: &[u8]) -> String {
    let text = BASE64_STANDARD.encode(bytes);
    let lines: Vec<&str> = text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).expect("Base64")).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

/// Runs `charter mail test` with this URL. `roots` is a file of trusted certificates.
fn test_mail(program: &Program, url: &str, roots: Option<&str>) -> CommandOutput {
    let mut command = program.command(&["mail", "test", "eve@example.com"]);
    command.env("CHARTER_SMTP_URL", url).env("CHARTER_MAIL_FROM", "Charter <charter@example.com>");
    if let Some(roots) = roots {
        command.env("SSL_CERT_FILE", roots);
    }
    run(command)
}

fn run(mut command: Command) -> CommandOutput {
    let output = command.output().expect("the program runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    let code = output.status.code().unwrap_or(-1);
    let output = CommandOutput { code, out: text(output.stdout), err: text(output.stderr) };
    assert!(!format!("{output:?}").contains(PASSWORD), "{output:?}");
    output
}

needs_smtp! {
    #[test]
    fn mail_is_sent_with_tls_and_a_password() {
        let program = Program::new(Database::Sqlite);
        let certified = Certified::new(&program);
        for (scheme, more) in [("smtp", &[][..]), ("smtps", &["--implicit"])] {
            let smtp = certified.serve(more);
            let url = format!("{scheme}://ada%40example.com:{PASSWORD}@localhost:{}", smtp.port);
            let query = if scheme == "smtp" { "?tls=required" } else { "" };
            let sent = test_mail(&program, &format!("{url}{query}"), Some(&certified.authority));
            let expected = "Sent to eve@example.com. The mail server answered: 250 2.0.0 queued\n";
            assert_eq!((sent.code, sent.out.as_str()), (0, expected), "{sent:?}");
            let mail = blocking(smtp.mail(1));
            assert!(mail.is_encrypted && mail.is_authenticated, "{mail:?}");
            assert_eq!((mail.recipients, mail.text.contains("can send mail")), (vec!["eve@example.com".into()], true));
            let wrong = test_mail(&program, &format!("{}{query}", url.replace(PASSWORD, "wrong")), Some(&certified.authority));
            assert!(wrong.code == 1 && wrong.err.contains("the mail server answered 535"), "{wrong:?}");
            // The system does not know the authority.
            let untrusted = test_mail(&program, &format!("{url}{query}"), None);
            let said = "the connection to the mail server failed: invalid peer certificate: UnknownIssuer";
            assert!(untrusted.code == 1 && untrusted.err.contains(said), "{untrusted:?}");
            assert_eq!(smtp.received().len(), 1);
        }
    }
}

needs_smtp! {
    #[test]
    fn server_without_starttls_gets_no_mail_if_it_is_required() {
        let program = Program::new(Database::Sqlite);
        let smtp = Smtp::start();
        let url = format!("smtp://localhost:{}", smtp.port);
        let refused = test_mail(&program, &format!("{url}?tls=required"), None);
        assert!(refused.code == 1 && refused.err.contains("STARTTLS is not supported on this server"), "{refused:?}");
        assert_eq!(smtp.received().len(), 0);
        let sent = test_mail(&program, &format!("{url}?tls=opportunistic"), None);
        assert_eq!(sent.code, 0, "{sent:?}");
        assert!(!blocking(smtp.mail(1)).is_encrypted);
        // A password is sent to a server on this machine without TLS.
        let url = format!("smtp://ada:{PASSWORD}@localhost:{}", smtp.port);
        let refused = test_mail(&program, &url, None);
        assert!(refused.code == 1 && refused.err.contains("the mail server answered 535"), "{refused:?}");
    }
}

needs_smtp! {
    #[test]
    fn start_logs_the_host_of_the_mail_server_alone() {
        let program = Program::new(Database::Sqlite);
        let mut command = program.command(&["--mail-from", "charter@example.com"]);
        command.env("CHARTER_SMTP_URL", format!("smtps://ada:{PASSWORD}@mail.example.com:465"));
        let serving = Serving::start(command, "More tokens:");
        serving.signal("TERM");
        let ended = serving.end();
        assert!(ended.err.contains("mail is sent by SMTP") && ended.err.contains("mail.example.com"), "{ended:?}");
        assert!(ended.err.contains("set `base-url`") && !ended.err.contains(PASSWORD), "{ended:?}");
    }
}

needs_smtp! {
    #[test]
    fn invite_command_prints_the_link_and_sends_nothing() {
        let program = Program::new(Database::Sqlite);
        program.done(&["user", "create", "--email", "ada@example.com", "--name", "Ada"]);
        let smtp = Smtp::start();
        let url = format!("smtp://localhost:{}", smtp.port);
        let said = program.run(&["user", "invite", "ada@example.com", "--smtp-url", &url, "--mail-from", "a@example.com"]);
        assert!(said.code == 0 && said.out.contains("/panel/invitation/"), "{said:?}");
        assert_eq!(smtp.received().len(), 0);
    }
}

#[test]
fn mail_that_cannot_be_sent_is_an_error_in_plain_words() {
    let program = Program::new(Database::Sqlite);
    let said = run(program.command(&["mail", "test", "eve@example.com"]));
    let expected = "no mail server is set: set CHARTER_SMTP_URL and CHARTER_MAIL_FROM\n";
    assert_eq!((said.code, said.err.as_str()), (1, expected));
    let down = test_mail(&program, &format!("smtp://127.0.0.1:{}", free_port()), None);
    let expected = "the mail could not be sent: the connection to the mail server failed: Connection refused";
    assert!(down.code == 1 && down.err.starts_with(expected), "{down:?}");
    assert_eq!(run(program.command(&["mail"])).code, 2);
}

#[test]
fn invalid_settings_of_mail_stop_the_start_without_showing_the_password() {
    let program = Program::new(Database::Sqlite);
    for (url, from, expected) in [
        (
            "smtp://ada:hush-hush@mail.example.com",
            "",
            "CHARTER_MAIL_FROM must be set, because CHARTER_SMTP_URL is set\n",
        ),
        ("", "charter@example.com", "CHARTER_MAIL_FROM is set, but CHARTER_SMTP_URL is not\n"),
        ("smtp://ada:hush-hush@mail:x", "charter@example.com", "CHARTER_SMTP_URL must be a URL such as"),
        ("smtp://ada:hush-hush@mail?tls=none", "charter@example.com", "CHARTER_SMTP_URL must not send a password"),
    ] {
        let mut command = program.command(&["serve"]);
        command.env("CHARTER_SMTP_URL", url).env("CHARTER_MAIL_FROM", from);
        let said = run(command);
        assert!(said.code == 2 && said.err.starts_with(expected), "{said:?}");
    }
}
