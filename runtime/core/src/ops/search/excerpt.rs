//! Excerpt of a text around the first word that a search found in it.

use crate::db::fold;

/// Maximum of characters, without the ellipses.
const MAX_CHARACTERS: usize = 120;
/// Characters before the word.
const CHARACTERS_BEFORE: usize = 30;

/// The text, or the part around the first of these folded words if the text is long.
pub(super) fn around(text: &str, words: &[String]) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= MAX_CHARACTERS {
        return text.to_string();
    }
    let at = position(&letters, words).unwrap_or_default();
    let start = at.saturating_sub(CHARACTERS_BEFORE).min(letters.len() - MAX_CHARACTERS);
    let end = start + MAX_CHARACTERS;
    let part: String = letters[start..end].iter().collect();
    let ellipsis = |is_cut: bool| if is_cut { "…" } else { "" };
    format!("{}{}{}", ellipsis(start > 0), part.trim(), ellipsis(end < letters.len()))
}

/// Index of the letter at which the first word begins. Letters are folded one by one, which can differ from the fold
/// of the text, such as for a final sigma: the excerpt then begins with the text.
fn position(letters: &[char], words: &[String]) -> Option<usize> {
    let mut folded = String::with_capacity(letters.len());
    let mut starts = Vec::with_capacity(letters.len());
    for letter in letters {
        starts.push(folded.len());
        folded.push_str(&fold(letter.encode_utf8(&mut [0; 4])));
    }
    let at = words.iter().filter_map(|word| folded.find(word.as_str())).min()?;
    Some(starts.partition_point(|start| *start <= at).saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpt_of_a_long_text_contains_the_word() {
        let words = vec![fold("LAMPE")];
        assert_eq!(around("Eine Lampe", &words), "Eine Lampe");
        let long = format!("{} Lampe {}", "ß".repeat(300), "x".repeat(300));
        let excerpt = around(&long, &words);
        assert!(excerpt.contains("Lampe") && excerpt.starts_with('…') && excerpt.ends_with('…'), "{excerpt}");
        assert_eq!(excerpt.chars().count(), MAX_CHARACTERS + 2);
        assert!(around(&long, &[]).starts_with('ß'));
        let last = format!("{} Lampe", "y".repeat(300));
        assert!(around(&last, &words).ends_with("Lampe"));
    }
}
