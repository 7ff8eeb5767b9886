//! Fields as constants: `loan::Column::DueOn` names the field `due_on`, so that a renamed field does not compile.

use sea_orm::{ColumnTrait, IdenStatic};

use super::Resource;
use crate::meta::FieldMeta;

/// The columns of a resource.
pub trait ResourceColumn: ColumnTrait {
    type Resource: Resource<Column = Self>;
}

/// A field: its column, or its metadata.
pub trait NamedField {
    fn field(self) -> &'static FieldMeta;
}

impl NamedField for &'static FieldMeta {
    fn field(self) -> &'static FieldMeta {
        self
    }
}

impl<C: ResourceColumn> NamedField for C {
    #[expect(clippy::expect_used, reason = "the derive makes both lists from one struct")]
    fn field(self) -> &'static FieldMeta {
        let fields = C::Resource::meta().fields;
        let named = fields.iter().find(|field| field.name == IdenStatic::as_str(&self));
        named.expect("the derive writes the columns and the fields of one struct")
    }
}
