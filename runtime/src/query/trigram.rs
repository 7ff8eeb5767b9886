//! What an index of trigrams can tell of a condition: an expression of SQLite's FTS5 that finds every record which meets
//! it, and perhaps others.
//!
//! The index folds text by SQLite's own table, which needs no function of the application, so that any program can write
//! to the table. What it finds is compared by `charter_fold` all the same. So it need not fold alike: where one letter is
//! another to `charter_fold`, it only has to be so to the index as well, or the letter is not looked for.

use super::condition::{Condition, Target, Test};

/// The letters of a trigram.
const TRIGRAM_LETTERS: usize = 3;

/// So many trigrams of a text are looked for: more find little less. An expression of FTS5 has at most 256 levels.
const MAX_TRIGRAMS: usize = 24;

/// So many alternatives are looked for.
const MAX_ALTERNATIVES: usize = 8;

/// What an `İ` leaves behind its `i`.
const DOT_ABOVE: char = '\u{307}';

/// Small letters whose capitals came after the table of the index, or are not in it: of Georgian, Cherokee, Adlam, Osage and
/// other scripts, and of phonetics.
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

/// An expression that finds every record which meets the condition, by these columns of text of the table itself. Nothing
/// when it could be any record.
pub fn match_expression(condition: &Condition, columns: &[&str]) -> Option<String> {
    match condition {
        Condition::All(list) => {
            let told: Vec<String> = list.iter().filter_map(|inner| match_expression(inner, columns)).collect();
            // Each narrows by itself; the first ones will do.
            (!told.is_empty()).then(|| told[..told.len().min(MAX_ALTERNATIVES)].join(" AND "))
        }
        Condition::Any(list) if !list.is_empty() && list.len() <= MAX_ALTERNATIVES => {
            let told: Option<Vec<String>> = list.iter().map(|inner| match_expression(inner, columns)).collect();
            told.map(|told| format!("({})", told.join(" OR ")))
        }
        Condition::Test { target: Target::Column(source), test: Test::Like { needle, negated: false, .. } }
            if columns.iter().any(|column| source.is_own(column)) =>
        {
            trigrams(needle)
        }
        _ => None,
    }
}

/// The part of a condition that a trigram index of these columns finds on PostgreSQL: every record that meets the condition meets
/// it. `None` if the index finds none of it.
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

/// Whether `pg_trgm` makes a trigram of the text: it reads letters and digits alone.
fn has_word(needle: &str) -> bool {
    needle.split(|letter: char| !letter.is_alphanumeric()).any(|word| word.chars().count() >= TRIGRAM_LETTERS)
}

/// `("abc" AND "def" AND "efg")`, of a text that is folded. Trigrams that overlap find little less and take longer: only the
/// last one may.
fn trigrams(needle: &str) -> Option<String> {
    let letters: Vec<char> = needle.chars().collect();
    let last = letters.len().checked_sub(TRIGRAM_LETTERS)?;
    let is_sure = |start: &usize| (*start..start + TRIGRAM_LETTERS).all(|at| is_alike(&letters, at));
    let mut starts: Vec<usize> = Vec::new();
    while let Some(start) = (starts.last().map_or(0, |start| start + TRIGRAM_LETTERS)..=last).find(is_sure) {
        starts.push(start);
    }
    starts.extend((0..=last).rev().find(is_sure).filter(|end| starts.last() != Some(end)));
    let mut told: Vec<String> = Vec::new();
    for start in starts {
        let term = format!("\"{}\"", String::from_iter(&letters[start..start + TRIGRAM_LETTERS]).replace('"', "\"\""));
        if !told.contains(&term) && told.len() < MAX_TRIGRAMS {
            told.push(term);
        }
    }
    (!told.is_empty()).then(|| format!("({})", told.join(" AND ")))
}

/// Whether the index takes for this letter of a text all that `charter_fold` does. An `İ` becomes an `i` and a dot above,
/// so that a text which goes on otherwise does not mean it.
fn is_alike(letters: &[char], at: usize) -> bool {
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

    /// What the index takes each of these letters for.
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
        index.execute_batch("COMMIT").expect("it is kept");
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
    fn letters_that_fold_alike_are_one_to_the_index_or_are_not_looked_for() {
        let folds = ('\u{1}'..=char::MAX).map(|letter| (letter, fold(letter.encode_utf8(&mut [0; 4]))));
        let folded: BTreeMap<char, String> = folds.filter(|(letter, fold)| !fold.chars().eq([*letter])).collect();
        let letters: BTreeSet<char> = folded.iter().flat_map(|(letter, fold)| fold.chars().chain([*letter])).collect();
        let indexed = indexed(&letters);
        assert_eq!(indexed.len(), letters.len());
        for (letter, fold) in &folded {
            let fold: Vec<char> = fold.chars().collect();
            // The fold stands alone, or before another letter, where it may be looked for otherwise.
            let looked_for = |next: Option<char>| {
                let text: Vec<char> = fold.iter().copied().chain(next).collect();
                (0..fold.len()).all(|at| is_alike(&text, at))
            };
            let of_fold: String = fold.iter().map(|letter| indexed[letter].as_str()).collect();
            let alike = indexed[letter] == of_fold;
            assert!(alike || !looked_for(None) && !looked_for(Some('x')), "{letter:?} is folded to {fold:?}");
        }
    }

    fn told(needle: &str) -> Option<String> {
        trigrams(&fold(needle))
    }

    #[test]
    fn a_text_is_looked_for_by_its_trigrams() {
        assert_eq!(told("Lamp").as_deref(), Some(r#"("lam" AND "amp")"#));
        assert_eq!(told("aaaaa").as_deref(), Some(r#"("aaa")"#));
        assert_eq!(told("SKU-00012345").as_deref(), Some(r#"("sku" AND "-00" AND "012" AND "345")"#));
        assert_eq!(told("abcdefg").as_deref(), Some(r#"("abc" AND "def" AND "efg")"#));
        assert_eq!(told("6\" x").as_deref(), Some(r#"("6"" " AND """ x")"#));
        assert_eq!(told("ab"), None);
        let long: String = ('一'..).take(200).collect();
        assert_eq!(told(&long).map(|told| told.matches(" AND ").count()), Some(MAX_TRIGRAMS - 1));
    }

    #[test]
    fn what_the_index_folds_otherwise_is_left_out() {
        // The end of `Ali` is also that of `ALİ`.
        assert_eq!(told("Taksi").as_deref(), Some(r#"("tak" AND "aks")"#));
        assert_eq!(told("taksim").as_deref(), Some(r#"("tak" AND "sim")"#));
        assert_eq!(told("TAKSİM").as_deref(), Some(r#"("tak" AND "aks")"#));
        assert_eq!(told("საქართველო"), None);
    }
}
