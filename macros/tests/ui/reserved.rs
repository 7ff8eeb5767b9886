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

fn main() {}
