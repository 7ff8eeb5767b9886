use charter_runtime::generated::*;

mod keyless {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "keyless")]
    pub struct Model {
        pub code: i64,
    }
}

mod short {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "short")]
    pub struct Model {
        pub id: i32,
    }
}

mod optional {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "optional")]
    pub struct Model {
        #[field(bigint, required, no_sort)]
        pub id: Option<i64>,
    }
}

fn main() {}
