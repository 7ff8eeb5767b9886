//! Pages that ask before an operation: what will happen, in numbers, and a button that is named for the operation.

pub(super) mod deletion;
mod sentences;
pub(super) mod undo;

use maud::{Markup, html};

use super::layout;
use super::request::PanelRequest;
use crate::language::text;
use crate::server::Response;
pub(super) use sentences::{forbids, render};

/// A question whose answer is a form to the path of its page.
pub(super) struct Question<'q> {
    pub trail: Vec<(String, String)>,
    pub title: &'q str,
    /// The consequences in sentences.
    pub content: &'q Markup,
    /// Hidden inputs of the form.
    pub inputs: &'q Markup,
    /// The name of the operation; `None` if it is not possible now.
    pub button: Option<&'q str>,
    /// The page that "Cancel" leads to.
    pub cancel: &'q str,
}

impl Question<'_> {
    pub(super) fn page(self, request: &PanelRequest<'_>) -> Response {
        let content = html! {
            (layout::header(&self.trail, &html! { (self.title) }, &html! {}))
            div .notice { (self.content) }
            @match self.button {
                Some(button) => {
                    form method="post" action=(request.raw.path) {
                        (layout::csrf_input(request))
                        (self.inputs)
                        div .buttons { button .danger { (button) } a .button href=(self.cancel) { (text!("Cancel")) } }
                    }
                }
                None => { div .buttons { a .button href=(self.cancel) { (text!("Back")) } } }
            }
        };
        layout::page(request, self.title, &content)
    }
}
