use charter_runtime::generated::*;

mod product {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "product")]
    pub struct Product {
        pub id: i64,
    }
}

mod generic {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "generic")]
    pub struct Model<T> {
        pub id: T,
    }
}

#[derive(Resource)]
#[resource(name = "word")]
pub enum Model {
    Word,
}

#[derive(Input)]
pub struct Tuple(i64);

#[derive(Output)]
pub struct Unit;

fn main() {}
