//! Flash message: what the last request did, shown once on the next page.

use salvo::http::header::HeaderMap;

use super::cookie;
use crate::panel::redirect;
use crate::server::Response;

/// The known messages. The cookie holds a code and no text, so that nobody can make a page show other words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flash {
    Created,
    Saved,
    Merged,
    Deleted,
    Restored,
    Done,
    Stale,
}

/// Each message with its code in the cookie and its text.
const ALL: [(Flash, &str, &str); 7] = [
    (Flash::Created, "created", "Created"),
    (Flash::Saved, "saved", "Saved"),
    (Flash::Merged, "merged", "Saved. The changes that somebody else made meanwhile were kept."),
    (Flash::Deleted, "deleted", "Deleted"),
    (Flash::Restored, "restored", "Restored"),
    (Flash::Done, "done", "Done"),
    (
        Flash::Stale,
        "stale",
        "Nothing was done, because you signed in again after this page was loaded. Press the button again.",
    ),
];

impl Flash {
    pub(crate) fn from_cookie(headers: &HeaderMap) -> Option<Flash> {
        let code = cookie::read_flash(headers)?;
        ALL.iter().find(|(_, known, _)| *known == code).map(|(flash, ..)| *flash)
    }

    fn row(self) -> &'static (Flash, &'static str, &'static str) {
        ALL.iter().find(|(flash, ..)| *flash == self).unwrap_or(&ALL[0])
    }

    pub(crate) fn text(self) -> &'static str {
        self.row().2
    }

    /// Redirects to a page that shows the message.
    pub(crate) fn redirect(self, path: &str) -> Response {
        self.add_to(redirect(path))
    }

    /// Adds the cookie to a redirect.
    pub(crate) fn add_to(self, answer: Response) -> Response {
        answer.with_text(cookie::SET_COOKIE, &cookie::set_flash(self.row().1))
    }
}
