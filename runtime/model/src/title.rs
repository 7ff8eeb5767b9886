//! Titles of records such as `{name} ({sku})`: text, and the fields whose values it has.

/// Most characters of a title as it is written.
pub const MAX_TITLE_CHARS: usize = 200;
/// Most fields of a title.
pub const MAX_TITLE_FIELDS: usize = 5;

/// A title that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TitleFormat {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Field(String),
}

impl TitleFormat {
    /// Reads a title. It begins with a field, by which records are found.
    ///
    /// # Errors
    /// The reason why it is none, in the words of the generator.
    pub fn read(text: &str) -> Result<TitleFormat, String> {
        if text.chars().count() > MAX_TITLE_CHARS {
            return Err(format!("it has more than {MAX_TITLE_CHARS} characters"));
        }
        let (mut parts, mut rest) = (Vec::new(), text);
        while !rest.is_empty() {
            let (literal, field) = rest.split_once('{').map_or((rest, None), |(text, rest)| (text, Some(rest)));
            if literal.contains(['}', '\0']) {
                return Err("it has a `}` without `{`, or the character NUL".to_owned());
            }
            if !literal.is_empty() {
                parts.push(Part::Text(literal.to_owned()));
            }
            let Some(field) = field else { break };
            let (name, after) = field.split_once('}').ok_or("it has a `{` without `}`")?;
            if name.is_empty() {
                return Err("it has `{}` without the name of a field".to_owned());
            }
            parts.push(Part::Field(name.to_owned()));
            rest = after;
        }
        let title = TitleFormat { parts };
        match title.fields().count() {
            0 => Err("it names no field, as `{name}` does".to_owned()),
            count if count > MAX_TITLE_FIELDS => Err(format!("it has more than {MAX_TITLE_FIELDS} fields")),
            _ => Ok(title),
        }
    }

    /// The names of its fields.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| if let Part::Field(name) = part { Some(name.as_str()) } else { None })
    }

    /// The title of a record; `None` if no field has a value. Brackets around no value, and separators at an end, are
    /// left out.
    pub fn text(&self, value: impl Fn(&str) -> Option<String>) -> Option<String> {
        let (mut text, mut has_value) = (String::new(), false);
        for part in &self.parts {
            match part {
                Part::Text(literal) => text.push_str(literal),
                Part::Field(name) => {
                    let found = value(name).filter(|found| !found.trim().is_empty());
                    has_value |= found.is_some();
                    text.push_str(found.as_deref().unwrap_or_default());
                }
            }
        }
        for empty in ["()", "[]"] {
            text = text.replace(empty, "");
        }
        let is_separator = |one: char| one.is_whitespace() || "-,/·:".contains(one);
        has_value.then(|| text.trim().trim_matches(is_separator).to_owned()).filter(|text| !text.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_the_values_without_empty_brackets() {
        let title = TitleFormat::read("{name} ({sku})").expect("a title");
        let of = |name: &str, sku: &str| title.text(|field| Some(if field == "name" { name } else { sku }.to_owned()));
        assert_eq!(of("Lamp", "L1").as_deref(), Some("Lamp (L1)"));
        assert_eq!(of("Lamp", "").as_deref(), Some("Lamp"));
        assert_eq!(of("", "L1").as_deref(), Some("(L1)"));
        assert_eq!(of(" ", ""), None);
        let title = TitleFormat::read("{last}, {first}").expect("a title");
        assert_eq!(title.text(|field| (field == "last").then(|| "Lovelace".to_owned())).as_deref(), Some("Lovelace"));
        assert_eq!(title.fields().collect::<Vec<_>>(), ["last", "first"]);
    }

    #[test]
    fn titles_without_fields_or_with_broken_braces_are_refused() {
        for wrong in ["", "Lamp", "{}", "{name", "name}", "{a}{b}{c}{d}{e}{f}"] {
            assert!(TitleFormat::read(wrong).is_err(), "{wrong}");
        }
    }
}
