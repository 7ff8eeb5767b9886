//! A saved view as a record: who sees it, and what it may name.

use charter_macros::Resource;
use sea_orm::ActiveValue::Set;
use sea_orm::entity::prelude::*;
use serde::Deserialize;
use serde_json::json;

use super::names::Names;
use crate::error::{Error, FieldErrors, Result};
use crate::meta::{FieldMeta, ResourceMeta};
use crate::ops::{Context, Draft, Route};
use crate::query::{
    Condition, MAX_BOUND_VALUES, MAX_CONDITIONS, MAX_LIST_ELEMENTS, MAX_VALUE_CHARACTERS, Predicate, Reads, TABLE,
    Term, Values, hint, too_many_values,
};
use crate::resource::Resource as _;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "custom_view", label = "Custom view")]
#[resource(action(name = "clone", on = "record", creates))]
#[resource(description = "The columns, filters and order of a list under a name, applied by `view_id`.")]
pub struct Model {
    pub id: i64,
    #[field(string(255), required)]
    pub name: String,
    #[field(
        string(64),
        required,
        immutable,
        description = "The plural name of the resource that it lists.",
        example = "users"
    )]
    pub entity_type: String,
    #[field(
        enumeration("personal", "shared", "system"),
        default = "personal",
        description = "Who sees it: its creator, the users with one of its roles, or everybody."
    )]
    pub visibility: String,
    #[field(reference("user"), read_only, default_caller, description = "The id of the user who made it.")]
    pub user_id: i64,
    #[field(
        list(255),
        required,
        min_length = 1,
        description = "The fields that it shows; a custom field is `cf.` and its name.",
        example = "name"
    )]
    pub columns: Json,
    #[field(
        json,
        default = "[]",
        schema = filters,
        description = "What its records must meet, joined from the first to the last."
    )]
    pub filters: Json,
    #[field(string(255), description = "The field that it sorts by.", example = "name")]
    pub sort_column: Option<String>,
    #[field(enumeration("asc", "desc"), default = "asc")]
    pub sort_direction: String,
    #[field(default = "20", min = "1", max = "100")]
    pub per_page: i32,
    #[field(ref_list("role"), description = "The ids of the roles whose users see it when it is shared.")]
    pub role_ids: Json,
    #[field(read_only)]
    pub created_at: DateTimeUtc,
    #[field(read_only)]
    pub updated_at: DateTimeUtc,
}

/// One filter of a view, as it is sent and stored.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    pub field: String,
    pub predicate: String,
    /// A scalar, or a list for `in` and `not_in`; absent for the predicates that say all by themselves.
    #[serde(default)]
    pub value: Json,
    #[serde(default)]
    pub logic: Logic,
}

/// The JSON Schema of the filters. What a value may be depends on the predicate.
pub(crate) fn filters() -> Json {
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
    let filter = |reads: &[Reads], value: Json, required: &[&str], example: &str| {
        let predicates: Vec<&str> = TABLE.iter().filter(|row| reads.contains(&row.3)).map(|row| row.1).collect();
        json!({
            "type": "object",
            "description": "One condition.",
            "required": required,
            "additionalProperties": false,
            "properties": {
                "field": { "type": "string", "description": "The field that is asked about.", "examples": ["name"] },
                "predicate": {
                    "type": "string",
                    "description": "What is asked of it, as in `q`.",
                    "enum": predicates,
                    "examples": [example],
                },
                "value": value,
                "logic": {
                    "type": ["string", "null"],
                    "description": "How it joins those before it: `and`, `or`, `nand` or `nor`, in any case; of the first only \
                        the negation counts.",
                    "pattern": "^[Nn]?([Aa][Nn][Dd]|[Oo][Rr])$",
                    "default": "and",
                    "examples": ["and"],
                },
            },
        })
    };
    let alone =
        json!({ "description": "Whether it shall hold; by itself it does.", "anyOf": words, "examples": [true] });
    let one = json!({ "description": "What it is compared with.", "anyOf": scalar, "examples": ["lamp"] });
    let any = json!({ "description": "What it is compared with: a list.", "anyOf": several, "examples": [["a", "b"]] });
    let needed = ["field", "predicate", "value"];
    json!({
        "type": "array",
        "maxItems": MAX_CONDITIONS,
        "items": { "anyOf": [
            filter(&[Reads::Value, Reads::Text], one, &needed, "cont"),
            filter(&[Reads::List], any, &needed, "in"),
            filter(&[Reads::Switch], alone, &needed[..2], "present"),
        ] },
    })
}

/// How a filter joins those before it. On the first only the negation counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Option<String>")]
pub enum Logic {
    #[default]
    And,
    Or,
    Nand,
    Nor,
}

/// A word in any case, as everywhere; null is as if it were left out.
impl TryFrom<Option<String>> for Logic {
    type Error = &'static str;

    fn try_from(word: Option<String>) -> Result<Logic, &'static str> {
        match word.unwrap_or("and".into()).to_ascii_lowercase().as_str() {
            "and" => Ok(Logic::And),
            "or" => Ok(Logic::Or),
            "nand" => Ok(Logic::Nand),
            "nor" => Ok(Logic::Nor),
            _ => Err("`logic` must be one of and, or, nand, nor"),
        }
    }
}

impl Filter {
    /// The filter as the `q` parameter that would mean the same.
    pub fn term(&self) -> Result<Term, String> {
        let predicate = Predicate::from_name(&self.predicate).ok_or_else(|| {
            format!("names an unknown predicate `{}`{}", self.predicate, hint(&self.predicate, Predicate::names()))
        })?;
        let values = match &self.value {
            Json::Array(list) => Values::Repeated(list.iter().map(text).collect::<Result<_, _>>()?),
            // `present`, `null` and their kin need no value to be affirmed.
            Json::Null if predicate.is_switch() => Values::One("true".into()),
            value => Values::One(text(value)?),
        };
        Ok(Term {
            parameter: format!("q[{}_{}]", self.field, self.predicate),
            name: self.field.clone(),
            predicate: Some(predicate),
            key: None,
            values,
        })
    }
}

fn text(value: &Json) -> Result<String, String> {
    match value {
        Json::String(text) => Ok(text.clone()),
        Json::Number(number) => Ok(number.to_string()),
        Json::Bool(value) => Ok(value.to_string()),
        _ => Err("needs a value".into()),
    }
}

pub fn route() -> Route {
    crate::route!(Entity, Behaviour, hooks(scope, list_scope, guard, check, before_delete, after_commit), actions(record_created clone))
}

trait Behaviour {
    fn scope(context: &Context<'_>) -> Option<Condition>;
    fn list_scope(context: &Context<'_>) -> Option<Condition>;
    fn guard(context: &Context<'_>, view: &Model) -> impl Future<Output = Result<()>> + Send;
    fn check(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    fn before_delete(context: &Context<'_>, view: &Model) -> impl Future<Output = Result<()>> + Send;
    fn after_commit(context: &Context<'_>, view: &Model) -> impl Future<Output = Result<()>> + Send;
    fn clone(context: &Context<'_>, view: &Model, draft: &mut Draft<Entity>)
    -> impl Future<Output = Result<()>> + Send;
}

impl Behaviour for Entity {
    /// An administrator reaches every view by its id; others those of their list.
    fn scope(context: &Context<'_>) -> Option<Condition> {
        if context.caller().is_admin { None } else { Self::list_scope(context) }
    }

    /// The caller's own views, the shared ones of the caller's roles, and all system views.
    fn list_scope(context: &Context<'_>) -> Option<Condition> {
        let meta = Entity::meta();
        let own = Condition::equals(field(meta, "user_id"), context.caller().user_id.unwrap_or(0));
        let system = Condition::equals(field(meta, "visibility"), "system");
        let shared = Condition::equals(field(meta, "visibility"), "shared")
            .and(Condition::Overlaps { field: field(meta, "role_ids"), ids: context.caller().role_ids.clone() });
        Some(own.or(system).or(shared))
    }

    /// Its creator and administrators alone change or delete a view, administrators alone one of the system's.
    async fn guard(context: &Context<'_>, view: &Model) -> Result<()> {
        let caller = context.caller();
        let own = Some(view.user_id) == caller.user_id && view.visibility != "system";
        match (own || caller.is_admin, view.visibility.as_str()) {
            (true, _) => Ok(()),
            (false, "system") => Err(Error::AdministratorsOnly),
            (false, _) => Err(Error::Forbidden("Only who made this view, or an administrator, may do this.".into())),
        }
    }

    async fn check(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        let caller = context.caller();
        let visibility = draft.model.visibility.try_as_ref().map(String::as_str).unwrap_or_default();
        if visibility == "system" && !caller.is_admin {
            draft.error("visibility", "is system for administrators only");
        }
        let before = draft.before.as_ref();
        // What a view has it keeps, also when a field that it names has gone since.
        let has_columns = before.is_some_and(|view| draft.model.columns.try_as_ref() == Some(&view.columns));
        let has_filters = before.is_some_and(|view| draft.model.filters.try_as_ref() == Some(&view.filters));
        let has_sort = before.is_some_and(|view| draft.model.sort_column.try_as_ref() == Some(&view.sort_column));
        let columns: Vec<String> = list(draft.model.columns.try_as_ref().filter(|_| !has_columns));
        let filters = draft.model.filters.try_as_ref().filter(|_| !has_filters).cloned();
        let filters = filters.map(read_filters).transpose().unwrap_or_else(|problem| {
            draft.error("filters", problem);
            None
        });
        let sort_column = draft.model.sort_column.try_as_ref().cloned().flatten().filter(|_| !has_sort);
        let Some(entity_type) = draft.model.entity_type.try_as_ref().cloned() else { return Ok(()) };
        let Some(entry) = context.catalog().by_plural(&entity_type).filter(|entry| entry.is_listed()) else {
            let known = context.catalog().entries().iter().filter(|e| e.is_listed()).map(|e| e.meta.plural);
            let hint = hint(&entity_type, known);
            draft.error("entity_type", format!("must be the plural name of a resource{hint}"));
            return Ok(());
        };
        let names = Names::of(context, entry).await?;
        for problem in columns.iter().filter_map(|column| names.column(column).err()) {
            draft.error("columns", problem);
        }
        let filters = filters.unwrap_or_default();
        if names.conditions(&filters) > MAX_CONDITIONS {
            draft.error("filters", too_many_conditions());
            return Ok(());
        }
        let mut values = 0;
        for (index, filter) in filters.into_iter().enumerate() {
            match names.filter(&filter) {
                Ok(count) => values += count,
                Err(problem) => draft.error("filters", format!("{problem} (filter {})", index + 1)),
            }
        }
        // No list could be asked with it.
        if values > MAX_BOUND_VALUES {
            draft.error("filters", too_many_values());
        }
        if let Some(problem) = sort_column.and_then(|column| names.sort_column(&column).err()) {
            draft.error("sort_column", problem);
        }
        Ok(())
    }

    async fn before_delete(_: &Context<'_>, view: &Model) -> Result<()> {
        if view.visibility == "system" {
            let mut errors = FieldErrors::default();
            errors.add("visibility", "is system: such views cannot be deleted");
            return errors.into_result();
        }
        Ok(())
    }

    async fn after_commit(context: &Context<'_>, _: &Model) -> Result<()> {
        context.state().views_changed.tell();
        Ok(())
    }

    /// A personal copy of any view that the caller sees. What has gone since the view was made is left out, as lists
    /// leave it out.
    async fn clone(context: &Context<'_>, view: &Model, draft: &mut Draft<Entity>) -> Result<()> {
        let (mut columns, mut filters) = (list(Some(&view.columns)), view.filters.clone());
        let mut sort_column = view.sort_column.clone();
        if let Some(entry) = context.catalog().by_plural(&view.entity_type) {
            let names = Names::of(context, entry).await?;
            columns.retain(|column| names.column(column).is_ok());
            if columns.is_empty() {
                draft.error("columns", "have all gone: there is nothing left to show");
            }
            if let Some(filters) = filters.as_array_mut() {
                let read = |filter: &Json| serde_json::from_value::<Filter>(filter.clone()).ok();
                filters.retain(|filter| read(filter).is_some_and(|filter| names.filter(&filter).is_ok()));
            }
            sort_column = sort_column.filter(|column| names.sort_column(column).is_ok());
        }
        let name = format!("{} (Copy)", view.name);
        draft.model.name = Set(name.chars().take(LONGEST_NAME).collect());
        draft.model.entity_type = Set(view.entity_type.clone());
        draft.model.columns = Set(serde_json::json!(columns));
        draft.model.filters = Set(filters);
        draft.model.sort_column = Set(sort_column);
        draft.model.sort_direction = Set(view.sort_direction.clone());
        draft.model.per_page = Set(view.per_page);
        Ok(())
    }
}

/// The characters of a name (the specification, "Custom view").
const LONGEST_NAME: usize = 255;

/// The filters of a view, as far as they can be read without knowing its resource.
pub(crate) fn read_filters(json: Json) -> Result<Vec<Filter>, String> {
    // A derived reader would take a list of values for an object.
    let list = match json {
        Json::Array(list) if list.iter().all(Json::is_object) => list,
        _ => return Err("must be a list of objects".into()),
    };
    // They are folded into a tree as deep as they are many.
    if list.len() > MAX_CONDITIONS {
        return Err(format!("must have at most {MAX_CONDITIONS} elements"));
    }
    let read = |(index, filter): (usize, Json)| {
        serde_json::from_value(filter).map_err(|error| format!("cannot be read: {error} (filter {})", index + 1))
    };
    list.into_iter().enumerate().map(read).collect()
}

/// What is wrong with filters that are more than [`MOST_CONDITIONS`].
pub(super) fn too_many_conditions() -> String {
    format!("must have at most {MAX_CONDITIONS} conditions")
}

fn list(json: Option<&Json>) -> Vec<String> {
    json.and_then(|json| serde_json::from_value(json.clone()).ok()).unwrap_or_default()
}

/// A field that the struct above has.
fn field(meta: &'static ResourceMeta, name: &str) -> &'static FieldMeta {
    meta.fields.iter().find(|f| f.name == name).unwrap_or(&meta.fields[0])
}
