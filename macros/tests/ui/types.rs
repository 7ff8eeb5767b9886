use charter_runtime::generated::*;

mod product {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "product")]
    pub struct Model {
        pub id: i64,
        pub name: String,
        pub price: Option<Decimal<2>>,
        pub size: Vec<i64>,
        #[field(decimal(12, 4))]
        pub weight: Decimal<2>,
        #[field(decimal(12, 4))]
        pub charge: i64,
        #[field(string(20))]
        pub sku: i64,
        #[field(integer)]
        pub count: Option<i64>,
        #[field(reference("group"))]
        pub group_id: i32,
        #[field(list(20))]
        pub tags: String,
        #[field(timestamp(seconds))]
        pub starts_at: Date,
        #[field(boolean)]
        pub active: Option<Option<bool>>,
        #[field(json)]
        pub sizes: Vec<i64>,
    }
}

fn main() {}
