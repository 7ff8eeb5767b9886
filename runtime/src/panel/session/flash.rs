//! What was done, said once on the page that comes next: a mark in a cookie, so that the page's address stays the API's.

use salvo::http::header::HeaderMap;

use super::{cookie, see};
use crate::server::Answer;

/// What can be said. The cookie has a word and not the text: nobody else's words are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    Created,
    Saved,
    Deleted,
    Restored,
    Done,
    Stale,
}

const ALL: [(Said, &str, &str); 6] = [
    (Said::Created, "created", "Created"),
    (Said::Saved, "saved", "Saved"),
    (Said::Deleted, "deleted", "Deleted"),
    (Said::Restored, "restored", "Restored"),
    (Said::Done, "done", "Done"),
    (Said::Stale, "stale", "Nothing was done: you had signed in again since this page was loaded. Press it once more."),
];

impl Said {
    /// What a browser brings from the page before.
    pub fn sent(headers: &HeaderMap) -> Option<Said> {
        let word = cookie::sent_said(headers)?;
        ALL.iter().find(|(_, known, _)| *known == word).map(|(said, ..)| *said)
    }

    fn row(self) -> &'static (Said, &'static str, &'static str) {
        ALL.iter().find(|(said, ..)| *said == self).unwrap_or(&ALL[0])
    }

    pub fn text(self) -> &'static str {
        self.row().2
    }

    /// Sends the browser to another page, which says this.
    pub fn at(self, path: &str) -> Answer {
        self.with(see(path))
    }

    /// The answer that leads to the page, with the mark.
    pub fn with(self, answer: Answer) -> Answer {
        answer.with_text(cookie::SET, &cookie::said(self.row().1))
    }
}
