//! The text of a SQLite table, taken apart into its columns and put together again.
//!
//! SQLite has no statement that changes a column. What leaves the rows alone (whether it may be null, its default, its
//! declared type, what it refers to) is changed in the text that `sqlite_schema` keeps, as SQLite's documentation of
//! `ALTER TABLE` describes it; nothing is copied, so that rows, indexes, references and the last id that was given stay.

/// The text of a table with one column defined anew. A table without such a column stays as it is.
pub fn with_column(text: &str, column: &str, edit: impl Fn(&str) -> String) -> String {
    let Some((head, parts, tail)) = parts(text) else { return text.to_owned() };
    let parts: Vec<String> = parts
        .into_iter()
        .map(|part| match name(part) == column {
            true => edit(part.trim()),
            false => part.trim().to_owned(),
        })
        .collect();
    format!("{head}( {} ){tail}", parts.join(", "))
}

/// A definition without its reference, which stands last.
pub fn without_reference(definition: &str) -> String {
    let found = places(definition, CONSTRAINT).next();
    found.map_or(definition, |at| definition[..at].trim_end()).to_owned()
}

/// The text of a table that refers to nothing.
pub fn without_references(text: &str) -> String {
    let Some((head, parts, tail)) = parts(text) else { return text.to_owned() };
    // A constraint that stands by itself is no column's reference.
    let own = |part: &str| if part.starts_with(CONSTRAINT) { part.to_owned() } else { without_reference(part) };
    let parts: Vec<String> = parts.into_iter().map(|part| own(part.trim())).collect();
    format!("{head}( {} ){tail}", parts.join(", "))
}

/// The text of a table, whose constraints are called what `called` says of their names, if anything.
pub fn with_constraints(text: &str, called: impl Fn(&str) -> Option<String>) -> String {
    let mut edited = String::new();
    let mut done = 0;
    for start in places(text, CONSTRAINT).map(|at| at + CONSTRAINT.len()) {
        let name = text[start..].split('"').next().unwrap_or_default();
        edited.push_str(&text[done..start]);
        edited.push_str(&called(name).unwrap_or_else(|| name.to_string()));
        done = start + name.len();
    }
    edited + &text[done..]
}

/// What stands before the name of a constraint.
const CONSTRAINT: &str = "CONSTRAINT \"";

/// Where a word begins in a piece of SQL, outside of what stands in quotes: a default may have any words.
fn places<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> {
    let mut quote = None;
    text.char_indices().filter_map(move |(at, c)| {
        let is_found = quote.is_none() && text[at..].starts_with(word);
        match quote {
            // A doubled quote ends and begins again, which comes to the same.
            Some(end) if c == end => quote = None,
            None if matches!(c, '\'' | '"' | '`') => quote = Some(c),
            _ => {}
        }
        is_found.then_some(at)
    })
}

/// What stands before the parenthesis, the definitions between its commas, and what stands behind.
fn parts(text: &str) -> Option<(&str, Vec<&str>, &str)> {
    let open = text.find('(')?;
    let mut parts = Vec::new();
    let (mut depth, mut start, mut quote) = (0, open + 1, None);
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < open) {
        match (quote, c) {
            // A doubled quote ends and begins again, which comes to the same.
            (Some(end), c) if c == end => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"' | '`') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ',') if depth == 1 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            (None, ')') => {
                depth -= 1;
                if depth == 0 {
                    parts.push(&text[start..at]);
                    return Some((&text[..open], parts, &text[at + 1..]));
                }
            }
            (None, _) => {}
        }
    }
    None
}

/// The name that a definition begins with.
fn name(definition: &str) -> &str {
    let definition = definition.trim();
    match definition.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or_default(),
        None => definition.split_whitespace().next().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "CREATE TABLE \"t\" ( \"id\" integer PRIMARY KEY, \"a\" varchar(9) DEFAULT 'x,(\"b\"', b numeric(3, 1), \
        \"c\" bigint CONSTRAINT \"t_c_fkey\" REFERENCES \"o\" (\"id\") ) STRICT";

    #[test]
    fn one_column_is_defined_anew_and_all_else_stays() {
        let text = with_column(TABLE, "a", |_| "\"a\" text".to_owned());
        assert_eq!(text, TABLE.replace("\"a\" varchar(9) DEFAULT 'x,(\"b\"'", "\"a\" text"));
        let text = with_column(TABLE, "b", |definition| definition.to_uppercase());
        assert_eq!(text, TABLE.replace("b numeric(3, 1)", "B NUMERIC(3, 1)"));
        assert_eq!(with_column(TABLE, "d", |_| String::new()), TABLE);
    }

    #[test]
    fn a_reference_is_taken_off() {
        let text = with_column(TABLE, "c", without_reference);
        assert_eq!(text, TABLE.replace(" CONSTRAINT \"t_c_fkey\" REFERENCES \"o\" (\"id\")", ""));
        assert_eq!(without_references(TABLE), text);
        let alone = r#"CREATE TABLE "t" ( "a" text, CONSTRAINT "t_a_key" UNIQUE ("a") )"#;
        assert_eq!(without_references(alone), alone);
    }

    #[test]
    fn a_constraint_is_told_from_a_default_that_has_its_words() {
        let plain = r#""a" text DEFAULT 'a CONSTRAINT "x"'''"#;
        let refers = |name: &str| format!("{plain} CONSTRAINT \"{name}\" REFERENCES \"o\" (\"id\")");
        assert_eq!(without_reference(&refers("x")), plain);
        assert_eq!(with_constraints(&refers("x"), |name| (name == "x").then(|| "y".to_owned())), refers("y"));
    }
}
