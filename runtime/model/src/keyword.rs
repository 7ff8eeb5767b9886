//! Closed sets of words, each an enum whose variants know their spelling.

/// A closed set of words.
pub trait Keyword: Copy + PartialEq + 'static {
    /// Every word with its value, in the order of the documentation.
    const KEYWORDS: &'static [(&'static str, Self)];

    /// The spelling of a value.
    fn word(self) -> &'static str {
        let found = Self::KEYWORDS.iter().find(|(_, value)| *value == self);
        found.map_or("", |(spelling, _)| spelling)
    }

    /// The value of a spelling.
    fn read(word: &str) -> Option<Self> {
        Self::KEYWORDS.iter().find(|(spelling, _)| *spelling == word).map(|(_, value)| *value)
    }
}

/// Declares enums that implement [`Keyword`], with `ALL` values and all `WORDS`.
#[macro_export]
macro_rules! keywords {
    ($($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal),+ $(,)? })+) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[$doc])* $variant),+ }

        impl $name {
            /// Every value, in the order of the documentation.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The spellings of all values.
            pub const WORDS: &'static [&'static str] = &[$($word),+];
        }

        impl $crate::Keyword for $name {
            const KEYWORDS: &'static [(&'static str, $name)] = &[$(($word, $name::$variant)),+];
        }
    )+};
}

keywords! {
    /// The form of a timestamp in a response. A request may use RFC 3339 with any offset.
    TimestampForm {
        /// `2026-03-21T10:00:00Z`
        Seconds = "seconds",
        /// `2026-03-21T10:00:00.000Z`
        Millis = "millis",
        /// `2026-03-21T10:00:00+00:00`
        Offset = "offset",
    }

    /// One of the five plain operations.
    Operation { List = "list", Show = "show", Create = "create", Update = "update", Delete = "delete" }

    /// The values of `access` in YAML. [`Access`] has more, for the platform's own resources.
    AccessWord { ReadOnly = "read_only", Immutable = "immutable", Secret = "secret" }

    /// The input of a field in the panel, where its type leaves a choice.
    Widget {
        /// A string in several lines.
        Textarea = "textarea",
        /// All choices of an enum or a code at once.
        Radio = "radio",
        /// Text in a monospaced font, also where it is shown.
        Monospace = "monospace",
        /// A decimal with the symbol and the separators of the configured currency, also where it is shown.
        Money = "money",
    }

    /// The value that a record has from the records that refer to it.
    RollupFunction {
        /// Their number.
        Count = "count",
        Sum = "sum",
        /// The smallest value, or the earliest.
        Min = "min",
        Max = "max",
    }

    /// The effect of the deletion of a record on those that refer to it by a field.
    OnDelete {
        /// The deletion fails.
        Restrict = "restrict",
        /// The field becomes null.
        Clear = "clear",
        /// They are deleted, too.
        Cascade = "cascade",
    }

    /// How the numbers of a `sequence` are taken.
    Numbering {
        /// At once: no record waits for another, and a refused one leaves a gap.
        Fast = "fast",
        /// With the record: the next record waits until it is stored, and there is no gap.
        Gapless = "gapless",
    }

    /// A point in the life of a record at which the application's code runs.
    Hook {
        Check = "check",
        BeforeSave = "before_save",
        AfterSave = "after_save",
        BeforeDelete = "before_delete",
        AfterDelete = "after_delete",
        AfterCommit = "after_commit",
        Scope = "scope",
        Consequences = "consequences",
    }

    /// The target of an action.
    ActionOn {
        /// `/<path>/{id}/<name>`
        Record = "record",
        /// `/<path>/<name>`
        Collection = "collection",
    }

    /// The HTTP method of an action.
    ActionMethod {
        /// Needs the read ability, unless the action says that it needs the other.
        Get = "get",
        /// Needs the write ability.
        Post = "post",
    }

    /// The parts of a resource that can be deprecated. The word is the key in attributes.
    Deprecated {
        Field = "field",
        /// Named as in `q`: `name_cont`.
        Filter = "filter",
        Action = "action",
    }
}

/// The writer of a field, and the time of the write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Access {
    #[default]
    Writable,
    /// The server ignores the value that a client sends.
    ReadOnly,
    /// Set on create. A different value on update is rejected with 422.
    Immutable,
    /// Written by clients, never shown or filtered. The audit log shows it.
    WriteOnly,
    /// Written by clients, never shown, logged or filtered.
    Secret,
    /// Neither written nor shown: the server's own columns.
    Internal,
}

impl Access {
    /// The key in `#[field(…)]` for each access but [`Access::Writable`], which is the default.
    pub const WORDS: &'static [(&'static str, Access)] = &[
        ("read_only", Access::ReadOnly),
        ("immutable", Access::Immutable),
        ("write_only", Access::WriteOnly),
        ("secret", Access::Secret),
        ("internal", Access::Internal),
    ];

    /// The key in `#[field(…)]`; none for a field that clients write.
    pub fn word(self) -> Option<&'static str> {
        Access::WORDS.iter().find(|(_, access)| *access == self).map(|(word, _)| *word)
    }
}

impl From<AccessWord> for Access {
    fn from(word: AccessWord) -> Access {
        match word {
            AccessWord::ReadOnly => Access::ReadOnly,
            AccessWord::Immutable => Access::Immutable,
            AccessWord::Secret => Access::Secret,
        }
    }
}

/// The responses in which a field appears.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shown {
    /// In a list and in the single record.
    #[default]
    Always,
    /// In the single record only.
    Detail,
    Never,
}
