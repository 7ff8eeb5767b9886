//! Keywords that only the grammar has. `charter_model` has those that the runtime needs too.

use charter_model::keywords;

keywords! {
    /// The value of `delete`. Without the key, deleting removes the row.
    Deletion { Soft = "soft" }

    /// The short form of `output`.
    OutputWord {
        /// A new record of the same resource.
        Created = "created",
    }

    /// The short forms of `filters`.
    FilterWord { Shown = "shown", None = "none" }

    /// The short forms of `sorts`.
    SortWord { Shown = "shown", None = "none" }
}
