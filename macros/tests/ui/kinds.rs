use charter_runtime::generated::*;

mod product {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "product")]
    pub struct Model {
        pub id: i64,
        #[field(string)]
        pub a: String,
        #[field(string(0))]
        pub b: String,
        #[field(text(20))]
        pub c: String,
        #[field(decimal(12))]
        pub d: Decimal<2>,
        #[field(decimal(19, 2))]
        pub e: Decimal<2>,
        #[field(decimal(4, 5))]
        pub f: Decimal<5>,
        #[field(timestamp)]
        pub g: DateTimeUtc,
        #[field(timestamp(micros))]
        pub h: DateTimeUtc,
        #[field(enumeration())]
        pub i: String,
        #[field(enumeration("rental", "Rental"))]
        pub j: String,
        #[field(enumeration(rental, 1))]
        pub k: String,
        #[field(code("Bulk"))]
        pub l: i32,
        #[field(code(1 = "Bulk", 1 = "Serialised", 3000000000 = "Both"))]
        pub m: i32,
        #[field(reference(product_group))]
        pub n: i64,
        #[field(polymorphic_id("member"))]
        pub o: i64,
        #[field(polymorphic_id(type_field = "regarding"))]
        pub p: i64,
        #[field(polymorphic_id(type_field = "j"))]
        pub q: i64,
        #[field(polymorphic_id)]
        pub r: i64,
        #[field(enum("rental"))]
        pub s: String,
        #[field(interger)]
        pub t: i32,
        #[field(integer, integer)]
        pub u: i32,
        #[field(code)]
        pub v: i32,
        #[field(polymorphic_type("member", "member"))]
        pub w: String,
        #[field(string(20), text)]
        pub x: String,
        #[field(integer, nullable)]
        pub y: i32,
        #[field(ref("group"), access = "read_only")]
        pub z: i64,
    }
}

fn main() {}
