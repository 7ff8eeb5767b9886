// One misuse is one error: uses of the derived items elsewhere compile.

mod product {
    use charter_runtime::generated::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "product", evnts)]
    pub struct Model {
        pub id: i64,
        #[field(string(64))]
        pub sku: String,
    }

    #[derive(Clone, Debug, Input)]
    pub struct MergeInput {
        pub other: i64,
    }

    #[derive(Clone, Debug, Output)]
    pub struct MergeOutput {
        #[field(required)]
        pub other: i64,
    }
}

use charter_runtime::generated::{ColumnTrait, EntityTrait, Input, Output, Resource};

fn takes<R: Resource, I: Input, O: Output>() -> &'static str {
    R::meta().name
}

fn main() {
    let _ = product::Entity::find().into_model::<product::Model>();
    let _ = product::Column::Sku.eq("LMP-1");
    let _ = product::ActiveModel::default().sku;
    let _ = takes::<product::Entity, product::MergeInput, product::MergeOutput>();
}
