use charter_runtime::generated::*;

mod asked {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "asked", soft_delete, custom_fields)]
    pub struct Model {
        pub id: i64,
    }
}

mod unasked {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "unasked")]
    pub struct Model {
        pub id: i64,
        pub custom_fields: Json,
        pub deleted_at: Option<DateTimeUtc>,
    }
}

mod wrong {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "wrong", soft_delete, custom_fields)]
    pub struct Model {
        pub id: i64,
        pub custom_fields: Option<Json>,
        pub deleted_at: DateTimeUtc,
    }
}

mod mistyped {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "mistyped", soft_delete)]
    pub struct Model {
        pub id: i64,
        pub deleted_at: Option<Uuid>,
    }
}

mod memo {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "memo", deprecated(field = "text", since = "2026-02-31"))]
    pub struct Model {
        pub id: i64,
        #[field(string(50))]
        pub memo: Option<String>,
        #[field(enumeration("draft", "a_word_that_is_too_long_for_its_column_which_has_64_characters_and_no_more"))]
        pub text: String,
    }
}

fn main() {}
