//! Inputs of the panel's forms.

/// An input that replaces the default one of a field's kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Widget {
    /// Several lines, for a string.
    Textarea,
    /// Radio buttons, for enums and codes.
    Radio,
    /// Monospace font for a text, also on pages that show it.
    Monospace,
    /// An amount in the company's currency, with its symbol, also on pages that show it.
    Money,
}
