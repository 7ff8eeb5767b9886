//! How people type a value, where its kind leaves a choice.

/// What stands in a form for a field, in place of the input that fits its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Widget {
    /// Several lines for a string.
    Textarea,
    /// All choices at once, for words and codes.
    Radio,
    /// Letters of one width for a text, also where it is shown.
    Monospace,
    /// An amount of money, with the symbol of the company's currency, also where it is shown.
    Money,
}
