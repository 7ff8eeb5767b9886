//! Inference of a field's kind from its Rust type, and the check that the two match.

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

/// The kind that the Rust type implies; a type that implies none is reported.
pub fn kind(ty: &Type, ident: &Ident, problems: &mut Problems) -> Option<Kind> {
    let Some(name) = known(ty) else {
        problems.report(ty.span(), "the Rust type implies no kind; name the kind in `#[field(…)]`");
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
            problems.report(ident.span(), format!("a `Decimal` needs its digits: `#[field(decimal(12, {places}))]`"));
        }
        _ => {
            problems.report(
                ident.span(),
                "a `String` needs a length or `text`: `#[field(string(255))]` or `#[field(text)]`",
            );
        }
    }
    None
}

/// Reports a type that cannot hold the kind. Returns true if a column can have the type.
pub fn check(kind: Option<&Kind>, ty: &Type, problems: &mut Problems) -> bool {
    let known = known(ty);
    let Some(kind) = kind else { return known.is_some() };
    if enum_of(kind, ty).is_some() {
        return true;
    }
    let fitting = kind.rust_type();
    // The compiler checks a `Decimal` whose places are not a literal.
    let has_other_places =
        |wanted: u8| known == Some("Decimal") && places(ty).is_some_and(|places| places != u32::from(wanted));
    let fits = match kind {
        FieldType::Decimal { places, .. } if has_other_places(*places) => false,
        kind => known == kind.facts().rust.first().copied(),
    };
    if !fits {
        problems.report(ty.span(), format!("this kind needs the Rust type `{fitting}` or `Option<{fitting}>`"));
    }
    known.is_some()
}

/// The enum that a field declares for its values: the kind has names for them, and the type is a name that no other kind
/// has.
pub fn enum_of<'t>(kind: &Kind, ty: &'t Type) -> Option<&'t Ident> {
    let Type::Path(path) = ty else { return None };
    let name = path.path.get_ident().filter(|_| known(ty).is_none())?;
    kind.variants().is_some().then_some(name)
}

/// The name of the type in generated code: `DateTimeUtc` for `DateTime`.
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
