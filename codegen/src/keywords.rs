//! Words that the grammar alone has. `charter_model` has those that resources have at run time too.

use charter_model::keywords;

keywords! {
    /// What deleting does when it does not remove the row.
    Deletion { Soft = "soft" }

    /// The short way to say what an action answers.
    OutputWord {
        /// A new record of the same resource.
        Created = "created",
    }

    /// The short ways to say what can be filtered.
    FilterWord { Shown = "shown", None = "none" }

    /// The short ways to say what can be sorted by.
    SortWord { Shown = "shown", None = "none" }
}
