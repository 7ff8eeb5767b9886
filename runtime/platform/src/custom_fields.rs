//! Custom fields as a resource: operators define the fields that other resources get at runtime.

use std::collections::HashSet;

use charter_macros::Resource;
use charter_model::naming;
use sea_orm::ActiveValue::Set;
use sea_orm::PaginatorTrait;
use sea_orm::entity::prelude::*;

use charter_core::custom_field::CustomFieldType;
use charter_core::db::Lock;
use charter_core::error::Result;
use charter_core::ops::consequences::{Consequence, DELETE, Effect, Subject, count_visible};
use charter_core::ops::visibility::present;
use charter_core::ops::{Context, Draft, Route};
use charter_core::query::Condition;
use charter_core::query::condition::{Target, Test};
use charter_core::stale_reference::StaleReference;
use charter_core::suggest::hint;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "custom_field", menu = "Administration", label = "Custom field", unique("entity_type", "name"))]
#[resource(description = "A field that is added to the records of one resource at runtime.")]
pub struct Model {
    pub id: i64,
    #[field(
        string(64),
        required,
        immutable,
        description = "The plural name of the resource whose records have the field."
    )]
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
    #[field(string(255), description = "The display name; derived from `name` by default.")]
    pub label: String,
    #[field(
        enumeration("string", "text", "integer", "decimal", "boolean", "date", "time", "timestamp", "choice"),
        required,
        immutable,
        description = "The type of its values.",
        example = "choice"
    )]
    pub field_type: String,
    #[field(list(255), description = "The allowed values, for the type `choice` only.", example = "red,blue")]
    pub choices: Json,
    #[field(default = "false", description = "True if new records must have a value.")]
    pub required: bool,
    #[field(read_only)]
    pub created_at: DateTimeUtc,
    #[field(read_only)]
    pub updated_at: DateTimeUtc,
}

const LOSES_VALUE: Effect = Effect::new("no longer shows its value", "no longer show their values");

/// Maximum number of custom fields per resource.
const MAX_FIELDS_PER_ENTITY: u64 = 100;

/// Prefix of negated predicates: `q[cf.x_not_eq]` is a condition on `x`.
const NEGATION: &str = "_not";

pub fn route() -> Route {
    charter_core::route!(Entity, Rules, hooks(check, before_save, after_commit, consequences), actions())
}

/// Hooks of the resource.
trait Rules {
    fn check(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    fn before_save(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    fn after_commit(
        context: &Context<'_>,
        definition: &Model,
        before: Option<&Model>,
    ) -> impl Future<Output = Result<()>> + Send;
    fn consequences(
        context: &Context<'_>,
        verb: &str,
        ids: &[i64],
    ) -> impl Future<Output = Result<Vec<Consequence>>> + Send;
}

impl Rules for Entity {
    async fn check(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        if let Some(entity_type) = draft.model.entity_type.try_as_ref().cloned() {
            let known = context.catalog().entries().iter().filter(|e| e.meta.custom_fields).map(|e| e.meta.plural);
            if !known.clone().any(|plural| plural == entity_type) {
                let hint = hint(&entity_type, known);
                draft.error(
                    Column::EntityType,
                    format!("must be the plural name of a resource with custom fields{hint}"),
                );
            }
        }
        if draft.before.is_none() {
            check_against_others(context, draft).await?;
        }
        let field_type = draft.model.field_type.try_as_ref().and_then(|name| CustomFieldType::from_name(name));
        let choices = draft.model.choices.try_as_ref().cloned();
        let (Some(field_type), Some(choices)) = (field_type, choices) else { return Ok(()) };
        match (field_type == CustomFieldType::Choice, choices.as_array().is_none_or(Vec::is_empty)) {
            (true, true) => draft.error(Column::Choices, "must contain at least one choice"),
            (false, false) => draft.error(Column::Choices, "are allowed for the type choice only"),
            _ => {}
        }
        if choices
            .as_array()
            .into_iter()
            .flatten()
            .any(|choice| choice.as_str().is_none_or(|text| text.trim().is_empty()))
        {
            draft.error(Column::Choices, "must not be blank: an empty text clears the field");
        }
        let mut seen = HashSet::new();
        for choice in choices.as_array().into_iter().flatten().filter(|choice| !seen.insert(choice.to_string())) {
            draft.error(Column::Choices, format!("contain {choice} twice"));
        }
        Ok(())
    }

    async fn before_save(_: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        if draft.model.label.is_not_set()
            && let Some(name) = draft.model.name.try_as_ref()
        {
            draft.model.label = Set(naming::label(name));
        }
        Ok(())
    }

    /// Creates or drops the indexes in the background.
    async fn after_commit(context: &Context<'_>, _definition: &Model, _: Option<&Model>) -> Result<()> {
        context.state().custom_fields_changed.notify();
        Ok(())
    }

    /// The records that have a value of a deleted field.
    async fn consequences(context: &Context<'_>, verb: &str, ids: &[i64]) -> Result<Vec<Consequence>> {
        let mut found = Vec::new();
        if verb != DELETE {
            return Ok(found);
        }
        for definition in Entity::find().filter(Column::Id.is_in(ids.iter().copied())).all(context.db()).await? {
            let of_type = CustomFieldType::from_name(&definition.field_type);
            let (Some(entry), Some(of_type)) = (context.catalog().by_plural(&definition.entity_type), of_type) else {
                continue;
            };
            let target = Target::Custom { name: definition.name, kind: of_type.comparison_type() };
            let has_value = Condition::Test { target, test: Test::Null { negated: true } };
            let records = count_visible(context, entry, has_value.and(present(entry))).await?;
            found.extend(records.affects(Subject::Records(entry.meta), LOSES_VALUE));
        }
        Ok(found)
    }
}

/// Validates a new definition against those that exist for its entity type.
async fn check_against_others(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
    let Some(entity_type) = draft.model.entity_type.try_as_ref() else { return Ok(()) };
    // Serializes concurrent creations, which makes both checks exact.
    Lock::Fields.acquire(context.db()).await?;
    let others = Entity::find().filter(Column::EntityType.eq(entity_type));
    // Limited because each has indexes, which every write maintains and PostgreSQL locks with the table.
    if others.clone().count(context.db()).await? >= MAX_FIELDS_PER_ENTITY {
        draft.error(Column::EntityType, format!("has {MAX_FIELDS_PER_ENTITY} custom fields, which is the maximum"));
    }
    let Some(name) = draft.model.name.try_as_ref() else { return Ok(()) };
    let negated = [Some(format!("{name}{NEGATION}")), name.strip_suffix(NEGATION).map(String::from)];
    let alike = others.filter(Column::Name.is_in(negated.into_iter().flatten()));
    if let Some(other) = alike.one(context.db()).await? {
        let problem =
            format!("conflicts with `{}`: names that differ only by `{NEGATION}` are ambiguous in filters", other.name);
        draft.error(Column::Name, problem);
    }
    Ok(())
}

/// Definitions whose resource no longer has custom fields.
pub async fn stale_references(context: &Context<'_>) -> Result<Vec<StaleReference>> {
    let has = |plural: &str| context.catalog().by_plural(plural).is_some_and(|entry| entry.meta.custom_fields);
    let definitions = Entity::find().all(context.db()).await?.into_iter();
    let found = definitions.filter(|definition| !has(&definition.entity_type)).map(|definition| {
        let problem = format!("belongs to `{}`, which has no custom fields", definition.entity_type);
        StaleReference { kind: "custom_fields", id: definition.id, name: definition.name, problem }
    });
    Ok(found.collect())
}
