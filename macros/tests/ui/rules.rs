use charter_runtime::generated::*;

mod product {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "product")]
    pub struct Model {
        pub id: i64,
        #[field(string(3), min = "1", max_length = 2)]
        pub name: String,
        #[field(min = 0, max = "ten", below = "1,5")]
        pub count: i32,
        #[field(min_length = 1, max_length = 3, pattern = "1.*", url, email)]
        pub size: i32,
        #[field(text, min_length = "1", exists = "currency")]
        pub code: String,
        #[field(differs_from = "ends_at", after = "beginns_at", not_before = "colour")]
        pub ends_at: DateTimeUtc,
        pub begins_at: DateTimeUtc,
    }
}

fn main() {}
