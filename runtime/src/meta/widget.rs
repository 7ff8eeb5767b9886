//! Form inputs for fields.

/// Form input that replaces the default of the kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Widget {
    /// Multi-line input for a string.
    Textarea,
    /// Radio buttons for words and codes.
    Radio,
    /// Monospaced text, in the form and on the page.
    Monospace,
    /// An amount of money with the company's currency symbol, in the form and on the page.
    Money,
}
