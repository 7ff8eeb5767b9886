//! Dialog of a list that shows the fields of a row. A script opens and fills it.

use maud::{Markup, html};

use crate::language::text;

/// The closed dialog. It is part of the page, so that its texts are in the language of the page.
pub(super) fn dialog() -> Markup {
    html! {
        dialog #peek .peek aria-labelledby="peek-title" tabindex="-1" closedby="any" {
            div .peek-head aria-live="polite" { h2 #peek-title {} p .faint data-position {} }
            div data-peeked {}
            p .problem data-failed hidden role="alert" { (text!("This record cannot be shown here. Open it instead.")) }
            form .buttons method="dialog" {
                button type="button" data-step="-1" { (text!("Previous")) }
                button type="button" data-step="1" { (text!("Next")) }
                a .button.primary data-open-record { (text!("Open")) }
                button { (text!("Close")) }
            }
        }
    }
}
