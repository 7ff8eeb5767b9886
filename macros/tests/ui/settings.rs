use charter_runtime::generated::*;

mod product {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "product", operations("list", "creat", "list"), under = "shop", under(resource = "shop"))]
    #[resource(include("group"), include(name = "levels", many = "level"), include(name = "all", via = "a", many = "b"))]
    #[resource(action(name = "Close", on = "row", method = "put"), action(name = "peek", on = "record", method = "get", confirm = "No."), action(name = "convert", on = "collection", until = "id"))]
    #[resource(action(name = "merge", on = "record", output = "Merged"), action(name = "split", on = "record", key = "parts", needs_write, until = "not opne"))]
    #[resource(action(on = "record"), action(name = "split", on = "record", inptu = Split), action)]
    #[resource(zebra = "x")]
    pub struct Model {
        pub id: i64,
    }
}

fn main() {}
