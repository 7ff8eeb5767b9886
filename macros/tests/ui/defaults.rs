use charter_runtime::generated::*;

mod product {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "product")]
    pub struct Model {
        pub id: i64,
        #[field(string(3), default = "long")]
        pub a: String,
        #[field(default = "1.5")]
        pub b: i32,
        #[field(default = "many")]
        pub c: i64,
        #[field(default = "yes")]
        pub d: bool,
        #[field(decimal(4, 2), default = "100")]
        pub e: Decimal<2>,
        #[field(decimal(4, 2), default = "0.001")]
        pub f: Decimal<2>,
        #[field(decimal(4, 2), default = "free")]
        pub g: Decimal<2>,
        #[field(enumeration("rental", "sale"), default = "rentel")]
        pub h: String,
        #[field(code(1 = "Bulk", 2 = "Serialised"), default = "3")]
        pub i: i32,
        #[field(default = "2026-01-01T00:00:00Z")]
        pub j: DateTimeUtc,
        #[field(reference("group"), default = "1")]
        pub k: i64,
        #[field(default_now)]
        pub l: i32,
        #[field(default_caller)]
        pub m: i32,
        #[field(default = 1)]
        pub n: i32,
        #[field(default = "none")]
        pub o: Json,
    }
}

fn main() {}
