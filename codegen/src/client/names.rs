//! Names in the generated clients: cases, reserved words, and names that are used once only.

use std::collections::BTreeSet;

/// `product_groups` as `ProductGroups`. Other characters than letters and digits separate words.
pub fn camel(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut text: String = words.map(capitalized).collect();
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        text.insert(0, 'N');
    }
    text
}

/// `product_groups` as `productGroups`.
pub fn lower_camel(name: &str) -> String {
    let text = camel(name);
    let mut letters = text.chars();
    letters.next().map(|first| first.to_ascii_lowercase().to_string() + letters.as_str()).unwrap_or_default()
}

/// A name of letters, digits and underscores that begins with no digit.
pub fn snake(name: &str) -> String {
    let text: String = name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
    if text.starts_with(|first: char| first.is_ascii_digit()) { format!("n{text}") } else { text }
}

/// The name, with an underscore behind it if it is one of these words.
pub fn unreserved(name: String, words: &[&str]) -> String {
    if words.contains(&name.as_str()) { name + "_" } else { name }
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
}

/// Names that are already used.
#[derive(Debug, Default)]
pub struct Names(BTreeSet<String>);

impl Names {
    /// Reserves these names.
    pub fn reserving(names: &[&str]) -> Names {
        Names(names.iter().map(|name| (*name).to_owned()).collect())
    }

    /// The wanted name, or the first of `Wanted2`, `Wanted3`, ... that is free.
    pub fn unique(&mut self, wanted: &str) -> String {
        let others = (2_u32..).map(|number| format!("{wanted}{number}"));
        let free = std::iter::once(wanted.to_owned()).chain(others).find(|name| !self.0.contains(name));
        let name = free.unwrap_or_default();
        self.0.insert(name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_case_of_their_language() {
        assert_eq!(camel("product_groups"), "ProductGroups");
        assert_eq!(lower_camel("rotate_secret"), "rotateSecret");
        assert_eq!(camel("2fa-code"), "N2faCode");
        assert_eq!(snake("created_at.day"), "created_at_day");
        assert_eq!(snake("2fa"), "n2fa");
        assert_eq!(lower_camel(""), "");
    }

    #[test]
    fn reserved_words_get_an_underscore() {
        assert_eq!(unreserved("import".into(), &["import"]), "import_");
        assert_eq!(unreserved("imports".into(), &["import"]), "imports");
    }

    #[test]
    fn used_names_get_a_number() {
        let mut names = Names::reserving(&["Error"]);
        assert_eq!(names.unique("Error"), "Error2");
        assert_eq!(names.unique("Error"), "Error3");
        assert_eq!(names.unique("Order"), "Order");
    }
}
