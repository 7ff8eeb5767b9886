//! Reserved names: words of Rust, columns of the server and of PostgreSQL, and paths next to the API.

/// Keywords of Rust that are names with `r#`.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move",
    "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Keywords of Rust that are not names even with `r#`.
const NEVER: &[&str] = &["crate", "self", "super", "_"];

/// True for a keyword of Rust.
pub fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name) || NEVER.contains(&name)
}

/// True for a keyword that is not a name even with `r#`.
pub fn is_never_a_name(name: &str) -> bool {
    NEVER.contains(&name)
}

/// Fields that the server adds to a record.
pub const SERVER_FIELDS: &[&str] = &["id", "created_at", "updated_at", "deleted_at", "custom_fields"];

/// The resource of the callers.
pub const USER: &str = "user";

/// Names that expressions have for the request. A field of this name would take their place.
pub const REQUEST_NAMES: &[&str] = &["caller", "now", "today"];

/// Columns that every table of PostgreSQL has.
pub const SYSTEM_COLUMNS: &[&str] = &["cmax", "cmin", "ctid", "tableoid", "xmax", "xmin"];

/// Prefix of the names that the runtime adds to statements.
pub const STATEMENT_PREFIX: &str = "charter_";

/// The key of a list response for the total and the page, next to the plural.
pub const LIST_META: &str = "meta";

/// The relation that leads to custom fields in `q`: `cf.colour`.
pub const CUSTOM_FIELD_RELATION: &str = "cf";

/// First segments of paths that no resource has: pages, files, health checks, the MCP endpoint, and the search over all resources.
pub const TOP_PATHS: &[&str] = &["api", "docs", "files", "health", MCP_PATH, "panel", SEARCH_PATH];
pub const MCP_PATH: &str = "mcp";
pub const SEARCH_PATH: &str = "search";

/// Segment after the path of a collection: the form for a new record. The panel has the paths of the API.
pub const NEW_PAGE: &str = "new";
pub const VIEWS_PAGE: &str = "views";
pub const COLUMNS_PAGE: &str = "columns";
pub const EXPORT_PAGE: &str = "export";
pub const COLLECTION_PAGES: &[&str] = &[NEW_PAGE, VIEWS_PAGE, COLUMNS_PAGE, EXPORT_PAGE];

/// Segment after the path of a record: the panel's input for one field, in a list.
pub const CELL_PAGE: &str = "cell";
/// The panel's page that asks before it deletes.
pub const DELETE_PAGE: &str = "delete";
pub const EDIT_PAGE: &str = "edit";
pub const HISTORY_PAGE: &str = "history";
pub const RECORD_PAGES: &[&str] = &[CELL_PAGE, DELETE_PAGE, EDIT_PAGE, HISTORY_PAGE];

/// Segments of the API's own operations: bulk writes and summaries after a collection, restore and files after a record.
pub const BULK_PATH: &str = "bulk";
pub const SUMMARY_PATH: &str = "summary";
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
