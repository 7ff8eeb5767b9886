//! The plan of an import: which column becomes which field, and by which field existing records are found.

use charter_core::catalog::Entry;
use charter_core::custom_field::{self, Definition};
use charter_core::error::{Error, Result};
use charter_core::meta::{Access as FieldAccess, FieldMeta, Kind, Rule};
use charter_core::ops::{Access, Context, field_access, input};
use charter_core::principal::Principal;
use charter_core::suggest::hint;
use charter_model::naming;
use serde_json::Value;

use super::labels::ImportLabels;
use super::record::{Mapping, Model};

/// The prefix of custom fields, as in saved views and exports.
const CUSTOM_PREFIX: &str = "cf.";

/// The name of a column that is not imported, in the panel's select.
pub const IGNORED: &str = "";

/// The target of a column.
#[derive(Debug, Clone)]
pub(super) enum Target {
    Ignored,
    /// The id, by which records can only be found.
    Id,
    Field(&'static FieldMeta),
    /// The parent in the path of a new record.
    Parent(&'static FieldMeta),
    Custom(String),
}

/// A plan.
#[derive(Debug)]
pub(super) struct Plan<'c> {
    pub entry: &'c Entry,
    /// One for each column.
    pub targets: Vec<Target>,
    /// The field by which records are found, and its column.
    pub key: Option<(&'static FieldMeta, usize)>,
}

/// Names of columns.
pub(super) fn columns(columns: &Value) -> Vec<String> {
    let texts = columns.as_array().into_iter().flatten();
    texts.map(|text| text.as_str().unwrap_or_default().to_string()).collect()
}

/// The names that a mapping may give a column of a resource, with their labels, in the order of its fields.
pub fn targets(entry: &Entry, definitions: &[Definition]) -> Vec<(String, String)> {
    let fields = entry.meta.fields.iter().filter(|field| field.name == "id" || is_target(entry, field));
    let fields = fields.map(|field| (field.name.to_string(), label(field)));
    let custom = definitions.iter().map(|one| (format!("{CUSTOM_PREFIX}{}", one.name), one.label.clone()));
    fields.chain(custom).collect()
}

/// True if a column can become the field.
fn is_target(entry: &Entry, field: &FieldMeta) -> bool {
    let is_parent = entry.meta.under.is_some_and(|under| under.field == field.name);
    field.name != "id" && (is_parent || input::is_writable(field) && field.access != FieldAccess::Secret)
}

fn label(field: &FieldMeta) -> String {
    match field.label {
        "" => naming::label(field.name.strip_suffix("_id").unwrap_or(field.name)),
        label => label.to_string(),
    }
}

fn target(entry: &Entry, definitions: &[Definition], name: &str) -> Option<Target> {
    if let Some(custom) = name.strip_prefix(CUSTOM_PREFIX) {
        let is_known = definitions.iter().any(|definition| definition.name == custom);
        return is_known.then(|| Target::Custom(custom.to_string()));
    }
    let field = entry.field(name)?;
    match name {
        "id" => Some(Target::Id),
        _ if !is_target(entry, field) => None,
        _ if entry.meta.under.is_some_and(|under| under.field == name) => Some(Target::Parent(field)),
        _ => Some(Target::Field(field)),
    }
}

/// The mapping by the names and labels of fields, and by those of the panel. Columns of fields that the caller may not set are ignored.
pub(super) fn automatic(
    caller: &Principal,
    entry: &Entry,
    definitions: &[Definition],
    columns: &[String],
    labels: Option<&ImportLabels>,
) -> Mapping {
    let mut known = targets(entry, definitions);
    known.retain(|(name, _)| {
        let field = entry.field(name);
        field.is_none_or(|field| name == "id" || field_access::missing_write_right(caller, field).is_none())
    });
    let mut mapping = Mapping::new();
    let mut used: Vec<String> = Vec::new();
    // A name is meant before a label is.
    for column in columns {
        let name = known.iter().map(|(name, _)| name).find(|name| *name == column);
        if let Some(name) = name {
            used.push(name.clone());
            mapping.insert(column.clone(), name.clone().into());
        }
    }
    for column in columns.iter().filter(|column| !mapping.contains_key(*column)).cloned().collect::<Vec<_>>() {
        let plain = plain(&column);
        // A field that is only shown, such as the name of a referenced record, is not taken for another.
        let is_shown_only = entry.field(&column).is_some();
        let found = known.iter().find(|(name, label)| {
            let of_panel = labels.map_or(&[][..], |labels| labels.fields(entry, name));
            let is_same = self::plain(name) == plain
                || self::plain(label) == plain
                || of_panel.iter().any(|label| self::plain(label) == plain)
                || name.strip_suffix("_id").is_some_and(|name| self::plain(name) == plain);
            is_same && !used.contains(name)
        });
        let name = found.filter(|_| !is_shown_only).map(|(name, _)| name.clone());
        used.extend(name.clone());
        mapping.insert(column, name.into());
    }
    mapping
}

/// A name without case, spaces and punctuation.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

impl<'c> Plan<'c> {
    /// The plan of a stored import. Names that are no longer valid are ignored: [`Plan::problems`] has them.
    pub(super) async fn of(context: &Context<'c>, entry: &'c Entry, import: &Model) -> Result<Plan<'c>> {
        let definitions = match entry.meta.custom_fields {
            true => custom_field::load(context.db(), entry.meta.plural).await?,
            false => Vec::new(),
        };
        let columns = columns(&import.columns);
        let key = import.match_by.as_deref();
        let (plan, errors) = Plan::read(context.caller(), entry, &definitions, &columns, &import.mapping, key);
        match errors.into_iter().next() {
            Some((field, problem)) => Err(Error::invalid(field, problem)),
            None => Ok(plan),
        }
    }

    /// Reads a mapping, with every problem in it.
    pub(super) fn read(
        caller: &Principal,
        entry: &'c Entry,
        definitions: &[Definition],
        columns: &[String],
        mapping: &Value,
        match_by: Option<&str>,
    ) -> (Plan<'c>, Vec<(&'static str, String)>) {
        let mut errors = Vec::new();
        let (mut targets, mut used) = (vec![Target::Ignored; columns.len()], Vec::new());
        let empty = Mapping::new();
        let mapping = mapping.as_object().unwrap_or_else(|| {
            errors.push(("mapping", "must be an object with the field of each column".to_string()));
            &empty
        });
        for (column, name) in mapping {
            let Some(position) = columns.iter().position(|known| known == column) else {
                let hint = hint(column, columns.iter().map(String::as_str));
                errors.push(("mapping", format!("names the column `{column}`, which the file does not have{hint}")));
                continue;
            };
            let name = match name {
                Value::Null => IGNORED,
                Value::String(name) => name.as_str(),
                _ => {
                    errors.push(("mapping", format!("must have the name of a field, or null, for `{column}`")));
                    continue;
                }
            };
            if name == IGNORED {
                continue;
            }
            match target(entry, definitions, name) {
                None => {
                    let known = self::targets(entry, definitions);
                    let hint = hint(name, known.iter().map(|(name, _)| name.as_str()));
                    errors.push(("mapping", format!("names the field `{name}`, which cannot be imported{hint}")));
                }
                Some(_) if used.contains(&name) => {
                    errors.push(("mapping", format!("maps two columns to `{name}`")));
                }
                Some(target) => {
                    used.push(name);
                    targets[position] = target;
                }
            }
        }
        let mut plan = Plan { entry, targets, key: None };
        if let Some(name) = match_by {
            match plan.find_key(caller, name) {
                Ok(key) => plan.key = Some(key),
                Err(problem) => errors.push(("match_by", problem)),
            }
        }
        (plan, errors)
    }

    /// The field and the column of a key. A row tells whether a record has its value, therefore the caller must be
    /// allowed to read the field.
    fn find_key(&self, caller: &Principal, name: &str) -> Result<(&'static FieldMeta, usize), String> {
        let may_read = |field: &&'static FieldMeta| self.entry.may_read_field(field, caller);
        let field = self.entry.field(name).filter(may_read).ok_or_else(|| {
            let hint = hint(name, self.fields().map(|(field, _)| field).filter(may_read).map(|field| field.name));
            format!("must be a field that a column is mapped to{hint}")
        })?;
        let is_key = matches!(
            field.kind,
            Kind::String { .. }
                | Kind::Text
                | Kind::BigInt
                | Kind::Integer
                | Kind::Code { .. }
                | Kind::Enum { .. }
                | Kind::Uuid
                | Kind::Date
                | Kind::Decimal { .. }
        );
        if !is_key {
            return Err("must be a field with a text, a number, a date or a UUID".into());
        }
        let column = self.fields().find(|(mapped, _)| mapped.name == name).map(|(_, column)| column);
        column.map(|column| (field, column)).ok_or_else(|| "must be a field that a column is mapped to".to_string())
    }

    /// The mapped fields, each with its column.
    fn fields(&self) -> impl Iterator<Item = (&'static FieldMeta, usize)> {
        self.targets.iter().enumerate().filter_map(|(column, target)| match target {
            Target::Field(field) | Target::Parent(field) => Some((*field, column)),
            Target::Id => self.entry.field("id").map(|field| (field, column)),
            Target::Ignored | Target::Custom(_) => None,
        })
    }

    /// The first mapped field whose values are unique and that the caller may read.
    pub(super) fn unique_field(&self, caller: &Principal) -> Option<&'static str> {
        let mut unique = self.fields().filter(|(field, _)| field.rules.contains(&Rule::Unique));
        unique.find(|(field, _)| self.find_key(caller, field.name).is_ok()).map(|(field, _)| field.name)
    }

    /// Checks that the caller may create or change records of the resource.
    ///
    /// # Errors
    /// 403 if the caller may do neither.
    pub(super) fn check_rights(&self, caller: &Principal) -> Result<()> {
        let create = Access::write(self.entry, "create").check(caller);
        if create.is_err() && self.key.is_some() && Access::write(self.entry, "update").allows(caller) {
            return Ok(());
        }
        create
    }

    /// The reasons why the plan cannot be carried out.
    pub(super) fn problems(&self, caller: &Principal) -> Vec<(&'static str, String)> {
        let mut problems = Vec::new();
        if !self.targets.iter().any(|target| !matches!(target, Target::Ignored | Target::Id)) {
            problems.push(("mapping", "maps no column to a field".to_string()));
        }
        for (field, _) in self.fields().filter(|(field, _)| field.name != "id") {
            if let Some(right) = field_access::missing_write_right(caller, field) {
                problems.push(("mapping", format!("sets `{}`, which requires the permission `{right}`", field.name)));
            }
        }
        if let Some(Err(problem)) = self.key.map(|(field, _)| self.find_key(caller, field.name)) {
            problems.push(("match_by", problem));
        }
        problems
    }
}
