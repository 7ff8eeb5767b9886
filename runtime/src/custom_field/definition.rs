//! The definition of a custom field: a record of its own, with the rules that its type implies.

use std::collections::HashSet;

use charter_macros::Resource;
use sea_orm::ActiveValue::Set;
use sea_orm::PaginatorTrait;
use sea_orm::entity::prelude::*;

use super::CustomFieldType;
use crate::db::{Connection, Lock};
use crate::error::Result;
use crate::finding::Finding;
use crate::ops::{Context, Draft, Route};
use crate::query::hint;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "custom_field", label = "Custom field", unique("entity_type", "name"))]
#[resource(description = "A field that records of one entity type have beside those of the service.")]
pub struct Model {
    pub id: i64,
    #[field(string(64), required, immutable, description = "The plural name of the resource whose records have it.")]
    pub entity_type: String,
    #[field(
        string(63),
        required,
        immutable,
        pattern = "[a-z][a-z0-9_]*",
        description = "Its key in `custom_fields`, unique within the entity type.",
        example = "colour"
    )]
    pub name: String,
    #[field(string(255), description = "What people call it; by default made from the name.")]
    pub label: String,
    #[field(
        enumeration("string", "text", "integer", "decimal", "boolean", "date", "timestamp", "choice"),
        required,
        immutable,
        description = "The type of its values.",
        example = "choice"
    )]
    pub field_type: String,
    #[field(list(255), description = "What can be chosen, for the type choice alone.", example = "red,blue")]
    pub choices: Json,
    #[field(default = "false", description = "Whether a new record must have a value for it.")]
    pub required: bool,
    #[field(read_only)]
    pub created_at: DateTimeUtc,
    #[field(read_only)]
    pub updated_at: DateTimeUtc,
}

/// So many records of one entity type may have.
const MOST: u64 = 100;

/// What the names of negated predicates begin with: `q[cf.x_not_eq]` asks about `x`.
const NOT: &str = "_not";

/// What the rest of the runtime needs of a definition.
#[derive(Debug, Clone)]
pub struct Definition {
    pub name: String,
    pub label: String,
    pub field_type: String,
    pub choices: Vec<String>,
    pub required: bool,
}

/// The definitions of an entity type, by name.
pub async fn load(connection: &Connection, entity_type: &str) -> Result<Vec<Definition>> {
    let models = Entity::find().filter(Column::EntityType.eq(entity_type)).order_by_id_asc().all(connection).await?;
    Ok(models.into_iter().map(Definition::from).collect())
}

impl From<Model> for Definition {
    fn from(model: Model) -> Definition {
        let choices = serde_json::from_value(model.choices).unwrap_or_default();
        Definition {
            name: model.name,
            label: model.label,
            field_type: model.field_type,
            choices,
            required: model.required,
        }
    }
}

pub fn route() -> Route {
    crate::route!(Entity, Rules, hooks(check, before_save, after_commit), actions())
}

/// The rules of a definition.
trait Rules {
    fn check(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    fn before_save(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    fn after_commit(context: &Context<'_>, definition: &Model) -> impl Future<Output = Result<()>> + Send;
}

impl Rules for Entity {
    async fn check(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        if let Some(entity_type) = draft.model.entity_type.try_as_ref().cloned() {
            let known = context.catalog().entries().iter().filter(|e| e.meta.custom_fields).map(|e| e.meta.plural);
            if !known.clone().any(|plural| plural == entity_type) {
                let hint = hint(&entity_type, known);
                draft.error("entity_type", format!("must be the plural name of a resource with custom fields{hint}"));
            }
        }
        if draft.before.is_none() {
            check_beside_others(context, draft).await?;
        }
        let field_type = draft.model.field_type.try_as_ref().and_then(|name| CustomFieldType::from_name(name));
        let choices = draft.model.choices.try_as_ref().cloned();
        let (Some(field_type), Some(choices)) = (field_type, choices) else { return Ok(()) };
        match (field_type == CustomFieldType::Choice, choices.as_array().is_none_or(Vec::is_empty)) {
            (true, true) => draft.error("choices", "must name at least one choice"),
            (false, false) => draft.error("choices", "belong to fields of the type choice"),
            _ => {}
        }
        if choices
            .as_array()
            .into_iter()
            .flatten()
            .any(|choice| choice.as_str().is_none_or(|text| text.trim().is_empty()))
        {
            draft.error("choices", "must not be blank: an empty text clears the field");
        }
        let mut seen = HashSet::new();
        for choice in choices.as_array().into_iter().flatten().filter(|choice| !seen.insert(choice.to_string())) {
            draft.error("choices", format!("name {choice} twice"));
        }
        Ok(())
    }

    async fn before_save(_: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        if draft.model.label.is_not_set()
            && let Some(name) = draft.model.name.try_as_ref()
        {
            // `max_power` is labelled `Max power`.
            let spaced = name.replace('_', " ");
            draft.model.label = Set(spaced[..1].to_ascii_uppercase() + &spaced[1..]);
        }
        Ok(())
    }

    /// Its indexes are made, or dropped, beside the requests.
    async fn after_commit(context: &Context<'_>, _definition: &Model) -> Result<()> {
        context.state().custom_fields_changed.notify();
        Ok(())
    }
}

/// What the other definitions of its entity type leave to a new one.
async fn check_beside_others(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
    let Some(entity_type) = draft.model.entity_type.try_as_ref() else { return Ok(()) };
    // One is made after the other, so that of two that go at once the second sees the first.
    Lock::Fields.acquire(context.db()).await?;
    let others = Entity::find().filter(Column::EntityType.eq(entity_type));
    // Each has indexes, which every write keeps and PostgreSQL locks with their table.
    if others.clone().count(context.db()).await? >= MOST {
        draft.error("entity_type", format!("has {MOST} custom fields, and can have no more"));
    }
    let Some(name) = draft.model.name.try_as_ref() else { return Ok(()) };
    let negated = [Some(format!("{name}{NOT}")), name.strip_suffix(NOT).map(String::from)];
    let alike = others.filter(Column::Name.is_in(negated.into_iter().flatten()));
    if let Some(other) = alike.one(context.db()).await? {
        let problem = format!("must not be told from `{}` by `{NOT}`, with which predicates begin", other.name);
        draft.error("name", problem);
    }
    Ok(())
}

/// The definitions whose entity type has no custom fields any more.
pub async fn lost(context: &Context<'_>) -> Result<Vec<Finding>> {
    let has = |plural: &str| context.catalog().by_plural(plural).is_some_and(|entry| entry.meta.custom_fields);
    let definitions = Entity::find().all(context.db()).await?.into_iter();
    let lost = definitions.filter(|definition| !has(&definition.entity_type)).map(|definition| {
        let problem = format!("belongs to `{}`, which has no custom fields", definition.entity_type);
        Finding { kind: "custom_fields", id: definition.id, name: definition.name, problem }
    });
    Ok(lost.collect())
}
