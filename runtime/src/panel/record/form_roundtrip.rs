//! What an input held, where a browser gives back something else: a form that is opened and saved changes nothing.

use std::collections::HashMap;

use maud::{Markup, html};
use serde_json::Value;

use super::{input, zone};
use crate::query::Pair;

/// What the names of the fields that keep a value begin with.
const KEPT: &str = "_was.";

/// What a browser makes of what an input holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Every line ends in the same way.
    Area,
    /// All is one line.
    Line,
    /// All is one line without spaces around it: an e-mail address, a URL.
    Bare,
    /// An element on each line, in the same input as an [`Way::Area`].
    List,
    /// A time of the company's zone, which the clocks may have twice.
    Time,
    /// A list as boxes, in the order of the page.
    Boxes,
}

impl Way {
    const ALL: [Way; 6] = [Way::Area, Way::Line, Way::Bare, Way::List, Way::Time, Way::Boxes];

    fn name(self) -> &'static str {
        match self {
            Way::Area => "area",
            Way::Line => "line",
            Way::Bare => "bare",
            Way::List => "list",
            Way::Time => "time",
            Way::Boxes => "boxes",
        }
    }

    /// A text as the input gives it back, the ends of its lines as [`lines`] has them.
    fn back(self, text: &str) -> String {
        match self {
            Way::Area | Way::List | Way::Time | Way::Boxes => lines(text).replace('\r', "\n"),
            Way::Line => text.replace(['\r', '\n'], ""),
            Way::Bare => text.replace(['\r', '\n'], "").trim_matches([' ', '\t', '\x0c']).to_string(),
        }
    }
}

/// Browsers end the lines of a form in their own way.
fn lines(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// The elements of a list whose input holds this.
pub fn elements(text: &str) -> Vec<Value> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(Value::from).collect()
}

/// The field that keeps a value beside its input, where the browser would change it. JSON comes back as it was: the ends of
/// lines are escaped in it.
pub fn kept(way: Way, name: &str, value: &Value) -> Markup {
    let is_changed = match (way, value) {
        (Way::Time, Value::String(text)) => !text.is_empty(),
        (Way::List, Value::Array(list)) => elements(&way.back(&input::lines(value))) != *list,
        (Way::Boxes, Value::Array(list)) => list.len() > 1,
        (Way::List | Way::Boxes, _) => false,
        (_, Value::String(text)) => way.back(text) != *text,
        _ => false,
    };
    html! { @if is_changed { input type="hidden" name={ (KEPT) (way.name()) "." (name) } value=(value); } }
}

/// The values that a form kept, by the names of their inputs.
pub fn sent(form: &[Pair]) -> HashMap<&str, (Way, Value)> {
    let mut kept = HashMap::new();
    for pair in form {
        let Some((way, name)) = pair.name.strip_prefix(KEPT).and_then(|rest| rest.split_once('.')) else { continue };
        let way = Way::ALL.into_iter().find(|known| known.name() == way);
        if let Some((way, value)) = way.zip(serde_json::from_str(&pair.value).ok()) {
            kept.insert(name, (way, value));
        }
    }
    kept
}

/// What an input means: what it held before, where nobody has touched it.
pub fn meant(kept: Option<&(Way, Value)>, pair: &Pair, zone: chrono_tz::Tz) -> Pair {
    let (name, value) = (pair.name.clone(), lines(&pair.value));
    match kept {
        Some((Way::List, was)) if Way::List.back(&input::lines(was)) == value => {
            Pair { name: name.replace("[lines]", "[json]"), value: was.to_string() }
        }
        Some((Way::Time, Value::String(was))) if zone::is_same(zone, was, &value) => Pair { name, value: was.clone() },
        Some((way @ (Way::Area | Way::Line | Way::Bare), Value::String(was))) if way.back(was) == value => {
            Pair { name, value: was.clone() }
        }
        _ => Pair { name, value },
    }
}

/// A list that boxes gave: in the order that it had before, where the same boxes are ticked.
pub fn in_order(kept: Option<&(Way, Value)>, ticked: Value) -> Value {
    match (kept, &ticked) {
        (Some((Way::Boxes, Value::Array(was))), Value::Array(now))
            if was.len() == now.len() && was.iter().all(|one| now.contains(one)) =>
        {
            was.clone().into()
        }
        _ => ticked,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What a browser sends of a form that holds a value, and the form means.
    fn round(way: Way, name: &str, value: &Value, given: &str) -> (bool, Pair) {
        let field = kept(way, name, value).into_string();
        let is_kept = !field.is_empty();
        let input = Pair { name: name.into(), value: given.into() };
        let beside = Pair { name: format!("_was.{}.{name}", way.name()), value: value.to_string() };
        let form: Vec<Pair> = if is_kept { vec![beside, input.clone()] } else { vec![input.clone()] };
        (is_kept, meant(sent(&form).get(name), &input, chrono_tz::Tz::Europe__London))
    }

    #[test]
    fn what_nobody_touches_is_what_it_was() {
        for (way, was, given) in [
            (Way::Area, "\r\nOne\rtwo\n", "\r\nOne\r\ntwo\r\n"),
            (Way::Line, "A\r\nB ", "AB "),
            (Way::Bare, " a@example.com\n", "a@example.com"),
            (Way::Time, "2026-10-25T01:30:00Z", "2026-10-25T01:30"),
            (Way::Time, "9999-12-31T23:59:59Z", "9999-12-31T23:59:59"),
        ] {
            let (is_kept, pair) = round(way, "a", &json!(was), given);
            assert!(is_kept, "{was:?}");
            assert_eq!((pair.name.as_str(), pair.value.as_str()), ("a", was));
        }
        let list = json!(["a\nb", " c ", ""]);
        let (is_kept, pair) = round(Way::List, "a[lines]", &list, "a\r\nb\r\n c \r\n");
        assert!(is_kept);
        assert_eq!((pair.name.as_str(), pair.value), ("a[json]", list.to_string()));
    }

    #[test]
    fn what_somebody_changes_is_what_they_wrote() {
        for (way, was, given, meant) in [
            (Way::Area, "A\r\nB", "AB", "AB"),
            (Way::Area, "A\r\nB", "A\r\nC", "A\nC"),
            (Way::Line, "A\nB", "A B", "A B"),
            (Way::Bare, " a", "", ""),
            (Way::Time, "2026-10-25T01:30:00Z", "2026-10-25T01:31", "2026-10-25T01:31"),
        ] {
            assert_eq!(round(way, "a", &json!(was), given).1.value, meant, "{was:?}");
        }
        let (_, pair) = round(Way::List, "a[lines]", &json!(["a\nb"]), "a\r\nc");
        assert_eq!((pair.name.as_str(), pair.value.as_str()), ("a[lines]", "a\nc"));
    }

    #[test]
    fn boxes_keep_the_order_of_what_was_ticked_before() {
        let was = (Way::Boxes, json!(["b", "a"]));
        for (ticked, meant) in [
            (json!(["a", "b"]), json!(["b", "a"])),
            (json!(["a"]), json!(["a"])),
            (json!(["a", "c"]), json!(["a", "c"])),
            (json!(["a", "b", "c"]), json!(["a", "b", "c"])),
            (json!([]), json!([])),
        ] {
            assert_eq!(in_order(Some(&was), ticked.clone()), meant);
            assert_eq!(in_order(None, ticked.clone()), ticked);
        }
    }

    #[test]
    fn what_comes_back_as_it_is_is_not_kept() {
        for (way, value) in [
            (Way::Area, json!("\nOne\n\ntwo ")),
            (Way::Line, json!(" Spaces ")),
            (Way::Bare, json!("a@example.com")),
            (Way::List, json!(["a", "b c"])),
            (Way::List, json!("typed")),
            (Way::Time, json!("")),
            (Way::Boxes, json!(["a"])),
            (Way::Line, json!(1)),
        ] {
            assert_eq!(kept(way, "a", &value).into_string(), "", "{value}");
        }
        // What no form of ours has sent is none.
        let strange = [("_was.line", "\"x\""), ("_was.other.a", "\"x\""), ("_was.line.a", "x")];
        let strange = strange.map(|(name, value)| Pair { name: name.into(), value: value.into() });
        assert!(sent(&strange).is_empty());
    }
}
