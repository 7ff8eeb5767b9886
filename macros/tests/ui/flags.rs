use charter_runtime::generated::*;

mod product {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "product")]
    pub struct Model {
        pub id: i64,
        #[field(read_only, immutable)]
        pub a: i32,
        #[field(read_only, required)]
        pub b: i32,
        #[field(internal, required)]
        pub c: i32,
        #[field(internal, detail)]
        pub d: i32,
        #[field(required, default = "1")]
        pub e: i32,
        #[field(required, required)]
        pub f: i32,
        #[field(required = "yes")]
        pub g: i32,
        #[field(filter("eq"), no_filter)]
        pub h: i32,
        #[field(filter("contains", "cnt"))]
        pub i: i32,
        #[field(filter)]
        pub j: i32,
        #[field(readonly)]
        pub k: i32,
        #[field(default = "1", default_now)]
        pub l: i32,
        #[field(value = "a + 1", default = "1", min = "0", immutable)]
        pub m: i32,
    }
}

fn main() {}
