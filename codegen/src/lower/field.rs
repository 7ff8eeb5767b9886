//! Lowering of fields: each written field becomes one, or two for a polymorphic reference.

use charter_model::{FieldOption, TimestampForm};

use super::joins;
use super::kind::{self, TypeContext};
use super::links::Links;
use super::rollup;
use crate::diagnostic::Problems;
use crate::model::{Access, Default, Field, FieldPlaces, Kind, Name, Rollup, Shown, Type};
use crate::notation::Rule;
use crate::source::Spanned;
use crate::syntax::field::{DefaultSyntax, FieldSyntax, SourceSyntax};

/// The context that the fields of a resource share.
pub struct ResourceContext<'a> {
    pub resource: &'a Name,
    pub timestamps: TimestampForm,
    pub links: &'a Links,
}

/// Lowers all fields of a section.
pub fn lower_all(
    written: &[FieldSyntax],
    shown: Shown,
    resource_context: &ResourceContext<'_>,
    problems: &mut Problems,
) -> Vec<Field> {
    written.iter().flat_map(|field| lower(field, shown, resource_context, problems)).collect()
}

fn lower(
    written: &FieldSyntax,
    shown: Shown,
    resource_context: &ResourceContext<'_>,
    problems: &mut Problems,
) -> Vec<Field> {
    let rollup = match &written.source {
        SourceSyntax::Rollup(rollup) => rollup::lower(rollup, resource_context, problems),
        _ => None,
    };
    let name = match &written.source {
        SourceSyntax::Links { resource, .. } => joins::ids(&written.name, resource.as_str(), resource_context.links),
        _ => written.name.clone(),
    };
    let field = Field {
        declared: written.name.value.clone(),
        name,
        kind: lower_kind(written, resource_context, problems),
        nullable: written.nullable.is_some() || rollup.as_ref().is_some_and(Rollup::is_extreme),
        required: written.required.is_some(),
        default: match &rollup {
            Some(rollup) if !rollup.is_extreme() => Default::Literal("0".to_owned()),
            Some(_) => Default::None,
            None => written.default.as_ref().map_or(Default::None, default),
        },
        access: match written.described.get(FieldOption::Value) {
            Some(_) => Access::ReadOnly,
            None if matches!(written.source, SourceSyntax::Rollup(_)) => Access::ReadOnly,
            None => written.access.as_ref().map_or(Access::Writable, |access| access.value.into()),
        },
        shown,
        rules: rules(written),
        renamed_from: written.renamed_from.clone(),
        backfill: written.backfill.as_ref().map(|value| Spanned::new(default(value), value.span)),
        described: written.described.clone(),
        rollup,
        places: FieldPlaces {
            kind: Some(match &written.source {
                SourceSyntax::Type(found) => found.span,
                _ => written.span,
            }),
            values: written.values.as_ref().map(|values| values.span),
            nullable: written.nullable,
            required: written.required,
            default: written.default.as_ref().map(|default| default.span),
            access: written.access.as_ref().map(|access| access.span),
            others: written.others.clone(),
            incomplete: written.incomplete,
        },
    };
    if field.kind.targets().is_none() {
        return vec![field];
    }
    let column = |end: &str| Spanned::new(format!("{}_{end}", field.name.value), field.name.span);
    let id = Type::PolymorphicRef { type_field: column("type") };
    // The example is one of an id. The example of a type follows from its words.
    let described = field.described.without(FieldOption::Example);
    let type_column = Field { name: column("type"), described, ..field.clone() };
    vec![type_column, Field { name: column("id"), kind: id.into(), ..field }]
}

/// The rules as written. Numbers of a sequence are unique.
fn rules(written: &FieldSyntax) -> Vec<Spanned<Rule>> {
    let mut rules = written.rules.clone();
    if let Some(sequence) = written.described.get(FieldOption::Sequence)
        && !rules.iter().any(|rule| rule.value == Rule::Unique)
    {
        rules.push(Spanned::new(Rule::Unique, sequence.span));
    }
    rules
}

fn lower_kind(written: &FieldSyntax, resource_context: &ResourceContext<'_>, problems: &mut Problems) -> Kind {
    let context = |values| TypeContext {
        field: &written.name,
        values,
        incomplete: written.incomplete,
        timestamps: resource_context.timestamps,
        links: resource_context.links,
    };
    match &written.source {
        SourceSyntax::Type(found) => kind::lower(found, &context(written.values.as_ref()), problems),
        SourceSyntax::From(path) => Type::Derived { via: path.head.clone(), field: path.tail.clone() }.into(),
        // The field does not matter: a resource that embeds itself is refused.
        SourceSyntax::Many { resource, .. } if resource.value == resource_context.resource.value => {
            Type::Embedded { resource: resource.clone(), by: Spanned::new(String::new(), resource.span) }.into()
        }
        SourceSyntax::Many { resource, by } => {
            let by = resource_context.links.by(resource, by, resource_context.resource.as_str(), problems);
            by.map_or(Kind::Unknown, |by| Type::Embedded { resource: resource.clone(), by }.into())
        }
        SourceSyntax::Rollup(rollup) => match &rollup.kind {
            Some(found) => kind::lower(found, &context(None), problems),
            // The type follows from the other resource when all are lowered.
            None => Kind::Unknown,
        },
        SourceSyntax::Links { resource, through } => {
            let column = |name: String| Spanned::new(name, through.span);
            let by = column(joins::by(resource_context.resource.as_str()));
            let to = column(joins::to(written.name.as_str(), resource.as_str(), resource_context.links));
            Type::Links { resource: resource.clone(), through: through.clone(), by, to }.into()
        }
        SourceSyntax::Unreadable => Kind::Unknown,
    }
}

/// `now` is the keyword only without quotes, so that a text can be `"now"`.
fn default(written: &Spanned<DefaultSyntax>) -> Default {
    if written.value.is_expression {
        return Default::Expression(written.value.text.clone());
    }
    match (written.value.text.as_str(), written.value.plain) {
        ("now", true) => Default::Now,
        ("caller", true) => Default::Caller,
        ("hook", true) => Default::Hook,
        (text, _) => Default::Literal(text.to_owned()),
    }
}
