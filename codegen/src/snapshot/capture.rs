//! Snapshot of a checked schema.

use std::collections::BTreeMap;

use charter_model::expression::{Database, Node};
use charter_model::rate::Rate;
use charter_model::{FieldOption, Keyword, Operation, TimestampForm, naming};

use super::{
    Action, Computation, Default, Deprecation, Field, Include, Resource, Snapshot, Transition, columns, kind,
    row_rules, unique,
};
use crate::check::{Checked, computed, default_expressions};
use crate::model::{self, ActionOutput, Filter, IncludeTarget, Name, Schema, SetValue, Type};
use crate::source::{Span, Spanned};

impl Snapshot {
    /// The snapshot of a checked schema.
    pub fn of(schema: &Checked<Schema>) -> Snapshot {
        let resources = schema.declared().map(|resource| (resource.name.value.clone(), capture(schema, resource)));
        Snapshot { resources: resources.collect() }
    }

    /// The snapshot with the place of each resource and field. Server fields have the place of the resource.
    pub fn located(mut self, schema: &Checked<Schema>, place: impl Fn(Span) -> String) -> Snapshot {
        for declared in schema.declared() {
            let Some(resource) = self.resources.get_mut(declared.name.as_str()) else { continue };
            resource.place = Some(place(declared.name.span));
            for written in &declared.fields {
                if let Some(field) = resource.fields.get_mut(written.name.as_str()) {
                    field.place = Some(place(written.name.span));
                }
            }
        }
        self
    }
}

fn capture(schema: &Schema, resource: &model::Resource) -> Resource {
    let text = |name: &Name| name.value.clone();
    let operations: Vec<Operation> = resource.operations.iter().map(|operation| operation.value).collect();
    let mut indexing = resource.indexing();
    indexing.sets.sort();
    indexing.ordered.sort();
    indexing.search.sort();
    let fields = resource.fields.iter().enumerate();
    Resource {
        name: text(&resource.name),
        place: None,
        renamed_from: resource.renamed_from.as_ref().map(text),
        plural: text(&resource.plural),
        label: text(&resource.label),
        table: text(&resource.table),
        path: path(schema, resource),
        ability: text(&resource.ability),
        read_permission: resource.read_permission.as_ref().map(text),
        write_permission: resource.write_permission.as_ref().map(text),
        owner: resource.owner.as_ref().map(text),
        public: resource.public.as_ref().map(public),
        read_rule: resource.read_rule.as_ref().map(text),
        write_rule: resource.write_rule.as_ref().map(text),
        operations: words(&operations),
        singleton: resource.singleton,
        soft_delete: resource.soft_delete,
        attachments: resource.attachments,
        events: resource.events,
        emits: resource.emits.iter().map(text).collect(),
        timestamps: timestamps(resource).word().to_owned(),
        fields: by_name(fields.map(|(position, written)| Field {
            predicates: predicates(schema, resource, written),
            sorts: written.is_listed() && written.kind.has_order() && resource.sorts_by(written),
            ..field(schema, resource, written, position)
        })),
        unique: unique::capture(resource),
        checks: resource.checks.iter().map(check).collect(),
        row_rules: row_rules::capture(schema, resource),
        frozen: resource.frozen.as_ref().map(text),
        indexes: indexing.sets,
        search: indexing.search,
        ordered: indexing.ordered,
        title: resource.title.as_ref().map(text),
        order: resource.order.iter().map(|key| key.text()).collect(),
        includes: resource.includes.iter().map(|include| (text(&include.name), self::include(include))).collect(),
        actions: resource.actions.iter().map(|named| (text(&named.name), action(schema, resource, named))).collect(),
        deprecated: resource.deprecated.iter().map(deprecation).collect(),
        hooks: words(&resource.hooks.iter().map(|point| point.hook).collect::<Vec<_>>()),
        seed: resource.seed.as_ref().map(|seed| text(&seed.name)),
    }
}

fn public(declared: &model::Public) -> (Vec<String>, String) {
    let limit = declared.limit.as_ref().and_then(|limit| Rate::read(&limit.value).ok()).unwrap_or(Rate::DEFAULT);
    (declared.create.iter().map(|name| name.value.clone()).collect(), limit.text())
}

fn check(declared: &model::Check) -> (String, (Option<String>, Option<String>)) {
    let text = |name: &Option<Name>| name.as_ref().map(|name| name.value.clone());
    (declared.that.value.clone(), (text(&declared.field), text(&declared.message)))
}

fn deprecation(declared: &model::Deprecation) -> (String, Deprecation) {
    let text = |name: &Option<Name>| name.as_ref().map(|name| name.value.clone());
    let place = format!("{}s.{}", declared.of.word(), declared.name.value);
    (
        place,
        Deprecation {
            since: declared.since.value.clone(),
            sunset: text(&declared.sunset),
            instead: text(&declared.instead),
        },
    )
}

/// Keywords in the order of their set.
fn words<T: Keyword + Ord>(words: &[T]) -> Vec<String> {
    let mut words = words.to_vec();
    words.sort();
    words.into_iter().map(|word| word.word().to_owned()).collect()
}

/// The path after `/api/v1/`.
fn path(schema: &Schema, resource: &model::Resource) -> String {
    match &resource.under {
        None => resource.path.value.clone(),
        Some(under) => {
            let parent = schema.find(under.resource.as_str()).map(|parent| parent.path.value.clone());
            let parent = parent.unwrap_or_else(|| naming::plural(under.resource.as_str()));
            format!("{parent}/{{{}}}/{}", under.field, resource.path.value)
        }
    }
}

/// The form of its timestamps, which every record has.
fn timestamps(resource: &model::Resource) -> TimestampForm {
    let form = resource.fields.iter().find_map(|field| match field.kind {
        model::Kind::Known(Type::Timestamp { form }) => Some(form),
        _ => None,
    });
    form.unwrap_or(TimestampForm::Seconds)
}

fn by_name(fields: impl Iterator<Item = Field>) -> BTreeMap<String, Field> {
    fields.map(|field| (field.name.clone(), field)).collect()
}

fn field(schema: &Schema, resource: &model::Resource, written: &model::Field, position: usize) -> Field {
    let from = written.kind.derived().map(|(via, field)| format!("{}.{}", via.value, field.value));
    let kind = schema.value_kind(resource, written);
    let option = |option| written.described.get(option).map(|text| text.value.clone());
    Field {
        name: written.name.value.clone(),
        place: None,
        renamed_from: match &written.renamed_from {
            Some(name) => Some(renamed(written, name)),
            None => after_parent(schema, resource, written),
        },
        backfill: written.backfill.as_ref().map(|value| self::default(&value.value)),
        position,
        values: kind.words().unwrap_or_default().iter().map(|word| word.value.clone()).collect(),
        codes: {
            let codes = kind.codes().unwrap_or_default().iter();
            codes.map(|code| (code.number.value, code.label.value.clone())).collect()
        },
        // A checked schema has no unknown types.
        kind: kind.known().map(kind::bare).unwrap_or_default(),
        nullable: written.nullable,
        required: written.required,
        default: default(&written.default),
        access: written.access,
        shown: written.shown,
        rules: written.rules.iter().map(|rule| (rule.value.key().to_owned(), rule.value.written())).collect(),
        value: written.value().map(|value| value.value.clone()),
        rollup: written.rollup.as_ref().map(model::Rollup::text),
        computation: computed::node(resource, written).map(|node| computation(schema, resource, &node)),
        initial: default_expressions::node(schema, resource, written)
            .filter(Node::is_constant)
            .map(|node| computation(schema, resource, &node)),
        predicates: Vec::new(),
        sorts: false,
        from,
        on_delete: option(FieldOption::OnDelete),
        choices: option(FieldOption::Where),
        sequence: option(FieldOption::Sequence),
        numbering: option(FieldOption::Numbering),
    }
}

fn computation(schema: &Schema, resource: &model::Resource, node: &Node) -> Computation {
    let sql = |database| columns::sql_of(node, database, resource.table.as_str(), schema);
    let fields = node.fields().into_iter().map(str::to_owned).collect();
    Computation { sqlite: sql(Database::Sqlite), postgres: sql(Database::Postgres), fields }
}

fn default(written: &model::Default) -> Default {
    match written {
        model::Default::None => Default::None,
        model::Default::Literal(value) => Default::Literal { value: value.clone() },
        model::Default::Now => Default::Now,
        model::Default::Caller => Default::Caller,
        model::Default::Hook => Default::Hook,
        model::Default::Expression(value) => Default::Expression { value: value.clone() },
    }
}

/// The former name of a column. The two columns of a polymorphic reference are renamed alike.
fn renamed(field: &model::Field, before: &Name) -> String {
    let end = field.name.value.strip_prefix(&field.declared).unwrap_or_default();
    format!("{}{end}", before.value)
}

/// The former name of the field that follows from `under`, if its parent is renamed.
fn after_parent(schema: &Schema, resource: &model::Resource, field: &model::Field) -> Option<String> {
    let under = resource.under.as_ref().filter(|under| under.field == field.name.value)?;
    schema.find(under.resource.as_str())?.renamed_from.as_ref().map(|former| format!("{}_id", former.value))
}

/// The predicates that `q` accepts: those of the type, unless `filters` limits them.
fn predicates(schema: &Schema, resource: &model::Resource, field: &model::Field) -> Vec<String> {
    let only = match resource.filter(field) {
        _ if !field.is_listed() => Vec::new(),
        None | Some(Filter::All) => schema.value_kind(resource, field).predicates(),
        Some(Filter::Only(words)) => words.iter().map(|word| word.value).collect(),
    };
    words(&only)
}

fn include(include: &model::Include) -> Include {
    let loads = match &include.target {
        IncludeTarget::One { via } => via.value.clone(),
        IncludeTarget::Many { resource, by } => format!("{}.{}", resource.value, by.value),
        IncludeTarget::Links { field, .. } => field.clone(),
        IncludeTarget::CustomFields(_) => "custom_fields".to_owned(),
        // A name of the grammar has no spaces.
        IncludeTarget::AllowedActions => "the allowed transitions".to_owned(),
    };
    let mut fields: Vec<String> = include.fields.iter().map(|field| field.value.clone()).collect();
    fields.sort();
    Include { loads, fields }
}

fn action(schema: &Schema, resource: &model::Resource, action: &model::Action) -> Action {
    let fields = |fields: &[model::Field]| {
        let fields = fields.iter().enumerate();
        by_name(fields.map(|(position, written)| field(schema, resource, written, position)))
    };
    let (answer, output) = match &action.output {
        ActionOutput::Fields { key, fields: output } => (Some(key.value.clone()), fields(output)),
        // A key has no spaces.
        ActionOutput::Created => (Some("the new record".to_owned()), BTreeMap::new()),
        ActionOutput::Record | ActionOutput::Unknown => (None, BTreeMap::new()),
    };
    let rule = action.rule.as_ref();
    let text = |name: &Option<Name>| name.as_ref().map(|name| name.value.clone());
    Action {
        on: action.on.word().to_owned(),
        method: action.method.word().to_owned(),
        event: action.event.as_ref().map(|event| event.value.clone()),
        input: fields(&action.input),
        answer,
        output,
        transition: rule.and_then(|rule| rule.change.as_ref()).map(|declared| transition(resource, declared)),
        guard: rule.and_then(|rule| text(&rule.guard)),
        permission: rule.and_then(|rule| text(&rule.permission)),
        set: rule
            .iter()
            .flat_map(|rule| &rule.set)
            .map(|(name, value)| (name.value.clone(), set_value(value)))
            .collect(),
    }
}

fn transition(resource: &model::Resource, change: &model::StateChange) -> Transition {
    let mut from: Vec<String> = change.from.iter().map(|state| state.value.clone()).collect();
    from.sort();
    let field = resource.state_field.as_ref().map(|field| field.value.clone()).unwrap_or_default();
    Transition { field, from, to: change.to.value.clone() }
}

/// A value as YAML writes it.
fn set_value(value: &Spanned<SetValue>) -> String {
    match &value.value {
        SetValue::Literal(text) => format!("\"{text}\""),
        SetValue::Now => "now".to_owned(),
        SetValue::Today => "today".to_owned(),
        SetValue::Caller => "caller.id".to_owned(),
        SetValue::Expression(text) => text.clone(),
        SetValue::Null | SetValue::Unreadable => "null".to_owned(),
    }
}
