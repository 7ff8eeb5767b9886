//! What a field's Rust type tells about its kind, and whether the two fit.

use charter_model::{Arguments, FieldType, Parameters, TimestampForm, TypeFacts};
use proc_macro2::Ident;
use syn::spanned::Spanned;
use syn::{Expr, GenericArgument, Lit, PathArguments, PathSegment, Type};

use crate::ast::Kind;
use crate::problems::Problems;

/// The `T` of an `Option<T>`.
pub fn inside_option(ty: &Type) -> Option<&Type> {
    let segment = last_segment(ty)?;
    match generic_arguments(segment).as_slice() {
        [GenericArgument::Type(inner)] if segment.ident == "Option" => Some(inner),
        _ => None,
    }
}

/// The kind that the type alone tells; a type that tells none is reported.
pub fn kind(ty: &Type, ident: &Ident, problems: &mut Problems) -> Option<Kind> {
    let Some(name) = known(ty) else {
        problems.report(ty.span(), "this type does not tell what the field holds; name its kind in `#[field(…)]`");
        return None;
    };
    let inferred = TypeFacts::COLUMNS.iter().find(|facts| facts.is_inferred && facts.rust.first() == Some(&name));
    if let Some(facts) = inferred {
        let arguments = match facts.parameters {
            Parameters::Form => Arguments::Form(TimestampForm::Seconds),
            _ => Arguments::None,
        };
        return Kind::read(facts, arguments);
    }
    match name {
        "Decimal" => {
            let places = places(ty).map_or_else(|| "2".to_owned(), |places| places.to_string());
            problems.report(ident.span(), format!("say how many digits it has: `#[field(decimal(12, {places}))]`"));
        }
        _ => {
            problems.report(ident.span(), "say how long it may be: `#[field(string(255))]`, or `#[field(text)]`");
        }
    }
    None
}

/// Reports a type that cannot hold the kind, and answers whether it is a type of columns at all.
pub fn check(kind: Option<&Kind>, ty: &Type, problems: &mut Problems) -> bool {
    let known = known(ty);
    let Some(kind) = kind else { return known.is_some() };
    let fitting = kind.rust_type();
    // A `Decimal` whose places are not written as a number is left to the compiler.
    let has_other_places =
        |wanted: u8| known == Some("Decimal") && places(ty).is_some_and(|places| places != u32::from(wanted));
    let fits = match kind {
        FieldType::Decimal { places, .. } if has_other_places(*places) => false,
        kind => known == kind.facts().rust.first().copied(),
    };
    if !fits {
        problems.report(ty.span(), format!("the type of such a field is `{fitting}`, or `Option<{fitting}>`"));
    }
    known.is_some()
}

/// The name that generated code uses for a type: `DateTimeUtc` of `DateTime`.
fn known(ty: &Type) -> Option<&'static str> {
    let name = last_segment(ty)?.ident.to_string();
    let has_name = |facts: &&&TypeFacts| facts.rust.contains(&name.as_str());
    TypeFacts::COLUMNS.iter().find(has_name).and_then(|facts| facts.rust.first().copied())
}

/// The `4` of `Decimal<4>`.
fn places(ty: &Type) -> Option<u32> {
    match generic_arguments(last_segment(ty)?).as_slice() {
        [GenericArgument::Const(Expr::Lit(literal))] => match &literal.lit {
            Lit::Int(places) => places.base10_parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Path(path) => path.path.segments.last(),
        Type::Group(group) => last_segment(&group.elem),
        _ => None,
    }
}

fn generic_arguments(segment: &PathSegment) -> Vec<&GenericArgument> {
    match &segment.arguments {
        PathArguments::AngleBracketed(arguments) => arguments.args.iter().collect(),
        _ => Vec::new(),
    }
}
