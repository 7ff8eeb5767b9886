//! Hints for invalid YAML: the likely cause, by the place where the parser stopped.

use super::spacing::odd_space;
use super::type_word::{in_round_brackets, names_type};

/// The likely cause, from the line at which the parser stopped and the lines before it.
pub fn likely(text: &str, at: usize, problem: &str) -> Option<String> {
    let at = (0..=at.min(text.len())).rev().find(|&byte| text.is_char_boundary(byte))?;
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    if line.trim_start_matches(' ').starts_with('\t') {
        return Some("indent with spaces, not tabs".to_owned());
    }
    // A quoted text may have any space.
    if let Some(odd) = odd_space(line.split(['"', '\'']).next()?) {
        return Some(format!("the line contains {odd}: use a plain space"));
    }
    if text.contains('\0') {
        let line = text.lines().position(|line| line.contains('\0')).unwrap_or_default() + 1;
        return Some(format!("line {line} contains a null character: remove it"));
    }
    comment(text, start, problem)
        .or_else(|| open_quote(&text[..start]))
        .or_else(|| lacks_colon(line))
        .or_else(|| begins_oddly(text, at, problem))
        .or_else(|| colon_before(&text[..start], problem))
        .or_else(|| below(&text[..start], line, problem))
        .or_else(|| unmatched_indentation(&text[..start], line, problem))
        .or_else(|| brackets(text, start, at, problem))
        .or_else(|| in_quotes(problem))
        .or_else(|| of_the_line(line, problem))
}

/// A `#` in an unquoted text: after a space it begins a comment.
fn comment(text: &str, start: usize, problem: &str) -> Option<String> {
    if problem.contains("comments must be separated") {
        return Some("put text with a `#` in quotes: `\"…#…\"`".to_owned());
    }
    let opens = |line: &str, brackets: [char; 2]| line.matches(brackets).count();
    let swallows = |line: &str| {
        let Some((value, comment)) = line.split_once(" #") else { return false };
        let is_text = value.contains(['"', '\'']) || value.trim().is_empty();
        !is_text && opens(value, ['{', '[']) > opens(value, ['}', ']']) && comment.contains(['}', ']'])
    };
    let number = text[..start].lines().chain(text[start..].lines().take(1)).position(swallows)? + 1;
    Some(format!("line {number} has a comment after ` #`: put text that contains it in quotes"))
}

/// A quote that an earlier line opens and does not close.
fn open_quote(before: &str) -> Option<String> {
    let opens = |line: &str| {
        let line = line.trim();
        let single = line.split_once(": '").is_some_and(|(_, rest)| !rest.contains('\''));
        !line.starts_with('#') && (line.replace("\\\"", "").matches('"').count() % 2 == 1 || single)
    };
    let (number, _) = before.lines().enumerate().find(|(_, line)| opens(line))?;
    Some(format!("line {} opens a quote and does not close it", number + 1))
}

/// `name { … }`
fn lacks_colon(line: &str) -> Option<String> {
    let (name, rest) = line.trim().split_once(char::is_whitespace)?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let bracket = rest.trim_start().chars().next().filter(|first| matches!(first, '{' | '['))?;
    is_name.then(|| format!("add a colon after `{name}`: `{name}: {bracket}…`"))
}

/// A text that begins with an indicator of YAML: `pattern: [A-Z]{3}`, `label: @home`.
fn begins_oddly(text: &str, at: usize, problem: &str) -> Option<String> {
    let goes_on = |c: char| !c.is_whitespace() && !matches!(c, ',' | ']' | '}' | '#');
    let sign = match problem.strip_prefix("unexpected character: `") {
        Some(rest) => rest.chars().next()?,
        None => text[..at].ends_with(']').then_some('[').filter(|_| text[at..].starts_with(goes_on))?,
    };
    Some(format!("put text that starts with `{sign}` in quotes: `\"{sign}…\"`"))
}

/// `resource:thing`, a text, so that the parser stops at the key of the next line.
fn colon_before(before: &str, problem: &str) -> Option<String> {
    let says = |(_, line): &(usize, &str)| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let (number, line) = before.lines().enumerate().filter(says).last()?;
    let (key, rest) = line.trim().split_once(':')?;
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_');
    let is_torn = is_key && !rest.is_empty() && !rest.starts_with(' ') && problem.contains("mapping values");
    is_torn.then(|| format!("add a space after the colon of line {}: `{key}: {rest}`", number + 1))
}

/// A missing or extra comma or bracket.
fn brackets(text: &str, start: usize, at: usize, problem: &str) -> Option<String> {
    if let Some(bracket) = problem.strip_prefix("unclosed bracket '").and_then(|rest| rest.chars().next()) {
        return Some(format!("add the missing `{}`", closing(bracket)));
    }
    if let Some(pair) = problem.strip_prefix("mismatched bracket '") {
        let (opens, closes) = (pair.chars().next()?, pair.trim_end_matches('\'').chars().last()?);
        return Some(format!("add the missing `{}` before the `{closes}`", closing(opens)));
    }
    if problem.contains("implicit flow mapping") && text[at..].starts_with(',') {
        return Some("remove the extra comma".to_owned());
    }
    if problem.contains("misplaced bracket") {
        let bracket = text[at..].chars().next()?;
        return Some(format!("remove the `{bracket}`, which nothing opens"));
    }
    let lacks_comma = problem.contains("did not find expected ','");
    if !lacks_comma && !problem.contains("illegal placement of ':'") {
        return None;
    }
    if let Some(line) = left_open(&text[..start]) {
        return Some(format!("line {line} opens a bracket and does not close it"));
    }
    if !lacks_comma {
        return None;
    }
    let written = text[start..at].trim_end();
    if let Some(round) = square(written, &text[at..]) {
        return Some(format!("use round brackets for a type: `{round}`"));
    }
    if let Some((before, value)) = written.rsplit_once(": ")
        && text[at..].starts_with(": ")
        && !value.is_empty()
        && value.chars().all(|c| !c.is_whitespace() && !matches!(c, ')' | ']' | '}' | '"' | '\'' | '”'))
    {
        let name = before.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
        return Some(format!("put text with a colon in quotes: `{name}: \"{value}: …\"`"));
    }
    if let Some(quoted) = unquoted_expression(written, &text[at..]) {
        return Some(format!("put an expression with brackets or quotes in double quotes: `{quoted}`"));
    }
    let key = written.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
    (!key.is_empty()).then(|| format!("add a comma before `{key}`"))
}

/// `where: status in [open, pending]` in a flow mapping: YAML reads the bracket as a list.
fn unquoted_expression(written: &str, rest: &str) -> Option<String> {
    let line = written.rsplit('\n').next()?;
    let (before, value) = line.rsplit_once(": ")?;
    let key = before.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next()?;
    let is_operator =
        value.split_whitespace().last().is_some_and(|word| matches!(word, "in" | "=" | "!=" | "<" | ">" | "<=" | ">="));
    let is_compared = value.contains(" = ") || value.contains(" != ") || value.contains(" in ");
    let opens = rest.starts_with(['[', '\'', '"']);
    (!key.is_empty() && (is_operator && opens || is_compared)).then(|| format!("{key}: \"{value} …\""))
}

/// `string[20]` in a flow mapping: YAML reads the bracket as a list.
fn square(written: &str, rest: &str) -> Option<String> {
    let word = written.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next()?;
    let end = rest.strip_prefix('[')?.find(']')? + "[]".len();
    in_round_brackets(&format!("{word}{}", &rest[..end]))
}

/// Options below a type: `name: text`, then an indented `nullable: true`.
fn below(before: &str, line: &str, problem: &str) -> Option<String> {
    let says = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let above = before.lines().rfind(says)?;
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let ((key, value), (more, added)) = (above.trim().split_once(": ")?, line.trim().split_once(": ")?);
    let is_value = !value.starts_with(['{', '[', '"', '\'', '|', '>', '#', '&', '*']);
    let is_below = problem.contains("mapping values") && indent(line) > indent(above);
    let word = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_');
    if !is_below || !is_value || !word(key) || !word(more) {
        return None;
    }
    Some(match names_type(value) {
        true => format!(
            "`{key}` has a type on its line and takes no keys below it: write `{key}: {{ type: {value}, {more}: {added} }}`"
        ),
        false => format!("`{key}` has a value on its line and takes no keys below it: indent `{more}` less"),
    })
}

/// A key whose indentation matches no line above.
fn unmatched_indentation(before: &str, line: &str, problem: &str) -> Option<String> {
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let (key, _) = line.trim().split_once(':')?;
    let mut open: Vec<usize> = Vec::new();
    for above in before.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#')) {
        open.retain(|column| *column < indent(above));
        open.push(indent(above));
        // The keys of a list element begin after its `- `.
        if let Some(element) = above.trim_start().strip_prefix('-') {
            open.push(above.len() - element.trim_start().len());
        }
    }
    let is_it = problem.contains("did not find expected key") || problem.contains("mapping values");
    if !is_it || open.contains(&indent(line)) {
        return None;
    }
    let (last, others) = open.split_last()?;
    let others: Vec<String> = others.iter().map(usize::to_string).collect();
    let columns = if others.is_empty() { last.to_string() } else { format!("{} or {last}", others.join(", ")) };
    let spaces = indent(line);
    Some(format!("`{key}` is indented by {spaces} spaces; the lines above it by {columns}"))
}

/// The closing bracket.
fn closing(bracket: char) -> char {
    if bracket == '[' { ']' } else { '}' }
}

/// The line of the last bracket that is opened and not closed. A later line may close it.
fn left_open(text: &str) -> Option<usize> {
    let mut open = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with('#')) {
        for sign in line.chars() {
            match sign {
                '{' | '[' => open.push(number + 1),
                '}' | ']' => drop(open.pop()),
                _ => {}
            }
        }
    }
    open.last().copied()
}

/// A quoted text followed by more text, or with an invalid escape.
fn in_quotes(problem: &str) -> Option<String> {
    if problem.contains("unknown escape character") {
        return Some("a `\\` in double quotes starts an escape: use single quotes, `'\\d+'`".to_owned());
    }
    let quoted = problem.strip_prefix("invalid trailing content after ")?;
    Some(match quoted.starts_with("single") {
        true => "write `''` for a `'` in single quotes, and a comma after the text".to_owned(),
        false => "write `\\\"` for a `\"` in double quotes, and a comma after the text".to_owned(),
    })
}

/// A colon without a space, or a text with a colon.
fn of_the_line(line: &str, problem: &str) -> Option<String> {
    let (key, rest) = line.trim().split_once(':')?;
    if key.is_empty() || key.contains(char::is_whitespace) {
        return None;
    }
    if rest.starts_with(['{', '[']) {
        return Some(format!("add a space after the colon: `{key}: {}…`", &rest[..1]));
    }
    if problem.contains("expected ':'") && !rest.is_empty() && !rest.starts_with(' ') {
        return Some(format!("add a space after the colon: `{key}: {rest}`"));
    }
    let value = rest.trim_start();
    let is_plain = !value.starts_with(['"', '\'', '{', '[', '&', '*', '!', '|', '>', '#']);
    (is_plain && value.contains(": ")).then(|| format!("put text with a colon in quotes: `{key}: \"{value}\"`"))
}
