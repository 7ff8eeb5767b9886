use charter_runtime::generated::*;

mod nameless {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    pub struct Model {
        pub id: i64,
    }
}

mod misspelt {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "StockLevel", plurl = "stock_levels", label = "", label = "Level", label = "Levels")]
    #[resource(soft_delete = true, events("created"), singleton = "yes", path)]
    #[resource("stock", colour = "red")]
    pub struct Model {
        pub id: i64,
    }
}

mod malformed {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name: "stock_level")]
    #[resource(ability = 1.5)]
    pub struct Model {
        pub id: i64,
    }
}

fn main() {}
