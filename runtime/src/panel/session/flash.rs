//! Flash message: what the last request did, shown once on the next page.

use salvo::http::header::HeaderMap;

use super::cookie;
use crate::language::text;
use crate::panel::redirect;
use crate::server::Response;

/// The known messages. The cookie holds a code and no text, so that nobody can make a page show other words. A sealed
/// offer to undo the request may follow the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flash {
    Created,
    Saved,
    Merged,
    Deleted,
    Restored,
    Undone,
    Done,
    Stale,
}

/// Each message with its code in the cookie.
const ALL: [(Flash, &str); 8] = [
    (Flash::Created, "created"),
    (Flash::Saved, "saved"),
    (Flash::Merged, "merged"),
    (Flash::Deleted, "deleted"),
    (Flash::Restored, "restored"),
    (Flash::Undone, "undone"),
    (Flash::Done, "done"),
    (Flash::Stale, "stale"),
];

/// Between the code and a sealed offer, which is hexadecimal.
const OFFER_SEPARATOR: char = '.';

impl Flash {
    /// The message, and the sealed offer after it.
    pub(crate) fn from_cookie(headers: &HeaderMap) -> Option<(Flash, Option<String>)> {
        let value = cookie::read_flash(headers)?;
        let (code, offer) =
            value.split_once(OFFER_SEPARATOR).map_or((value.as_str(), None), |(code, offer)| (code, Some(offer)));
        let (flash, _) = ALL.iter().find(|(_, known)| *known == code)?;
        Some((*flash, offer.map(String::from)))
    }

    fn code(self) -> &'static str {
        ALL.iter().find(|(flash, _)| *flash == self).unwrap_or(&ALL[0]).1
    }

    pub(crate) fn text(self) -> String {
        match self {
            Flash::Created => text!("Created"),
            Flash::Saved => text!("Saved"),
            Flash::Merged => text!("Saved. The changes that somebody else made meanwhile were kept."),
            Flash::Deleted => text!("Deleted"),
            Flash::Restored => text!("Restored"),
            Flash::Undone => text!("Undone"),
            Flash::Done => text!("Done"),
            Flash::Stale => text!(
                "Nothing was done, because you signed in again after this page was loaded. Press the button again."
            ),
        }
    }

    /// Redirects to a page that shows the message.
    pub(crate) fn redirect(self, path: &str) -> Response {
        self.add_to(redirect(path))
    }

    /// Redirects to a page that shows the message, and a button with a sealed offer to undo the request.
    pub(crate) fn redirect_with_undo(self, path: &str, offer: &str) -> Response {
        let value = format!("{}{OFFER_SEPARATOR}{offer}", self.code());
        redirect(path).with_text(cookie::SET_COOKIE, &cookie::set_flash(&value))
    }

    /// Adds the cookie to a redirect.
    pub(crate) fn add_to(self, answer: Response) -> Response {
        answer.with_text(cookie::SET_COOKIE, &cookie::set_flash(self.code()))
    }
}
