//! State diagrams of lifecycles in Mermaid, which GitHub and many editors draw.

use crate::naming::is_snake_case;

/// Names that Mermaid reads as words of its language.
const MERMAID_WORDS: &[&str] =
    &["as", "class", "click", "direction", "end", "fork", "href", "join", "note", "of", "state", "style"];

/// An arrow of a diagram.
#[derive(Debug, Clone, Copy)]
pub struct Arrow<'a> {
    pub from: &'a str,
    pub to: &'a str,
    /// The name of the transition.
    pub name: &'a str,
    /// The condition under which it can run.
    pub guard: Option<&'a str>,
}

/// A `stateDiagram-v2` of these states, of which `first` is that of a new record. A state without a way out is a last
/// one.
pub fn state_diagram(states: &[&str], first: &str, arrows: &[Arrow<'_>]) -> String {
    let mut text = String::from("stateDiagram-v2\n");
    // A state has the name that it shows, unless Mermaid cannot read it.
    let name = |state: &str| match states.iter().position(|one| *one == state) {
        Some(index) if !is_plain(state) => format!("state_{}", index + 1),
        _ => state.to_owned(),
    };
    for state in states.iter().filter(|state| !is_plain(state)) {
        text.push_str(&format!("    state \"{}\" as {}\n", escaped(state), name(state)));
    }
    text.push_str(&format!("    [*] --> {}\n", name(first)));
    for Arrow { from, to, name: transition, guard } in arrows {
        let guard = guard.map(|guard| format!(" [{}]", escaped(guard))).unwrap_or_default();
        text.push_str(&format!("    {} --> {}: {transition}{guard}\n", name(from), name(to)));
    }
    for state in states.iter().filter(|state| arrows.iter().all(|arrow| arrow.from != **state)) {
        text.push_str(&format!("    {} --> [*]\n", name(state)));
    }
    text
}

fn is_plain(state: &str) -> bool {
    is_snake_case(state) && !MERMAID_WORDS.contains(&state) && !state.starts_with("state_")
}

/// Characters that end a text of Mermaid, as its entities.
fn escaped(text: &str) -> String {
    let escape = |character: char| match character {
        '"' | '#' | ';' | ':' => format!("#{};", u32::from(character)),
        '\n' => " ".to_owned(),
        other => other.to_string(),
    };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_and_arrows_are_drawn_with_first_and_last_states() {
        let arrow = |from, to, name, guard| Arrow { from, to, name, guard };
        let arrows = [
            arrow("open", "solved", "solve", Some("note != 'a: b'")),
            arrow("solved", "open", "reopen", None),
            arrow("open", "end", "stop", None),
        ];
        let expected = "stateDiagram-v2
    state \"On hold\" as state_3
    state \"end\" as state_4
    [*] --> open
    open --> solved: solve [note != 'a#58; b']
    solved --> open: reopen
    open --> state_4: stop
    state_3 --> [*]
    state_4 --> [*]
";
        assert_eq!(state_diagram(&["open", "solved", "On hold", "end"], "open", &arrows), expected);
    }
}
