//! The closed sets of words of the grammar, each as a type that knows how it is spelled.

/// A closed set of words.
pub trait Word: Copy + PartialEq + 'static {
    /// Every word with what it means, in the order of the documentation.
    const ALL: &'static [(&'static str, Self)];

    /// How it is spelled.
    fn word(self) -> &'static str {
        let found = Self::ALL.iter().find(|(_, value)| *value == self);
        found.map_or("", |(spelling, _)| spelling)
    }

    /// The one that is spelled so.
    fn read(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(spelling, _)| *spelling == word).map(|(_, value)| *value)
    }
}

macro_rules! words {
    ($($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal),+ $(,)? })+) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[$doc])* $variant),+ }

        impl $name {
            /// The spellings of all of them.
            pub const WORDS: &'static [&'static str] = &[$($word),+];
        }

        impl $crate::words::Word for $name {
            const ALL: &'static [(&'static str, $name)] = &[$(($word, $name::$variant)),+];
        }
    )+};
}

words! {
    /// What deleting does when it does not remove the row.
    Deletion { Soft = "soft" }

    /// How timestamps go out.
    TimestampForm { Seconds = "seconds", Millis = "millis", Offset = "offset" }

    /// The five plain operations.
    Operation { List = "list", Show = "show", Create = "create", Update = "update", Delete = "delete" }

    /// The ways in which a field is not simply writable.
    AccessWord {
        /// Ignored when a client sends it.
        ReadOnly = "read_only",
        /// Given on create and never changed.
        Immutable = "immutable",
        /// Written by the client and never shown.
        Secret = "secret",
    }

    /// Well-known forms of text.
    Format { Url = "url", Email = "email" }

    /// How people type and see a value, where its type leaves a choice.
    Widget {
        /// Several lines.
        Textarea = "textarea",
        /// All choices at once.
        Radio = "radio",
        /// Letters of one width.
        Monospace = "monospace",
        /// With the symbol of the company's currency.
        Money = "money",
    }

    /// Places in the life of a record where the application has its say.
    Hook {
        Check = "check",
        BeforeSave = "before_save",
        AfterSave = "after_save",
        BeforeDelete = "before_delete",
        AfterDelete = "after_delete",
        AfterCommit = "after_commit",
        Scope = "scope",
    }

    /// What an action is called on.
    ActionOn { Record = "record", Collection = "collection" }

    /// The HTTP method of an action.
    ActionMethod { Get = "get", Post = "post" }

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

pub(crate) use words;
