//! Inputs that show all choices: radio buttons, and a matrix of checkboxes.

use maud::{Markup, html};
use serde_json::Value;

use super::choices::Choice;
use super::input::InputOptions;
use crate::language::text;
use crate::panel::format::labels;

/// A radio button for each choice, and for a stored value that is no longer declared.
pub(super) fn radio_group(options: &InputOptions<'_>, choices: &[Choice], value: &str) -> Markup {
    let none: Choice = (String::new(), text!("None"));
    let stored: Choice = (value.into(), value.into());
    let known = choices.iter().any(|(word, _)| word.eq_ignore_ascii_case(value));
    let none = Some(&none).filter(|_| options.clearable || value.is_empty());
    let stored = Some(&stored).filter(|_| !known && !value.is_empty());
    html! {
        div .choices {
            @for (word, label) in choices.iter().chain(stored).chain(none) {
                label .box {
                    input type="radio" name=(options.name) value=(word) checked[word.eq_ignore_ascii_case(value)];
                    " " (label)
                }
            }
        }
    }
}

/// A checkbox for each choice, in rows by the part before the colon or the dot.
pub(super) fn checkbox_matrix(options: &InputOptions<'_>, choices: &[Choice]) -> Markup {
    let checked: Vec<&str> = options.value.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let group = |word: &str| word.split([':', '.']).next().unwrap_or_default().to_string();
    let mut groups: Vec<(String, Vec<&Choice>)> = Vec::new();
    let unknown: Vec<Choice> = checked
        .iter()
        .filter(|word| !choices.iter().any(|(known, _)| known == *word))
        .map(|word| ((*word).to_string(), (*word).to_string()))
        .collect();
    for choice in choices.iter().chain(&unknown) {
        let group_name = group(&choice.0);
        match groups.iter_mut().find(|(name, _)| *name == group_name) {
            Some((_, list)) => list.push(choice),
            None => groups.push((group_name, vec![choice])),
        }
    }
    let label_in_group =
        |word: &str| word.split_once([':', '.']).map_or_else(|| word.to_string(), |(_, rest)| labels::from_name(rest));
    html! {
        input type="hidden" name={ (options.name) "[]" } value="";
        table .matrix id=(options.id) tabindex="-1" aria-describedby=[&options.described_by] {
            tbody {
                @for (name, list) in &groups {
                    tr {
                        th scope="row" { (if name == "*" { text!("Everything") } else { labels::from_name(name) }) }
                        td {
                            @for (word, _) in list {
                                label .box {
                                    input type="checkbox" name={ (options.name) "[]" } value=(word) checked[checked.contains(&word.as_str())];
                                    " " (if word == "*" { text!("All") } else { label_in_group(word) })
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
