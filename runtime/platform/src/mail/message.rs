//! Messages: plain text from one sender to one recipient.

use lettre::Message;
use lettre::message::header::{ContentType, HeaderName, HeaderValue, MIME_VERSION_1_0};
use lettre::message::{Mailbox, MessageBuilder};

use super::Kind;
use charter_core::error::{Error, Result};
use charter_model::invisible::{is_bidi_control, is_separator};

/// A mail to a user. It has no `Debug`, which keeps its link out of logs.
pub struct Mail {
    pub kind: Kind,
    pub name: String,
    pub email: String,
    pub subject: String,
    pub text: String,
    /// The secret of the link in the text, which an answer of the mail server may quote.
    pub secret: Option<String>,
}

/// The sender of all mails: an address, with or without a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sender(Mailbox);

impl Sender {
    /// Parses `Charter <charter@example.com>` or the address alone.
    pub fn parse(text: &str) -> Option<Sender> {
        text.parse().ok().map(Sender)
    }
}

impl Mail {
    /// The message in the form of RFC 5322. Names are encoded, which makes header injection impossible.
    pub(super) fn message(&self, sender: &Sender) -> Result<Message, String> {
        let address = self.email.parse().map_err(|_| "the address of the user is not valid for mail".to_string())?;
        let name = one_line(&self.name);
        let recipient = Mailbox::new(Some(name).filter(|name| !name.is_empty()), address);
        let id = message_id(sender).map_err(|error| error.to_string())?;
        let message = Message::builder()
            .from(sender.0.clone())
            .to(recipient)
            .subject(one_line(&self.subject))
            .message_id(Some(id))
            .header(MIME_VERSION_1_0)
            .header(ContentType::TEXT_PLAIN);
        // Out-of-office programs do not answer such mail (RFC 3834, section 5).
        automatic(message).body(self.text.clone()).map_err(|error| format!("the mail could not be written: {error}"))
    }
}

fn automatic(message: MessageBuilder) -> MessageBuilder {
    let name = HeaderName::new_from_ascii_str("Auto-Submitted");
    message.raw_header(HeaderValue::new(name, "auto-generated".into()))
}

fn message_id(sender: &Sender) -> Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(Error::internal)?;
    Ok(format!("<{}@{}>", hex::encode(bytes), sender.0.email.domain()))
}

/// A text without line breaks and other control characters, and without those that reorder the text around it.
pub(crate) fn one_line(text: &str) -> String {
    let kept = text.chars().filter(|c| !is_bidi_control(*c));
    let plain: String = kept.map(|c| if c.is_control() || is_separator(c) { ' ' } else { c }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(name: &str, subject: &str) -> String {
        let mail = Mail {
            kind: Kind::Invitation,
            name: name.into(),
            email: "ada@example.com".into(),
            subject: subject.into(),
            text: "Hello,\n\nhttp://localhost/panel/invitation/abc\n".into(),
            secret: None,
        };
        let sender = Sender::parse("Charter <charter@example.com>").expect("a sender");
        String::from_utf8(mail.message(&sender).expect("a message").formatted()).expect("ASCII")
    }

    #[test]
    fn names_and_subjects_cannot_add_headers() {
        for name in [
            "Ada\r\nBcc: eve@example.com",
            "Ada\nBcc: eve@example.com",
            "Ada\rBcc: eve@example.com",
            "\"<a>\" é\r\n\r\nHi",
        ] {
            let text = written(name, name);
            let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
            let names: Vec<&str> = head
                .split("\r\n")
                .filter(|line| !line.starts_with([' ', '\t']))
                .map(|line| line.split(':').next().expect("a name"))
                .collect();
            let mut sorted = names.clone();
            sorted.sort_unstable();
            let expected = [
                "Auto-Submitted",
                "Content-Transfer-Encoding",
                "Content-Type",
                "Date",
                "From",
                "MIME-Version",
                "Message-ID",
                "Subject",
                "To",
            ];
            assert_eq!(sorted, expected, "{text}");
            assert!(body.starts_with("Hello,") && !head.contains(['\u{e9}']), "{text}");
        }
    }

    #[test]
    fn line_has_no_breaks_and_no_direction_marks() {
        assert_eq!(one_line("Ada\u{202e}evil\u{2028}\r\n x می\u{200c}خواهم"), "Adaevil x می\u{200c}خواهم");
    }

    #[test]
    fn sender_is_an_address_with_or_without_a_name() {
        for valid in ["a@example.com", "Charter <a@example.com>", "\"Charter, Inc.\" <a@example.com>"] {
            assert!(Sender::parse(valid).is_some(), "{valid}");
        }
        for invalid in ["", "a", "Charter", "<a@example.com", "a@example.com\r\nBcc: b@example.com", "a@b@c"] {
            assert!(Sender::parse(invalid).is_none(), "{invalid}");
        }
    }
}
