//! Reserved names: words of Rust, columns of the server and of PostgreSQL, and paths beside the API.

/// Words that Rust reserves and that work behind `r#`.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move",
    "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Words that are never a name in Rust, not even behind `r#`.
const NEVER: &[&str] = &["crate", "self", "super", "_"];

/// Whether Rust reserves the word.
pub fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name) || NEVER.contains(&name)
}

/// Whether the word cannot be a name in Rust, not even behind `r#`.
pub fn is_never_a_name(name: &str) -> bool {
    NEVER.contains(&name)
}

/// Fields that the server adds to a record.
pub const SERVER_FIELDS: &[&str] = &["id", "created_at", "updated_at", "deleted_at", "custom_fields"];

/// Columns that every table of PostgreSQL has.
pub const SYSTEM_COLUMNS: &[&str] = &["cmax", "cmin", "ctid", "tableoid", "xmax", "xmin"];

/// The beginning of the names that the runtime writes into statements beside columns and tables.
pub const STATEMENT_PREFIX: &str = "charter_";

/// The key of a list response beside the plural, for the total and the page.
pub const LIST_META: &str = "meta";

/// The relation that leads to custom fields in `q`: `cf.colour`.
pub const CUSTOM_FIELD_RELATION: &str = "cf";

/// First segments of paths beside the API: pages, files, and what monitors ask for.
pub const TOP_PATHS: &[&str] = &["api", "docs", "files", "health", "panel"];

/// Segments behind the path of a collection: pages of the panel, whose paths are the API's.
pub const NEW_PAGE: &str = "new";
pub const VIEWS_PAGE: &str = "views";
pub const COLLECTION_PAGES: &[&str] = &[NEW_PAGE, VIEWS_PAGE];

/// Segments behind the path of a record: pages of the panel.
pub const DELETE_PAGE: &str = "delete";
pub const EDIT_PAGE: &str = "edit";
pub const HISTORY_PAGE: &str = "history";
pub const RECORD_PAGES: &[&str] = &[DELETE_PAGE, EDIT_PAGE, HISTORY_PAGE];

/// Segments of the API's own operations: many writes behind a collection, restoring and files behind a record.
pub const BULK_PATH: &str = "bulk";
pub const RESTORE_PATH: &str = "restore";
pub const ATTACHMENTS_PATH: &str = "attachments";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_rust() {
        assert!(is_keyword("type") && is_keyword("self") && !is_keyword("name"));
        assert!(is_never_a_name("self") && !is_never_a_name("type"));
    }
}
