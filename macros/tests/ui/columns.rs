use charter_runtime::generated::*;

mod product {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "product", owner = "user", under(resource = "shop", field = "group_id"))]
    #[resource(unique("sku", "sku"), index("naem"), index(name), unique(), search("sku", "weight"))]
    #[resource(include(name = "group", via = "gruop_id"), include(name = "group", via = "sku"))]
    #[resource(include(name = "values", custom_fields))]
    pub struct Model {
        pub id: i64,
        #[field(string(64))]
        pub sku: String,
        #[field(string(255))]
        pub name: String,
        #[field(reference("group"))]
        pub group_id: i64,
        pub weight: i32,
    }
}

mod twice {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "twice", owner = "line_1")]
    pub struct Model {
        pub id: i64,
        #[embedded("line_1", resource = "line", by = "twice_id")]
        pub line_1: i32,
        pub line1: i32,
        pub line__1: i32,
    }
}

fn main() {}
