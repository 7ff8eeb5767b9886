//! Columns that are chosen and put in order: of a list, and in the form of a saved view. The script moves them in place; without
//! one an arrow sends the form, and the page comes again with the column moved and the arrow under the finger.

use maud::{Markup, html};

use super::columns::Column;
use super::condition::Wish;
use super::filter;
use super::place::Place;
use super::words;
use crate::query::Pair;

/// What the arrows send, what they are called and look like, and how far they go.
const ARROWS: [(&str, &str, &str, isize); 2] = [("_up", "up", "↑", -1), ("_down", "down", "↓", 1)];

/// A column that goes up or down by one.
#[derive(Debug)]
pub struct Step<'p> {
    column: &'p str,
    way: &'static str,
    by: isize,
}

impl<'p> Step<'p> {
    /// The step that a field of a form asks for.
    pub fn of(pair: &'p Pair) -> Option<Step<'p>> {
        let (_, way, _, by) = ARROWS.into_iter().find(|(name, ..)| *name == pair.name)?;
        Some(Step { column: &pair.value, way, by })
    }

    /// The id of the arrow that was pressed.
    pub fn arrow(&self) -> String {
        format!("{}-{}", self.way, self.column)
    }

    /// The names with the column moved; as they are where it is at the end already.
    pub fn take(&self, names: &mut [String]) {
        let at = names.iter().position(|name| name == self.column);
        let to = at.and_then(|at| at.checked_add_signed(self.by)).filter(|to| *to < names.len());
        if let (Some(at), Some(to)) = (at, to) {
            names.swap(at, to);
        }
    }
}

/// The form of a list that chooses its columns, their order, and how many rows a page has.
///
/// `usual` is how many a page has when nobody says it.
pub fn form(place: &Place<'_>, wish: &Wish, columns: &[Column], shown: &[&Column], usual: Option<String>) -> Markup {
    let rest = Wish { columns: None, per_page: None, page: None, ..wish.clone() };
    let per_page = wish.per_page.as_deref().or(usual.as_deref()).unwrap_or("20");
    let counts = ["10", "20", "50", "100"];
    let other = Some(per_page).filter(|count| !counts.contains(count));
    let chosen: Vec<&str> = shown.iter().map(|column| column.name.as_str()).collect();
    html! {
        form method="get" action=(place.collection()) data-columns {
            (filter::hidden(&rest.pairs()))
            (inputs("columns", columns, &chosen, None))
            label .field { span { "Rows on a page" }
                select name="per_page" {
                    @for count in other.into_iter().chain(counts) { option value=(count) selected[count == per_page] { (count) } }
                }
            }
            div .buttons { button .primary { "Show" } }
        }
    }
}

/// A box for each column, those that are chosen first and in their order. `arrow` is the one that has the focus.
pub fn inputs(name: &str, columns: &[Column], chosen: &[&str], arrow: Option<&str>) -> Markup {
    let label = |name: &str| {
        let column = columns.iter().find(|column| column.name == name);
        // What is stored and no longer there is not left out by the way.
        column.map_or_else(|| words::label(name), |column| column.label.clone())
    };
    let others = columns.iter().map(|column| column.name.as_str()).filter(|name| !chosen.contains(name));
    let all = chosen.iter().map(|name| (*name, true)).chain(others.map(|name| (name, false)));
    html! {
        // Enter presses the first button of a form, which must be no arrow.
        button .hidden tabindex="-1" aria-hidden="true" {}
        ul .choose {
            @for (column, checked) in all {
                @let label = label(column);
                li {
                    label { input type="checkbox" name=(name) value=(column) checked[checked]; " " (label) }
                    span .move {
                        @for (step, way, sign, _) in ARROWS {
                            @let is_pressed = arrow.is_some_and(|arrow| arrow == format!("{way}-{column}"));
                            button .quiet autofocus[is_pressed] id={ (way) "-" (column) } name=(step) value=(column)
                                aria-label={ "Move " (label) " " (way) } { (sign) }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_moves_by_one_and_stays_where_there_is_no_further() {
        for (name, value, expected) in [
            ("_up", "b", "b,a,c"),
            ("_down", "b", "a,c,b"),
            ("_up", "a", "a,b,c"),
            ("_down", "c", "a,b,c"),
            ("_down", "other", "a,b,c"),
        ] {
            let mut names = ["a", "b", "c"].map(String::from);
            let pair = Pair { name: name.into(), value: value.into() };
            Step::of(&pair).expect("a step").take(&mut names);
            assert_eq!(names.join(","), expected, "{name} {value}");
        }
        assert!(Step::of(&Pair { name: "up".into(), value: "a".into() }).is_none());
    }
}
