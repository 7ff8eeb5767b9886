//! The saved view resource: visibility, validation and cloning of views.

use charter_macros::Resource;
use sea_orm::ActiveValue::Set;
use sea_orm::entity::prelude::*;
use serde_json::json;

use super::ViewVersion;
use super::validation::ViewValidator;
use charter_core::error::{Error, FieldErrors, Result};
use charter_core::meta::{FieldMeta, ResourceMeta};
use charter_core::ops::consequences::{Consequence, DELETE, Effect, Subject, count_visible};
use charter_core::ops::{Context, Draft, Route};
use charter_core::query::{
    Condition, MAX_BOUND_VALUES, MAX_CONDITIONS, MAX_LIST_ELEMENTS, MAX_VALUE_CHARACTERS, Predicate, Quantifier, Reads,
    read_filters, too_many_conditions, too_many_values,
};
use charter_core::resource::Resource as _;
use charter_core::suggest::hint;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "custom_view", menu = "Administration", label = "Custom view")]
#[resource(action(name = "clone", on = "record", creates))]
#[resource(description = "A named set of columns, filters and sort order for a list, applied by `view_id`.")]
pub struct Model {
    pub id: i64,
    #[field(string(255), required)]
    pub name: String,
    #[field(
        string(64),
        required,
        immutable,
        description = "The plural name of the resource that the view lists.",
        example = "users"
    )]
    pub entity_type: String,
    #[field(
        enumeration("personal", "shared", "system"),
        default = "personal",
        description = "Visible to its creator (`personal`), to users with one of its roles (`shared`), or to everyone (`system`)."
    )]
    pub visibility: String,
    #[field(reference("user"), read_only, default_caller, description = "The id of the user who created the view.")]
    pub user_id: i64,
    #[field(
        list(255),
        required,
        min_length = 1,
        description = "The fields that the view shows; a custom field is `cf.` followed by its name.",
        example = "name"
    )]
    pub columns: Json,
    #[field(
        json,
        default = "[]",
        schema = filters,
        description = "Conditions on the records, combined from left to right."
    )]
    pub filters: Json,
    #[field(string(255), description = "The field that the view sorts by.", example = "name")]
    pub sort_column: Option<String>,
    #[field(enumeration("asc", "desc"), default = "asc")]
    pub sort_direction: String,
    #[field(default = "20", min = "1", max = "100")]
    pub per_page: i32,
    #[field(ref_list("role"), description = "The ids of the roles whose users see a shared view.")]
    pub role_ids: Json,
    #[field(read_only)]
    pub created_at: DateTimeUtc,
    #[field(read_only)]
    pub updated_at: DateTimeUtc,
}

/// JSON Schema of the filters. The type of `value` depends on the predicate.
pub fn filters() -> Json {
    let text = json!({ "type": "string", "minLength": 1, "maxLength": MAX_VALUE_CHARACTERS });
    let listed = json!({ "type": "string", "pattern": "^[^,]+(,[^,]+)*$" });
    let scalar = json!([text, { "type": ["number", "boolean"] }]);
    let list = json!({ "type": "array", "minItems": 1, "maxItems": MAX_LIST_ELEMENTS, "items": { "anyOf": scalar } });
    let several = json!([list, listed, { "type": ["number", "boolean"] }]);
    let words = json!([
        { "type": ["boolean", "null"] },
        { "type": "integer", "minimum": 0, "maximum": 1 },
        { "type": "string", "enum": ["true", "false", "t", "f", "1", "0"] },
    ]);
    let reading = |reads: &[Reads]| -> Vec<&str> {
        Predicate::ALL.iter().filter(|asked| reads.contains(&asked.reads())).map(|asked| asked.name()).collect()
    };
    let filter = |predicates: Vec<&str>, value: Json, required: &[&str], example: &str| {
        json!({
            "type": "object",
            "description": "One condition.",
            "required": required,
            "additionalProperties": false,
            "properties": {
                "field": { "type": "string", "description": "The field that the condition tests.", "examples": ["name"] },
                "predicate": {
                    "type": "string",
                    "description": "The predicate, as in `q`.",
                    "enum": predicates,
                    "examples": [example],
                },
                "value": value,
                "logic": {
                    "type": ["string", "null"],
                    "description": "How the filter is combined with those before it: `and`, `or`, `nand` or `nor`, in any case. For \
                        the first filter, only the negation counts.",
                    "pattern": "^[Nn]?([Aa][Nn][Dd]|[Oo][Rr])$",
                    "default": "and",
                    "examples": ["and"],
                },
            },
        })
    };
    let alone = json!({ "description": "True (the default) if the condition must hold, false if it must not.", "anyOf": words, "examples": [true] });
    let one = json!({ "description": "The value to compare with.", "anyOf": scalar, "examples": ["lamp"] });
    let any =
        json!({ "description": "The list of values to compare with.", "anyOf": several, "examples": [["a", "b"]] });
    let needed = ["field", "predicate", "value"];
    let mut forms = vec![
        filter(reading(&[Reads::Value, Reads::Text]), one, &needed, "cont"),
        filter(reading(&[Reads::List]), any, &needed, "in"),
        filter(reading(&[Reads::Switch]), alone, &needed[..2], "present"),
    ];
    let parts = json!({
        "description": "The conditions that one record of the relation meets together, or that none meets.",
        "type": "array",
        "minItems": 1,
        "maxItems": MAX_CONDITIONS,
        "items": { "anyOf": forms },
        "examples": [[{ "field": "quantity", "predicate": "gt", "value": 2 }]],
    });
    let mut related = filter(Quantifier::WORDS.to_vec(), parts, &needed, "some");
    related["properties"]["field"] = json!({
        "type": "string",
        "description": "The relation to several records.",
        "examples": ["lines"],
    });
    forms.push(related);
    json!({ "type": "array", "maxItems": MAX_CONDITIONS, "items": { "anyOf": forms } })
}

const LOSES_VIEW: Effect = Effect::new("with one of its roles loses {it}", "with one of its roles lose {it}");

pub fn route() -> Route {
    charter_core::route!(Entity, Behaviour, hooks(scope, list_scope, guard, check, before_delete, after_commit, consequences), actions(record_created clone))
}

trait Behaviour {
    fn scope(context: &Context<'_>) -> Option<Condition>;
    fn list_scope(context: &Context<'_>) -> Option<Condition>;
    fn guard(context: &Context<'_>, view: &Model) -> impl Future<Output = Result<()>> + Send;
    fn check(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    fn before_delete(context: &Context<'_>, view: &Model) -> impl Future<Output = Result<()>> + Send;
    fn after_commit(
        context: &Context<'_>,
        view: &Model,
        before: Option<&Model>,
    ) -> impl Future<Output = Result<()>> + Send;
    fn consequences(
        context: &Context<'_>,
        verb: &str,
        ids: &[i64],
    ) -> impl Future<Output = Result<Vec<Consequence>>> + Send;
    fn clone(context: &Context<'_>, view: &Model, draft: &mut Draft<Entity>)
    -> impl Future<Output = Result<()>> + Send;
}

impl Behaviour for Entity {
    /// Scope by id: administrators see all views, others those of their list.
    fn scope(context: &Context<'_>) -> Option<Condition> {
        if context.caller().is_admin { None } else { Self::list_scope(context) }
    }

    /// Scope of lists: own views, shared views of the caller's roles, and system views.
    fn list_scope(context: &Context<'_>) -> Option<Condition> {
        let meta = Entity::meta();
        let own = Condition::equals(field(meta, "user_id"), context.caller().user_id.unwrap_or(0));
        let system = Condition::equals(field(meta, "visibility"), "system");
        let shared = Condition::equals(field(meta, "visibility"), "shared")
            .and(Condition::Overlaps { field: field(meta, "role_ids"), ids: context.caller().role_ids.clone() });
        Some(own.or(system).or(shared))
    }

    /// The users of a shared view lose it when it is deleted.
    async fn consequences(context: &Context<'_>, verb: &str, ids: &[i64]) -> Result<Vec<Consequence>> {
        let shared =
            Entity::find().filter(Column::Id.is_in(ids.iter().copied())).filter(Column::Visibility.eq("shared"));
        let users = context.catalog().get("user")?;
        let (true, Some(field)) = (verb == DELETE, users.field("role_ids")) else { return Ok(Vec::new()) };
        let roles = |view: Model| serde_json::from_value::<Vec<i64>>(view.role_ids).unwrap_or_default();
        let ids: Vec<i64> = shared.all(context.db()).await?.into_iter().flat_map(roles).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let holders = count_visible(context, users, Condition::Overlaps { field, ids }).await?;
        Ok(holders.affects(Subject::Records(users.meta), LOSES_VIEW).collect())
    }

    /// Only the creator and administrators may change or delete a view; system views are for administrators alone.
    async fn guard(context: &Context<'_>, view: &Model) -> Result<()> {
        let caller = context.caller();
        let own = Some(view.user_id) == caller.user_id && view.visibility != "system";
        match (own || caller.is_admin, view.visibility.as_str()) {
            (true, _) => Ok(()),
            (false, "system") => Err(Error::AdministratorsOnly),
            (false, _) => {
                Err(Error::Forbidden("Only the creator of this view or an administrator may do this.".into()))
            }
        }
    }

    async fn check(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        let caller = context.caller();
        let visibility = draft.model.visibility.try_as_ref().map(String::as_str).unwrap_or_default();
        if visibility == "system" && !caller.is_admin {
            draft.error(Column::Visibility, "can be set to system by administrators only");
        }
        let before = draft.before.as_ref();
        // Unchanged values are not checked, because a field that they name may have been removed since.
        let has_columns = before.is_some_and(|view| draft.model.columns.try_as_ref() == Some(&view.columns));
        let has_filters = before.is_some_and(|view| draft.model.filters.try_as_ref() == Some(&view.filters));
        let has_sort = before.is_some_and(|view| draft.model.sort_column.try_as_ref() == Some(&view.sort_column));
        let columns: Vec<String> = list(draft.model.columns.try_as_ref().filter(|_| !has_columns));
        let filters = draft.model.filters.try_as_ref().filter(|_| !has_filters).cloned();
        let filters = filters.map(read_filters).transpose().unwrap_or_else(|problem| {
            draft.error(Column::Filters, problem);
            None
        });
        let sort_column = draft.model.sort_column.try_as_ref().cloned().flatten().filter(|_| !has_sort);
        let Some(entity_type) = draft.model.entity_type.try_as_ref().cloned() else { return Ok(()) };
        let Some(entry) = context.catalog().by_plural(&entity_type).filter(|entry| entry.is_listed()) else {
            let known = context.catalog().entries().iter().filter(|e| e.is_listed()).map(|e| e.meta.plural);
            let hint = hint(&entity_type, known);
            draft.error(Column::EntityType, format!("must be the plural name of a resource{hint}"));
            return Ok(());
        };
        let validator = ViewValidator::of(context, entry).await?;
        for problem in columns.iter().filter_map(|column| validator.column(column).err()) {
            draft.error(Column::Columns, problem);
        }
        let filters = filters.unwrap_or_default();
        if validator.conditions(&filters) > MAX_CONDITIONS {
            draft.error(Column::Filters, too_many_conditions());
            return Ok(());
        }
        let mut values = 0;
        for (index, filter) in filters.into_iter().enumerate() {
            match validator.filter(&filter) {
                Ok(count) => values += count,
                Err(problem) => draft.error(Column::Filters, format!("{problem} (filter {})", index + 1)),
            }
        }
        // A list request rejects more values.
        if values > MAX_BOUND_VALUES {
            draft.error(Column::Filters, too_many_values());
        }
        if let Some(problem) = sort_column.and_then(|column| validator.sort_column(&column).err()) {
            draft.error(Column::SortColumn, problem);
        }
        Ok(())
    }

    async fn before_delete(_: &Context<'_>, view: &Model) -> Result<()> {
        if view.visibility == "system" {
            let mut errors = FieldErrors::default();
            errors.add("visibility", "is system: system views cannot be deleted");
            return errors.into_result();
        }
        Ok(())
    }

    async fn after_commit(context: &Context<'_>, _: &Model, _: Option<&Model>) -> Result<()> {
        context.state().extension::<ViewVersion>()?.increment();
        Ok(())
    }

    /// Creates a personal copy of a visible view. Columns and a sort order that the caller may not use, or that no longer
    /// exist, are left out. Such a filter is an error of [`Behaviour::check`], because a copy without it would show more
    /// records than the view.
    async fn clone(context: &Context<'_>, view: &Model, draft: &mut Draft<Entity>) -> Result<()> {
        let mut columns = list(Some(&view.columns));
        let mut sort_column = view.sort_column.clone();
        if let Some(entry) = context.catalog().by_plural(&view.entity_type) {
            let validator = ViewValidator::of(context, entry).await?;
            columns.retain(|column| validator.column(column).is_ok());
            if columns.is_empty() {
                draft.error(Column::Columns, "no longer exist: the copy would have no columns");
            }
            sort_column = sort_column.filter(|column| validator.sort_column(column).is_ok());
        }
        let name = format!("{} (Copy)", view.name);
        draft.model.name = Set(name.chars().take(MAX_NAME_CHARACTERS).collect());
        draft.model.entity_type = Set(view.entity_type.clone());
        draft.model.columns = Set(serde_json::json!(columns));
        draft.model.filters = Set(view.filters.clone());
        draft.model.sort_column = Set(sort_column);
        draft.model.sort_direction = Set(view.sort_direction.clone());
        draft.model.per_page = Set(view.per_page);
        Ok(())
    }
}

/// Maximum length of a name (the specification, "Custom view").
const MAX_NAME_CHARACTERS: usize = 255;

fn list(json: Option<&Json>) -> Vec<String> {
    json.and_then(|json| serde_json::from_value(json.clone()).ok()).unwrap_or_default()
}

/// Metadata of a field of [`Model`].
fn field(meta: &'static ResourceMeta, name: &str) -> &'static FieldMeta {
    meta.fields.iter().find(|f| f.name == name).unwrap_or(&meta.fields[0])
}
