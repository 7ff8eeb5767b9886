use charter_runtime::generated::*;

mod product {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "product")]
    pub struct Model {
        pub id: i64,
        #[field(reference("group"))]
        #[derived]
        #[derived("group_name")]
        #[derived("group_name", from = "group_id")]
        #[derived("group_name", from = "gruop_id.name")]
        #[derived(from = "group_id.name")]
        #[derived("group_name", from = "method.name")]
        #[derived("group_name", from = "count.name", required)]
        pub group_id: i64,
        #[field(code(1 = "Bulk"))]
        #[embedded("lines", resource = "line")]
        #[embedded(resource = "line", by = "product_id", filter("eq"))]
        pub method: i32,
        #[embedded("group_id", resource = "line", by = "product_id")]
        pub count: i32,
    }
}

fn main() {}
