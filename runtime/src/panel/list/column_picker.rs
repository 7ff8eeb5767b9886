//! Column picker of a list and of the saved view form. A script moves columns in place. Without scripts an arrow button
//! sends the form, and the page is rendered again with the column moved and the arrow focused.

use charter_model::reserved::COLUMNS_PAGE;
use maud::{Markup, html};

use super::columns::Column;
use super::params::ListParams;
use super::{filter_form, remembered};
use crate::language::text;
use crate::panel::format::labels;
use crate::panel::request::PanelRequest;
use crate::panel::target::Target;
use charter_core::query::Pair;

/// The arrow buttons: form field, direction, symbol, and offset.
const ARROWS: [(&str, &str, &str, isize); 2] = [("_up", "up", "↑", -1), ("_down", "down", "↓", 1)];

/// Moves a column by one position.
#[derive(Debug)]
pub(crate) struct ColumnMove<'p> {
    column: &'p str,
    direction: &'static str,
    offset: isize,
}

impl<'p> ColumnMove<'p> {
    /// The move that a form field requests.
    pub(crate) fn from_pair(pair: &'p Pair) -> Option<ColumnMove<'p>> {
        let (_, direction, _, offset) = ARROWS.into_iter().find(|(name, ..)| *name == pair.name)?;
        Some(ColumnMove { column: &pair.value, direction, offset })
    }

    /// The id of the arrow button.
    pub(crate) fn arrow_id(&self) -> String {
        format!("{}-{}", self.direction, self.column)
    }

    /// Moves the column. A column at the end stays where it is.
    pub(crate) fn apply(&self, names: &mut [String]) {
        let at = names.iter().position(|name| name == self.column);
        let to = at.and_then(|at| at.checked_add_signed(self.offset)).filter(|to| *to < names.len());
        if let (Some(at), Some(to)) = (at, to) {
            names.swap(at, to);
        }
    }
}

/// The form of a list: columns, their order, and the page size, which are remembered for the user. `default_per_page` is the page size of the saved view.
pub(crate) fn render(
    request: &PanelRequest<'_>,
    target: &Target<'_>,
    params: &ListParams,
    columns: &[Column],
    shown: &[&Column],
    default_per_page: Option<String>,
) -> Markup {
    let rest = ListParams { columns: None, per_page: None, page: None, ..params.clone() };
    let per_page = params.per_page.as_deref().or(default_per_page.as_deref()).unwrap_or("20");
    let counts = ["10", "20", "50", "100"];
    let unlisted = Some(per_page).filter(|count| !counts.contains(count));
    let chosen: Vec<&str> = shown.iter().map(|column| column.name.as_str()).collect();
    let remembers = params.view_id.is_none();
    let choose = format!("{}/{}", target.collection(), COLUMNS_PAGE);
    let token = &request.csrf_token.masked;
    html! {
        form method="get" action=(target.collection()) data-columns {
            // Enter presses the first button of a form, which must not be an arrow. Only a pressed button sends the token.
            button .hidden tabindex="-1" aria-hidden="true" name="_token" value=(token) formmethod="post" formaction=(choose) {}
            (filter_form::hidden_inputs(&rest.pairs()))
            (inputs("columns", columns, &chosen, None))
            label .field { span { (text!("Rows per page")) }
                select name="per_page" {
                    @for count in unlisted.into_iter().chain(counts) { option value=(count) selected[count == per_page] { (count) } }
                }
            }
            @if remembers { p .help { (text!("This list remembers your columns.")) } }
            div .buttons {
                button .primary name="_token" value=(token) formmethod="post" formaction=(choose) { (text!("Apply")) }
                @if remembers && remembered::has_choice(request, target.entry) {
                    button .plain name="_token" value=(token) formmethod="post" formaction={ (choose) "?" (remembered::FORGET) "=1" } { (text!("Use the default columns")) }
                }
            }
        }
    }
}

/// A checkbox for each column, the chosen ones first and in their order. `focused_arrow` is the id of an arrow button.
pub(crate) fn inputs(name: &str, columns: &[Column], chosen: &[&str], focused_arrow: Option<&str>) -> Markup {
    let label = |name: &str| {
        let column = columns.iter().find(|column| column.name == name);
        // A stored column that no longer exists is kept.
        column.map_or_else(|| labels::from_name(name), |column| column.label.clone())
    };
    let others = columns.iter().filter(|column| !column.is_related());
    let others = others.map(|column| column.name.as_str()).filter(|name| !chosen.contains(name));
    let all = chosen.iter().map(|name| (*name, true)).chain(others.map(|name| (name, false)));
    html! {
        ul .choose {
            @for (column, checked) in all {
                @let label = label(column);
                li {
                    label { input type="checkbox" name=(name) value=(column) checked[checked]; " " (label) }
                    span .move {
                        @for (input, direction, symbol, offset) in ARROWS {
                            @let is_focused = focused_arrow.is_some_and(|arrow| arrow == format!("{direction}-{column}"));
                            button .quiet autofocus[is_focused] id={ (direction) "-" (column) } name=(input) value=(column)
                                aria-label=(move_label(&label, offset)) { (symbol) }
                        }
                    }
                }
            }
        }
    }
}

/// The label of an arrow button.
fn move_label(column: &str, offset: isize) -> String {
    match offset < 0 {
        true => text!("Move {column} up", column = column),
        false => text!("Move {column} down", column = column),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_moves_by_one_position_and_stays_at_the_end() {
        for (name, value, expected) in [
            ("_up", "b", "b,a,c"),
            ("_down", "b", "a,c,b"),
            ("_up", "a", "a,b,c"),
            ("_down", "c", "a,b,c"),
            ("_down", "other", "a,b,c"),
        ] {
            let mut names = ["a", "b", "c"].map(String::from);
            let pair = Pair { name: name.into(), value: value.into() };
            ColumnMove::from_pair(&pair).expect("a move").apply(&mut names);
            assert_eq!(names.join(","), expected, "{name} {value}");
        }
        assert!(ColumnMove::from_pair(&Pair { name: "up".into(), value: "a".into() }).is_none());
    }
}
