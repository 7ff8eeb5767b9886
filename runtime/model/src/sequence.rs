//! Formats of numbered texts such as `TCK-{year}-{0000}`: literal text, the period in which numbers start at 1, and the
//! number with its least digits.

/// Most characters of a format.
pub const MAX_FORMAT_CHARS: usize = 100;
/// Most digits of a number.
pub const MAX_DIGITS: usize = 18;

/// A format that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SequenceFormat {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    /// Four digits.
    Year,
    /// Two digits.
    Month,
    /// The number, with zeros in front up to this many digits.
    Number(usize),
}

/// The text before and after the number, in one period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub before: String,
    pub after: String,
    digits: usize,
}

impl Frame {
    /// The text of a number.
    pub fn text(&self, number: i64) -> String {
        format!("{}{number:0digits$}{}", self.before, self.after, digits = self.digits)
    }
}

impl SequenceFormat {
    /// Reads a format.
    ///
    /// # Errors
    /// The reason why it is none, in the words of the generator.
    pub fn read(text: &str) -> Result<SequenceFormat, String> {
        if text.chars().count() > MAX_FORMAT_CHARS {
            return Err(format!("it has more than {MAX_FORMAT_CHARS} characters"));
        }
        let (mut parts, mut rest) = (Vec::new(), text);
        while !rest.is_empty() {
            let (literal, placeholder) = rest.split_once('{').map_or((rest, None), |(text, rest)| (text, Some(rest)));
            if literal.contains(['}', '\0']) {
                return Err("it has a `}` without `{`, or the character NUL".to_owned());
            }
            if !literal.is_empty() {
                parts.push(Part::Text(literal.to_owned()));
            }
            let Some(placeholder) = placeholder else { break };
            let (word, after) = placeholder.split_once('}').ok_or("it has a `{` without `}`")?;
            parts.push(match word {
                "year" => Part::Year,
                "month" => Part::Month,
                zeros if !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0') && zeros.len() <= MAX_DIGITS => {
                    Part::Number(zeros.len())
                }
                other => {
                    return Err(format!("`{{{other}}}` is not `{{year}}`, `{{month}}` or zeros such as `{{0000}}`"));
                }
            });
            rest = after;
        }
        let count = |part: fn(&Part) -> bool| parts.iter().filter(|one| part(one)).count();
        match count(|part| matches!(part, Part::Number(_))) {
            1 => {}
            0 => return Err("it has no number such as `{0000}`".to_owned()),
            _ => return Err("it has several numbers".to_owned()),
        }
        if count(|part| *part == Part::Month) > 0 && count(|part| *part == Part::Year) == 0 {
            return Err("`{month}` needs `{year}`: the numbers of a month would come again a year later".to_owned());
        }
        // The digits of a year or month next to the number would make two numbers alike: 2026 and 1, 20261.
        let is_digits = |part: &Part| match part {
            Part::Text(text) => text.contains(|one: char| one.is_ascii_digit()),
            _ => true,
        };
        let touches = |pair: &[Part]| {
            let [one, other] = pair else { return false };
            matches!(one, Part::Number(_)) && starts_with_digit(other)
                || matches!(other, Part::Number(_)) && ends_with_digit(one)
        };
        if parts.windows(2).any(|pair| pair.iter().all(is_digits) && touches(pair)) {
            return Err("a digit stands next to the number, so that two numbers could have one text".to_owned());
        }
        Ok(SequenceFormat { parts })
    }

    /// The frame of the numbers in a period. The month is 1 to 12.
    pub fn frame(&self, year: i32, month: u32) -> Frame {
        let mut frame = Frame { before: String::new(), after: String::new(), digits: 0 };
        for part in &self.parts {
            let text = match part {
                Part::Text(text) => text.clone(),
                Part::Year => format!("{year:04}"),
                Part::Month => format!("{month:02}"),
                Part::Number(digits) => {
                    frame.digits = *digits;
                    continue;
                }
            };
            if frame.digits == 0 { &mut frame.before } else { &mut frame.after }.push_str(&text);
        }
        frame
    }
}

fn starts_with_digit(part: &Part) -> bool {
    match part {
        Part::Text(text) => text.starts_with(|one: char| one.is_ascii_digit()),
        _ => true,
    }
}

fn ends_with_digit(part: &Part) -> bool {
    match part {
        Part::Text(text) => text.ends_with(|one: char| one.is_ascii_digit()),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(format: &str, number: i64) -> String {
        SequenceFormat::read(format).expect("a format").frame(2026, 3).text(number)
    }

    #[test]
    fn number_has_at_least_its_digits() {
        assert_eq!(text("TCK-{year}-{0000}", 7), "TCK-2026-0007");
        assert_eq!(text("TCK-{year}-{0000}", 12345), "TCK-2026-12345");
        assert_eq!(text("{0}", 1), "1");
        assert_eq!(text("{000}/{month}/{year} é", 10), "010/03/2026 é");
    }

    #[test]
    fn ambiguous_or_broken_formats_are_refused() {
        let wrong =
            ["", "TCK", "{}", "{year}", "{00}{00}", "{month}-{0}", "{year}{0}", "1{0}", "{0}1", "{0", "0}", "{day}{0}"];
        for format in wrong {
            assert!(SequenceFormat::read(format).is_err(), "{format}");
        }
        assert!(SequenceFormat::read(&format!("{}{{0}}", "x".repeat(98))).is_err());
        assert!(SequenceFormat::read("A1-{0}").is_ok());
    }
}
