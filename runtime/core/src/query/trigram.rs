//! Converts conditions for trigram indexes: an FTS5 expression on SQLite, a condition that `pg_trgm` serves on
//! PostgreSQL. Both match every record that meets the condition, with possible false positives.
//!
//! The FTS5 index folds case by SQLite's own table, so that any program can write to the indexed table without
//! functions of the application. The statement compares its matches again with `charter_fold`. Letters that
//! `charter_fold` treats as equal must therefore be equal in the index as well, or the search leaves them out.

use super::condition::{Condition, Target, Test};

/// Length of a trigram.
const TRIGRAM_LETTERS: usize = 3;

/// Limit on the trigrams of one text: more exclude few further records. An FTS5 expression has at most 256 levels.
const MAX_TRIGRAMS: usize = 24;

/// Limit on the operands of AND and OR in the expression.
const MAX_OPERANDS: usize = 8;

/// Combining dot above: the lowercase of `İ` is `i` and this.
const DOT_ABOVE: char = '\u{307}';

/// Ranges of lowercase letters whose uppercase is not in the table of the index: Georgian, Cherokee, Adlam, Osage and
/// other scripts, and phonetic letters.
const FOLDED_DIFFERENTLY: &[(char, char)] = &[
    ('\u{19b}', '\u{19b}'),
    ('\u{25c}', '\u{26c}'),
    ('\u{282}', '\u{287}'),
    ('\u{29d}', '\u{29e}'),
    ('\u{3f3}', '\u{3f3}'),
    ('\u{529}', '\u{52f}'),
    ('\u{10d0}', '\u{10ff}'),
    ('\u{13f8}', '\u{13fd}'),
    ('\u{1c8a}', '\u{1c8a}'),
    ('\u{1d8e}', '\u{1d8e}'),
    ('\u{2c5f}', '\u{2c5f}'),
    ('\u{a699}', '\u{a69b}'),
    ('\u{a794}', '\u{a79f}'),
    ('\u{a7b5}', '\u{a7db}'),
    ('\u{a7f6}', '\u{a7f6}'),
    ('\u{ab53}', '\u{ab53}'),
    ('\u{ab70}', '\u{abbf}'),
    ('\u{104d8}', '\u{104fb}'),
    ('\u{10597}', '\u{105bc}'),
    ('\u{10cc0}', '\u{10cf2}'),
    ('\u{10d70}', '\u{10d85}'),
    ('\u{118c0}', '\u{118df}'),
    ('\u{16e60}', '\u{16e7f}'),
    ('\u{16ebb}', '\u{16ed3}'),
    ('\u{1e922}', '\u{1e943}'),
];

/// FTS5 expression over these text columns of the table that matches every record that meets the condition. `None` if
/// no expression narrows the condition.
pub fn match_expression(condition: &Condition, columns: &[&str]) -> Option<String> {
    match condition {
        Condition::All(list) => {
            let parts: Vec<String> = list.iter().filter_map(|inner| match_expression(inner, columns)).collect();
            // Each operand narrows the result by itself, so that a few suffice.
            (!parts.is_empty()).then(|| parts[..parts.len().min(MAX_OPERANDS)].join(" AND "))
        }
        Condition::Any(list) if !list.is_empty() => {
            let parts: Option<Vec<String>> = list.iter().map(|inner| match_expression(inner, columns)).collect();
            // The expression names no columns: the same text in several columns is one operand.
            let mut parts = parts?;
            parts.dedup();
            (parts.len() <= MAX_OPERANDS).then(|| format!("({})", parts.join(" OR ")))
        }
        Condition::Test { target: Target::Column(source), test: Test::Like { needle, negated: false, .. } }
            if columns.iter().any(|column| source.is_own(column)) =>
        {
            trigrams(needle)
        }
        _ => None,
    }
}

/// The part of a condition that a PostgreSQL trigram index over these columns serves. Every record that meets the
/// condition meets this part. `None` if there is no such part.
pub fn indexed_condition(condition: &Condition, columns: &[&str]) -> Option<Condition> {
    match condition {
        Condition::All(list) => {
            let parts = list.iter().filter_map(|inner| indexed_condition(inner, columns));
            parts.reduce(Condition::and)
        }
        Condition::Any(list) if !list.is_empty() => {
            let parts: Option<Vec<Condition>> = list.iter().map(|inner| indexed_condition(inner, columns)).collect();
            parts.map(Condition::Any)
        }
        Condition::Test { target: Target::Column(source), test: Test::Like { needle, negated: false, .. } }
            if columns.iter().any(|column| source.is_own(column)) && has_word(needle) =>
        {
            Some(condition.clone())
        }
        _ => None,
    }
}

/// True if `pg_trgm` extracts a trigram from the text: it reads only letters and digits.
fn has_word(needle: &str) -> bool {
    needle.split(|letter: char| !letter.is_alphanumeric()).any(|word| word.chars().count() >= TRIGRAM_LETTERS)
}

/// Writes the trigrams of a text, folded: `("abc" AND "def" AND "efg")`. Overlapping trigrams exclude few further
/// records and take longer, thus only the last one overlaps.
fn trigrams(needle: &str) -> Option<String> {
    let letters: Vec<char> = needle.chars().collect();
    let last = letters.len().checked_sub(TRIGRAM_LETTERS)?;
    let is_searchable = |start: &usize| (*start..start + TRIGRAM_LETTERS).all(|at| folds_like_index(&letters, at));
    let mut starts: Vec<usize> = Vec::new();
    while let Some(start) = (starts.last().map_or(0, |start| start + TRIGRAM_LETTERS)..=last).find(is_searchable) {
        starts.push(start);
    }
    starts.extend((0..=last).rev().find(is_searchable).filter(|end| starts.last() != Some(end)));
    let mut terms: Vec<String> = Vec::new();
    for start in starts {
        let term = format!("\"{}\"", String::from_iter(&letters[start..start + TRIGRAM_LETTERS]).replace('"', "\"\""));
        if !terms.contains(&term) && terms.len() < MAX_TRIGRAMS {
            terms.push(term);
        }
    }
    (!terms.is_empty()).then(|| format!("({})", terms.join(" AND ")))
}

/// True if the index treats as equal every letter that `charter_fold` treats as equal to this one. `İ` folds to `i`
/// and a combining dot above: an `i` before another letter cannot be part of it, one at the end or before the dot
/// can.
fn folds_like_index(letters: &[char], at: usize) -> bool {
    match letters[at] {
        'i' => letters.get(at + 1).is_some_and(|next| *next != DOT_ABOVE),
        '\0' | DOT_ABOVE => false,
        letter => {
            letter.is_ascii() || !FOLDED_DIFFERENTLY.iter().any(|(first, last)| (*first..=*last).contains(&letter))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use rusqlite::Connection;

    use super::*;
    use crate::db::fold;

    /// The text that the index stores for each letter.
    fn indexed(letters: &BTreeSet<char>) -> BTreeMap<char, String> {
        let index = Connection::open_in_memory().expect("it opens");
        index
            .execute_batch(
                "CREATE VIRTUAL TABLE x USING fts5(c, tokenize = 'trigram', content = '');
                 CREATE VIRTUAL TABLE terms USING fts5vocab('x', 'instance'); BEGIN",
            )
            .expect("it has FTS5");
        let mut insert = index.prepare("INSERT INTO x (rowid, c) VALUES (?1, ?2)").expect("it is a statement");
        for letter in letters {
            insert.execute((u32::from(*letter), String::from_iter([*letter; 3]))).expect("it is indexed");
        }
        drop(insert);
        index.execute_batch("COMMIT").expect("it is committed");
        let mut terms = index.prepare("SELECT doc, term FROM terms").expect("it is a statement");
        let read = terms.query_map((), |row| Ok((row.get::<_, u32>(0)?, row.get::<_, String>(1)?))).expect("it runs");
        read.map(|row| row.expect("it is a row"))
            .map(|(number, term)| {
                let letter = char::from_u32(number).expect("it was a letter");
                let mut three: Vec<char> = term.chars().collect();
                three.truncate(three.len() / 3);
                (letter, three.into_iter().collect())
            })
            .collect()
    }

    #[test]
    fn letters_with_equal_folds_are_equal_in_the_index_or_skipped() {
        let folds = ('\u{1}'..=char::MAX).map(|letter| (letter, fold(letter.encode_utf8(&mut [0; 4]))));
        let folded: BTreeMap<char, String> = folds.filter(|(letter, fold)| !fold.chars().eq([*letter])).collect();
        let letters: BTreeSet<char> = folded.iter().flat_map(|(letter, fold)| fold.chars().chain([*letter])).collect();
        let indexed = indexed(&letters);
        assert_eq!(indexed.len(), letters.len());
        for (letter, fold) in &folded {
            let fold: Vec<char> = fold.chars().collect();
            // The folded letter stands at the end or before another letter.
            let looked_for = |next: Option<char>| {
                let text: Vec<char> = fold.iter().copied().chain(next).collect();
                (0..fold.len()).all(|at| folds_like_index(&text, at))
            };
            let of_fold: String = fold.iter().map(|letter| indexed[letter].as_str()).collect();
            let alike = indexed[letter] == of_fold;
            assert!(alike || !looked_for(None) && !looked_for(Some('x')), "{letter:?} is folded to {fold:?}");
        }
    }

    fn expression(needle: &str) -> Option<String> {
        trigrams(&fold(needle))
    }

    #[test]
    fn text_is_searched_by_its_trigrams() {
        assert_eq!(expression("Lamp").as_deref(), Some(r#"("lam" AND "amp")"#));
        assert_eq!(expression("aaaaa").as_deref(), Some(r#"("aaa")"#));
        assert_eq!(expression("SKU-00012345").as_deref(), Some(r#"("sku" AND "-00" AND "012" AND "345")"#));
        assert_eq!(expression("abcdefg").as_deref(), Some(r#"("abc" AND "def" AND "efg")"#));
        assert_eq!(expression("6\" x").as_deref(), Some(r#"("6"" " AND """ x")"#));
        assert_eq!(expression("ab"), None);
        let long: String = ('一'..).take(200).collect();
        assert_eq!(expression(&long).map(|expression| expression.matches(" AND ").count()), Some(MAX_TRIGRAMS - 1));
    }

    #[test]
    fn letters_that_the_index_folds_differently_are_skipped() {
        // The end of `Ali` can match `ALİ`.
        assert_eq!(expression("Taksi").as_deref(), Some(r#"("tak" AND "aks")"#));
        assert_eq!(expression("taksim").as_deref(), Some(r#"("tak" AND "sim")"#));
        assert_eq!(expression("TAKSİM").as_deref(), Some(r#"("tak" AND "aks")"#));
        assert_eq!(expression("საქართველო"), None);
    }
}
