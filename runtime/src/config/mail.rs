//! The settings of mail: `smtp-url` and `mail-from`.

use percent_encoding::percent_decode_str;
use url::Url;

use super::Problems;
use charter_platform::mail::{Encryption, Sender, SmtpConfig};

/// Ports of mail without and with STARTTLS (RFC 5321, RFC 6409), and of TLS from the first byte (RFC 8314).
const PORT: u16 = 25;
const STARTTLS_PORT: u16 = 587;
const TLS_PORT: u16 = 465;

const EXAMPLE: &str = "must be a URL such as smtp://user:password@mail.example.com:587 or smtps://mail.example.com, with %40 for an @ in the user name or password";

/// Reads both settings; `value` returns the value of a setting. Error messages never repeat a value, which may have a
/// password.
pub(super) fn smtp_config(value: &dyn Fn(&str) -> Option<String>, problems: &mut Problems<'_>) -> Option<SmtpConfig> {
    let (url, from) = (value("smtp-url"), value("mail-from"));
    let Some(url) = url else {
        if from.is_some() {
            let other = problems.named("smtp-url");
            problems.add("mail-from", format!("is set, but {other} is not"));
        }
        return None;
    };
    let sender = match from {
        None => {
            let other = problems.named("smtp-url");
            problems.add("mail-from", format!("must be set, because {other} is set"));
            None
        }
        Some(from) => {
            let sender = Sender::parse(&from);
            if sender.is_none() {
                problems.add(
                    "mail-from",
                    "must be an address such as charter@example.com or Charter <charter@example.com>",
                );
            }
            sender
        }
    };
    match server(&url) {
        Ok((host, port, encryption, credentials)) => {
            Some(SmtpConfig { host, port, encryption, credentials, sender: sender? })
        }
        Err(problem) => {
            problems.add("smtp-url", problem);
            None
        }
    }
}

type Server = (String, u16, Encryption, Option<(String, String)>);

fn server(text: &str) -> Result<Server, &'static str> {
    let url = Url::parse(text).map_err(|_| EXAMPLE)?;
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let is_host = !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte));
    if !is_host || !matches!(url.path(), "" | "/") || url.fragment().is_some() {
        return Err(EXAMPLE);
    }
    let credentials = match (url.username(), url.password()) {
        ("", None) => None,
        ("", Some(_)) | (_, None) => return Err("must have both a user name and a password, or neither"),
        (user, Some(password)) => Some((decoded(user)?, decoded(password)?)),
    };
    let mut parameters = url.query_pairs();
    let tls = parameters.next();
    if parameters.next().is_some() {
        return Err(TLS_PARAMETER);
    }
    let tls = tls.as_ref().map(|(name, value)| (name.as_ref(), value.as_ref()));
    let is_local = SmtpConfig::is_loopback(host);
    let encryption = match (url.scheme(), tls) {
        ("smtps", None) => Encryption::Implicit,
        ("smtp", Some(("tls", "required"))) => Encryption::Required,
        ("smtp", Some(("tls", "opportunistic"))) => Encryption::Opportunistic,
        ("smtp", Some(("tls", "none"))) => Encryption::None,
        ("smtp", None) if is_local => Encryption::None,
        ("smtp", None) if credentials.is_some() => Encryption::Required,
        ("smtp", None) => Encryption::Opportunistic,
        ("smtp" | "smtps", Some(_)) => return Err(TLS_PARAMETER),
        _ => return Err(EXAMPLE),
    };
    let is_protected = matches!(encryption, Encryption::Required | Encryption::Implicit);
    if credentials.is_some() && !is_local && !is_protected {
        return Err("must not send a password without TLS to another machine: leave out `tls`");
    }
    let port = url.port().unwrap_or(match encryption {
        Encryption::Implicit => TLS_PORT,
        _ if credentials.is_some() => STARTTLS_PORT,
        _ => PORT,
    });
    Ok((host.to_string(), port, encryption, credentials))
}

const TLS_PARAMETER: &str = "has an unknown parameter: smtp:// takes `tls=required`, `tls=opportunistic` or `tls=none`";

fn decoded(text: &str) -> Result<String, &'static str> {
    let text = percent_decode_str(text).decode_utf8().map_err(|_| EXAMPLE)?;
    // SMTP sends them in one line of a command.
    if text.chars().any(char::is_control) { Err(EXAMPLE) } else { Ok(text.into_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(settings: &[(&str, &str)]) -> (Option<SmtpConfig>, String) {
        let value = |flag: &str| settings.iter().find(|(name, _)| *name == flag).map(|(_, value)| value.to_string());
        let mut problems = Problems::default();
        let config = smtp_config(&value, &mut problems);
        (config, problems.into_result().err().unwrap_or_default())
    }

    fn with_url(url: &str) -> (Option<SmtpConfig>, String) {
        read(&[("smtp-url", url), ("mail-from", "Charter <charter@example.com>")])
    }

    #[test]
    fn url_has_host_port_protection_and_credentials() {
        let ada = Some(("ada@x", "hush/:"));
        for (url, host, port, encryption, credentials) in [
            ("smtp://localhost", "localhost", 25, Encryption::None, None),
            ("smtp://127.0.0.1:2525", "127.0.0.1", 2525, Encryption::None, None),
            ("smtp://[::1]:2525/", "::1", 2525, Encryption::None, None),
            ("smtp://ada%40x:hush%2F%3A@localhost:25", "localhost", 25, Encryption::None, ada),
            ("smtp://relay", "relay", 25, Encryption::Opportunistic, None),
            ("smtp://relay?tls=none", "relay", 25, Encryption::None, None),
            ("smtp://relay:25?tls=required", "relay", 25, Encryption::Required, None),
            ("smtp://ada%40x:hush%2F%3A@mail.example.com", "mail.example.com", 587, Encryption::Required, ada),
            ("smtps://ada%40x:hush%2F%3A@mail.example.com", "mail.example.com", 465, Encryption::Implicit, ada),
        ] {
            let (config, problems) = with_url(url);
            let config = config.unwrap_or_else(|| panic!("{url}: {problems}"));
            let sent = config.credentials.as_ref().map(|(user, password)| (user.as_str(), password.as_str()));
            let read = (config.host.as_str(), config.port, config.encryption, sent);
            assert_eq!((read, problems.as_str()), ((host, port, encryption, credentials), ""), "{url}");
            assert!(!format!("{config:?}").contains("hush"));
        }
    }

    #[test]
    fn invalid_url_is_named_without_its_password() {
        for url in [
            "mail.example.com:25",
            "smtp://",
            "smtp:ada:hush@mail.example.com",
            "http://ada:hush@mail.example.com",
            "smtp://ada:hush@mail.example.com:port",
            "smtp://ada:hu@sh@mail.example.com/path",
            "smtp://ada:hush@mail.example.com#a",
            "smtp://ada:hush%0A@mail.example.com",
            "smtp://ada:hush@mail example.com",
            "smtp://ada@mail.example.com",
            "smtp://:hush@mail.example.com",
            "smtp://ada:hush@mail.example.com?tls=hush",
            "smtp://ada:hush@mail.example.com?tls=none",
            "smtp://ada:hush@mail.example.com?tls=opportunistic",
            "smtp://mail.example.com?tls=none&a=b",
            "smtps://mail.example.com?tls=none",
        ] {
            let (config, problems) = with_url(url);
            assert!(config.is_none() && problems.starts_with("CHARTER_SMTP_URL "), "{url}: {problems}");
            assert!(!problems.contains("hush") && !problems.contains('\n'), "{url}: {problems}");
        }
    }

    #[test]
    fn either_setting_needs_the_other() {
        assert_eq!(read(&[]), (None, String::new()));
        let expected = "CHARTER_MAIL_FROM must be set, because CHARTER_SMTP_URL is set";
        assert_eq!(read(&[("smtp-url", "smtp://localhost")]), (None, expected.into()));
        let expected = "CHARTER_MAIL_FROM is set, but CHARTER_SMTP_URL is not";
        assert_eq!(read(&[("mail-from", "a@example.com")]), (None, expected.into()));
        let (config, problems) = read(&[("smtp-url", "smtp://localhost"), ("mail-from", "Charter")]);
        assert!(config.is_none() && problems.starts_with("CHARTER_MAIL_FROM must be an address"), "{problems}");
    }
}
