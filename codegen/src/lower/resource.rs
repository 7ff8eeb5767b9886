//! Lowering of a resource: derived names, and the fields that every record has.

use charter_model::{Operation, TimestampForm, naming};

use super::expressions;
use super::field::{self, ResourceContext};
use super::joins;
use super::links::{self, Links};
use super::relation::{actions, filters, includes, place, sorts};
use super::states;
use crate::diagnostic::Problems;
use crate::model::{
    Access, Check, Deprecated, Deprecation, Field, HookPoint, Job, Name, OrderKey, Public, Resource, Seed, Shown, Type,
    Under, UniqueSet,
};
use crate::source::{Sources, Spanned};
use crate::syntax::Syntax;
use crate::syntax::field::DeprecatedSyntax;
use crate::syntax::jobs::JobSyntax;
use crate::syntax::record_rules::{CheckSyntax, UniqueSyntax};
use crate::syntax::resource::ResourceSyntax;

/// Completes one resource.
pub fn lower(
    written: &ResourceSyntax,
    links: &Links,
    syntax: &Syntax,
    sources: &Sources,
    problems: &mut Problems,
) -> Resource {
    let name = links::name(written, sources);
    let or = |declared: &Option<Name>, default: &str| {
        declared.clone().unwrap_or_else(|| Spanned::new(default.to_owned(), name.span))
    };
    let plural = or(&written.plural, &naming::plural(name.as_str()));
    let timestamps = written.timestamps.as_ref().map_or(TimestampForm::Seconds, |form| form.value);
    let resource_context = ResourceContext { resource: &name, timestamps, links };
    let file = sources.file(written.file);
    let hooks = written.hooks.iter();
    let hooks = hooks.map(|hook| HookPoint { hook: hook.value, span: hook.span, place: place(sources, hook.span) });
    let first_behaviour =
        [written.key_spans.hooks, written.key_spans.actions, written.key_spans.jobs].into_iter().flatten().min();
    let operations = match &written.operations {
        Some(words) => words.clone(),
        None => Operation::ALL.iter().map(|operation| Spanned::new(*operation, name.span)).collect(),
    };
    let mut fields = fields(written, &resource_context, problems);
    expressions::defaults(&mut fields);
    states::limit_writes(&mut fields, written.states.as_ref());
    let mut actions = actions(&written.actions, &fields, &resource_context, sources, problems);
    actions.extend(states::transitions(written.states.as_ref(), &fields, sources));
    let mut includes = includes(&written.includes, &resource_context, problems);
    includes.extend(states::allowed_actions(written.states.as_ref(), &actions));
    includes.extend(joins::includes(&fields));
    let (read_permission, write_permission) = links.permissions(name.as_str());
    Resource {
        label: or(&written.label, &naming::label(name.as_str())),
        title: written.title.clone(),
        description: written.description.clone(),
        menu: written.menu.clone(),
        columns: written.columns.clone(),
        type_name: naming::upper_camel(name.as_str()),
        table: or(&written.table, plural.as_str()),
        path: or(&written.path, plural.as_str()),
        under: written.under.clone().map(|parent| Under { field: format!("{}_id", parent.value), resource: parent }),
        ability: or(&written.ability, &links.ability(name.as_str())),
        read_permission,
        write_permission,
        owner: written.owner.clone(),
        public: written.public.as_ref().map(|public| Public {
            span: public.span,
            create: public.create.clone(),
            limit: public.limit.clone(),
        }),
        read_rule: written.read_rule.clone(),
        write_rule: written.write_rule.clone(),
        renamed_from: written.renamed_from.clone(),
        operations,
        singleton: is_on(&written.singleton),
        soft_delete: written.delete.is_some(),
        custom_fields: is_on(&written.custom_fields),
        attachments: is_on(&written.attachments),
        events: is_on(&written.events),
        emits: written.emits.clone(),
        deprecated: deprecated(written, &fields),
        fields,
        unique: written.unique.iter().map(unique_set).collect(),
        checks: written.checks.iter().filter_map(check).collect(),
        frozen: written.frozen.clone(),
        indexes: written.indexes.clone(),
        search: written.search.clone(),
        order: written.order.iter().map(order_key).collect(),
        ordered: written.ordered.clone(),
        unindexed: written.unindexed.clone(),
        found_by: Vec::new(),
        rolled_up: Vec::new(),
        filters: filters(&written.filters, problems),
        sorts: sorts(&written.sorts),
        includes,
        actions,
        state_field: written.states.as_ref().map(|states| states.field.clone()),
        hooks: hooks.collect(),
        jobs: written.jobs.iter().map(|written| job(written, sources)).collect(),
        seed: written.seed.clone().map(|name| Seed {
            exists: syntax.seeds.contains_key(name.as_str()),
            rows: syntax.seeds.get(name.as_str()).cloned().flatten(),
            path: sources.folder.join(name.as_str()),
            name,
        }),
        key_spans: written.key_spans,
        file: Some(file.path.clone()),
        stem: if written.is_join { name.value.clone() } else { file.stem().to_owned() },
        is_join: written.is_join,
        behaviour_place: first_behaviour.map(|span| place(sources, span)),
        plural,
        name,
    }
}

/// `-created_at`
fn order_key(written: &Name) -> OrderKey {
    match written.value.strip_prefix('-') {
        Some(field) => OrderKey { field: Spanned::new(field.to_owned(), written.span), descending: true },
        None => OrderKey { field: written.clone(), descending: false },
    }
}

fn unique_set(written: &UniqueSyntax) -> UniqueSet {
    UniqueSet { fields: written.fields.clone(), rows: written.rows.clone(), ignore_case: is_on(&written.ignore_case) }
}

/// A check; none without its condition, which is reported.
fn check(written: &CheckSyntax) -> Option<Check> {
    let CheckSyntax { that, field, message } = written.clone();
    Some(Check { that: that?, field, message })
}

fn job(written: &JobSyntax, sources: &Sources) -> Job {
    Job {
        name: written.name.clone(),
        every: written.every.clone(),
        timeout: written.timeout.clone(),
        attempts: written.attempts.clone(),
        external: is_on(&written.external),
        place: place(sources, written.name.span),
    }
}

fn is_on(flag: &Option<Spanned<bool>>) -> bool {
    flag.as_ref().is_some_and(|flag| flag.value)
}

/// Every field in the order of the single record. Server fields have the place of the resource's name.
fn fields(written: &ResourceSyntax, resource_context: &ResourceContext<'_>, problems: &mut Problems) -> Vec<Field> {
    let own = |name: &str, kind: Type| {
        let name = Spanned::new(name.to_owned(), resource_context.resource.span);
        Field { access: Access::ReadOnly, ..Field::new(name, kind) }
    };
    let stamp = || Type::Timestamp { form: resource_context.timestamps };
    let mut fields = vec![own("id", Type::BigInt)];
    if let Some(parent) = &written.under {
        let name = Spanned::new(format!("{}_id", parent.value), parent.span);
        let kind = Type::Ref { resource: parent.clone() };
        fields.push(Field { required: true, access: Access::Immutable, ..Field::new(name, kind) });
    }
    fields.extend(field::lower_all(&written.fields, Shown::Always, resource_context, problems));
    if is_on(&written.custom_fields) {
        fields.push(Field { access: Access::Writable, ..own("custom_fields", Type::CustomFields) });
    }
    fields.push(own("created_at", stamp()));
    fields.push(own("updated_at", stamp()));
    fields.extend(field::lower_all(&written.detail, Shown::Detail, resource_context, problems));
    if written.delete.is_some() {
        fields.push(Field { nullable: true, shown: Shown::Never, ..own("deleted_at", stamp()) });
    }
    fields
}

/// All deprecations of fields, filters and actions.
fn deprecated(written: &ResourceSyntax, fields: &[Field]) -> Vec<Deprecation> {
    let entry = |of, name: &Name, declared: &DeprecatedSyntax| Deprecation {
        of,
        name: name.clone(),
        since: declared.since.clone(),
        sunset: declared.sunset.clone(),
        instead: declared.instead.clone(),
    };
    let mut found = Vec::new();
    for field in written.fields.iter().chain(&written.detail) {
        let Some(declared) = &field.deprecated else { continue };
        // A polymorphic reference has two columns, and both are deprecated.
        let columns = fields.iter().filter(|column| column.is_declared() && column.declared == field.name.value);
        found.extend(columns.map(|column| entry(Deprecated::Field, &column.name, declared)));
    }
    found.extend(written.deprecated_filters.iter().map(|(name, declared)| entry(Deprecated::Filter, name, declared)));
    for action in &written.actions {
        found.extend(action.deprecated.iter().map(|declared| entry(Deprecated::Action, &action.name, declared)));
    }
    found
}
