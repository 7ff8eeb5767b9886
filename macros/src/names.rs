//! Names of fields, and suggestions for misspelt ones.

use proc_macro2::Ident;

/// The name of a field without the `r#` of a keyword.
pub fn plain(ident: &Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map(str::to_owned).unwrap_or(text)
}

/// `; did you mean …?` with the nearest known name, or else the list of known names.
pub fn suggestion<'n>(word: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let close = known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(word, name), *name))
        .filter(|(distance, name)| *distance <= 1 + word.len() / 4 && *distance < name.len().min(word.len()))
        .min_by_key(|(distance, _)| *distance);
    match close {
        Some((_, name)) => format!("; did you mean `{name}`?"),
        None if known.is_empty() => "; there are none".to_owned(),
        None => format!("; valid names are {}", listed(&known)),
    }
}

/// "`a`, `b` and `c`".
pub fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_suggested_and_otherwise_all_are_listed() {
        assert_eq!(suggestion("requird", ["required", "unique"]), "; did you mean `required`?");
        assert_eq!(suggestion("x", ["min", "required"]), "; valid names are `min` and `required`");
        assert_eq!(suggestion("x", []), "; there are none");
    }
}
