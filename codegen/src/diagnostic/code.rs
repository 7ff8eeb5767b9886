//! Stable codes of diagnostics. A code keeps its meaning; the number of a removed one is never reused.

use std::fmt;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal),+ $(,)?) => {
        /// A kind of problem. `C00` reading, `C01` names, `C02` types, `C03` values and rules, `C04` relations, `C05`
        /// queries, `C06` actions, `C07` whole resources.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code { $($(#[$doc])* $name),+ }

        impl Code {
            /// All codes in order.
            pub const ALL: &'static [Code] = &[$(Code::$name),+];

            /// `C0002`
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $code),+ }
            }
        }
    };
}

codes! {
    Unreadable = "C0001",
    UnknownKey = "C0002",
    WrongShape = "C0003",
    DuplicateKey = "C0004",
    MissingKey = "C0005",
    UnknownWord = "C0006",
    FileName = "C0007",

    BadName = "C0101",
    ReservedName = "C0102",
    NameTaken = "C0103",
    AmbiguousName = "C0104",
    BadPermission = "C0105",
    PluralName = "C0106",

    UnknownType = "C0201",
    TypeArguments = "C0202",
    Values = "C0203",
    Contradiction = "C0204",
    NoValue = "C0205",
    NeverGiven = "C0206",

    DefaultMisfit = "C0301",
    DefaultHook = "C0302",
    RuleMisfit = "C0303",
    BoundMisfit = "C0304",
    EmptyRange = "C0305",
    BadPattern = "C0306",
    DefaultBreaksRule = "C0307",
    BadCondition = "C0308",
    BadCheck = "C0309",
    BadFrozen = "C0310",
    BadUnique = "C0311",
    BadSequence = "C0312",
    BadTitle = "C0313",
    ComputedMisfit = "C0315",
    RollupSource = "C0316",
    RollupMisfit = "C0317",
    RollupUse = "C0318",
    SeedRule = "C0319",
    JoinTable = "C0320",
    LinkName = "C0321",
    LinkTarget = "C0322",
    BadChoices = "C0325",
    BadPublic = "C0326",
    JobMisfit = "C0330",
    ExternalAction = "C0331",
    DefaultExpression = "C0335",
    ActionRule = "C0336",

    UnknownResource = "C0401",
    DerivedPath = "C0402",
    ExistsPath = "C0403",
    OtherField = "C0404",
    ByField = "C0405",
    Embedding = "C0406",
    Nesting = "C0407",
    IncludeTarget = "C0408",
    RefTarget = "C0409",
    OnDelete = "C0410",
    CascadeCycle = "C0411",

    UnknownField = "C0501",
    UnknownPredicate = "C0502",
    PredicateMisfit = "C0503",
    NotQueryable = "C0504",
    SearchMisfit = "C0505",
    NotIndexable = "C0506",
    OwnerMisfit = "C0507",
    Unserved = "C0508",
    Unasked = "C0509",

    ActionAnswer = "C0601",
    ActionName = "C0602",
    ActionEvent = "C0603",
    IdleHook = "C0604",
    StateField = "C0605",
    UnknownState = "C0606",
    UnreachableState = "C0607",
    IdleTransition = "C0608",
    TransitionSet = "C0609",

    Singleton = "C0701",
    Seed = "C0702",
    Deprecation = "C0703",
    Idle = "C0704",
    Language = "C0705",
}

impl Code {
    /// True if it is a warning, which does not stop the build.
    pub fn is_warning(self) -> bool {
        matches!(
            self,
            Code::PluralName
                | Code::NeverGiven
                | Code::Unserved
                | Code::Unasked
                | Code::IdleHook
                | Code::UnreachableState
                | Code::Idle
        )
    }

    /// `warning` or `error`.
    pub fn severity(self) -> &'static str {
        if self.is_warning() { "warning" } else { "error" }
    }

    /// Reads `C0002`, in any case.
    pub fn read(text: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.as_str().eq_ignore_ascii_case(text))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
