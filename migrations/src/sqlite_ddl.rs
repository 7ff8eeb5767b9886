//! Editor for SQLite's `CREATE TABLE` statements.
//!
//! SQLite has no statement that changes a column. A change that keeps the stored rows (nullability, default, declared type,
//! foreign key) is made in the statement that `sqlite_schema` contains, as SQLite's documentation of `ALTER TABLE`
//! describes. Rows are not copied, and indexes, foreign keys and the autoincrement sequence are kept.

/// Replaces the definition of one column. A statement without that column is returned unchanged.
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

/// Removes the foreign key from a column definition. It is the last constraint of a definition.
pub fn without_reference(definition: &str) -> String {
    let found = positions(definition, CONSTRAINT).next();
    found.map_or(definition, |at| definition[..at].trim_end()).to_owned()
}

/// Removes the foreign keys of all columns.
pub fn without_references(text: &str) -> String {
    let Some((head, parts, tail)) = parts(text) else { return text.to_owned() };
    // A table constraint is no column definition.
    let own = |part: &str| if part.starts_with(CONSTRAINT) { part.to_owned() } else { without_reference(part) };
    let parts: Vec<String> = parts.into_iter().map(|part| own(part.trim())).collect();
    format!("{head}( {} ){tail}", parts.join(", "))
}

/// Renames constraints: `new_name` returns the new name of a constraint, or `None` to keep it.
pub fn with_renamed_constraints(text: &str, new_name: impl Fn(&str) -> Option<String>) -> String {
    let mut edited = String::new();
    let mut done = 0;
    for start in positions(text, CONSTRAINT).map(|at| at + CONSTRAINT.len()) {
        let name = text[start..].split('"').next().unwrap_or_default();
        edited.push_str(&text[done..start]);
        edited.push_str(&new_name(name).unwrap_or_else(|| name.to_string()));
        done = start + name.len();
    }
    edited + &text[done..]
}

/// The text before the name of a constraint.
const CONSTRAINT: &str = "CONSTRAINT \"";

/// Finds `word` in SQL, outside of quoted text: a default may contain any words.
fn positions<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> {
    let mut quote = None;
    text.char_indices().filter_map(move |(at, c)| {
        let is_found = quote.is_none() && text[at..].starts_with(word);
        match quote {
            // A doubled quote closes and reopens the quoted text, with the same result.
            Some(end) if c == end => quote = None,
            None if matches!(c, '\'' | '"' | '`') => quote = Some(c),
            _ => {}
        }
        is_found.then_some(at)
    })
}

/// The text before the parenthesis, the comma-separated definitions in it, and the text after it.
fn parts(text: &str) -> Option<(&str, Vec<&str>, &str)> {
    let open = text.find('(')?;
    let mut parts = Vec::new();
    let (mut depth, mut start, mut quote) = (0, open + 1, None);
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < open) {
        match (quote, c) {
            // A doubled quote closes and reopens the quoted text, with the same result.
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

/// The column name at the start of a definition.
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
    fn one_column_is_replaced_and_the_others_are_kept() {
        let text = with_column(TABLE, "a", |_| "\"a\" text".to_owned());
        assert_eq!(text, TABLE.replace("\"a\" varchar(9) DEFAULT 'x,(\"b\"'", "\"a\" text"));
        let text = with_column(TABLE, "b", |definition| definition.to_uppercase());
        assert_eq!(text, TABLE.replace("b numeric(3, 1)", "B NUMERIC(3, 1)"));
        assert_eq!(with_column(TABLE, "d", |_| String::new()), TABLE);
    }

    #[test]
    fn foreign_key_is_removed_and_table_constraint_is_kept() {
        let text = with_column(TABLE, "c", without_reference);
        assert_eq!(text, TABLE.replace(" CONSTRAINT \"t_c_fkey\" REFERENCES \"o\" (\"id\")", ""));
        assert_eq!(without_references(TABLE), text);
        let table_constraint = r#"CREATE TABLE "t" ( "a" text, CONSTRAINT "t_a_key" UNIQUE ("a") )"#;
        assert_eq!(without_references(table_constraint), table_constraint);
    }

    #[test]
    fn default_that_contains_the_word_constraint_is_kept() {
        let plain = r#""a" text DEFAULT 'a CONSTRAINT "x"'''"#;
        let refers = |name: &str| format!("{plain} CONSTRAINT \"{name}\" REFERENCES \"o\" (\"id\")");
        assert_eq!(without_reference(&refers("x")), plain);
        assert_eq!(with_renamed_constraints(&refers("x"), |name| (name == "x").then(|| "y".to_owned())), refers("y"));
    }
}
