//! Open doors: records that callers without a token create, with the fields that the resource lists.

use super::create;
use crate::catalog::Entry;
use crate::error::{Error, Result};
use crate::meta::{Access, DefaultValue, FieldMeta, Kind, Operation, PublicMeta, Rule};
use crate::ops::Context;
use crate::ops::endpoints::RouteOperation;
use crate::ops::input::body::Body;
use crate::suggest::hint;

/// Creates a record from the fields of a body, and returns its id. The record belongs to nobody: owner and row rules do not
/// limit it, and custom fields are left out.
///
/// # Errors
/// 422 with every problem; a field that the door does not list is an unknown one.
pub async fn create(context: &Context<'_>, entry: &Entry, door: &PublicMeta, body: &Body<'_>) -> Result<i64> {
    let is_listed = |name: &str| door.create.contains(&name);
    let fields = body.fields.iter().filter(|(name, _)| is_listed(name)).cloned().collect();
    let listed = Body { fields, outside: body.outside.iter().filter(|name| is_listed(name)).cloned().collect() };
    let mut changes = create::read(context, entry, &listed, None, &[]).await?;
    let label = entry.meta.label.to_lowercase();
    let fields = body.fields.iter().map(|(name, _)| name);
    for name in fields.chain(&body.outside).filter(|name| !is_listed(name)) {
        let hint = hint(name, door.create.iter().copied());
        changes.errors.add(name.to_string(), format!("is not a field of {label}{hint}"));
    }
    let result = create::finish(context, entry, "create", &[], &mut changes).await?;
    result.created.ok_or_else(|| Error::internal("the create returned no id"))
}

/// The fields and the limit of the open door of an operation: `subject, message: 20/hour`.
pub fn described(entry: &Entry, call: RouteOperation) -> Option<String> {
    let door = entry.meta.public.filter(|_| matches!(call, RouteOperation::Operation(Operation::Create)))?;
    Some(format!("{}: {}", door.create.join(", "), door.limit.text()))
}

/// The problem of an open door of a resource that is written in Rust. Codegen checks those in YAML.
pub fn problem(entry: &Entry) -> Option<String> {
    let door = entry.meta.public?;
    let meta = entry.meta;
    if !meta.operations.contains(&Operation::Create) || meta.singleton || meta.under.is_some() {
        return Some(format!(
            "`public` of {} needs the operation `create` of a collection without a parent",
            meta.plural
        ));
    }
    let is_unfit = |name: &&&str| {
        let is_in_set = meta.unique.iter().any(|set| set.fields.contains(name));
        entry.field(name).is_none_or(|field| {
            let needs_right = !field.read.is_empty() || !field.write.is_empty();
            let tells_of_records = field.rules.iter().any(|rule| matches!(rule, Rule::Unique | Rule::Exists { .. }))
                || matches!(
                    field.kind,
                    Kind::Ref { .. }
                        | Kind::RefList { .. }
                        | Kind::PolymorphicRef { .. }
                        | Kind::PolymorphicType { .. }
                )
                || is_in_set;
            let is_plain = field.is_column() && !matches!(field.kind, Kind::CustomFields);
            let is_open = matches!(field.access, Access::Writable | Access::Immutable);
            !is_plain || !is_open || needs_right || tells_of_records
        })
    };
    if let Some(name) = door.create.iter().find(is_unfit) {
        return Some(format!("`public` of {} lists `{name}`, which nobody may send without a token", meta.plural));
    }
    if door.create.is_empty() {
        return Some(format!("`public` of {} lists no field", meta.plural));
    }
    let is_left_empty = |field: &&FieldMeta| match field.default {
        DefaultValue::Caller => !field.nullable,
        DefaultValue::None => field.required,
        _ => false,
    };
    let missing = meta.fields.iter().filter(|field| !door.create.contains(&field.name)).find(is_left_empty)?;
    Some(format!("`public` of {} leaves `{}` without a value", meta.plural, missing.name))
}
