//! What a field's Rust type tells about its kind, and whether the two fit.

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

/// The kind that the type alone tells.
pub fn kind(ty: &Type, ident: &Ident, problems: &mut Problems) -> Kind {
    let Some(name) = known(ty) else {
        problems.report(ty.span(), "this type does not tell what the field holds; name its kind in `#[field(…)]`");
        return Kind::Unknown;
    };
    match name {
        "i32" => Kind::Integer,
        "i64" => Kind::BigInt,
        "bool" => Kind::Boolean,
        "DateTimeUtc" => Kind::Timestamp("Seconds"),
        "Date" => Kind::Date,
        "Uuid" => Kind::Uuid,
        "Json" => Kind::Json,
        "Decimal" => {
            let places = places(ty).map_or_else(|| "2".to_owned(), |places| places.to_string());
            problems.report(ident.span(), format!("say how many digits it has: `#[field(decimal(12, {places}))]`"));
            Kind::Unknown
        }
        _ => {
            problems.report(ident.span(), "say how long it may be: `#[field(string(255))]`, or `#[field(text)]`");
            Kind::Unknown
        }
    }
}

/// Reports a type that cannot hold the kind, and answers whether it is a type of columns at all.
pub fn check(kind: &Kind, ty: &Type, problems: &mut Problems) -> bool {
    let known = known(ty);
    let fitting = match kind {
        Kind::String(_) | Kind::Text | Kind::Enum(_) | Kind::PolymorphicType(_) => "String",
        Kind::Integer | Kind::Code(_) => "i32",
        Kind::BigInt | Kind::Ref(_) | Kind::PolymorphicRef(_) => "i64",
        Kind::Boolean => "bool",
        Kind::Decimal { .. } => "Decimal",
        Kind::Timestamp(_) => "DateTimeUtc",
        Kind::Date => "Date",
        Kind::Uuid => "Uuid",
        Kind::StringList(_) | Kind::RefList(_) | Kind::Json | Kind::CustomFields => "Json",
        Kind::Unknown => return known.is_some(),
    };
    if let Kind::Decimal { places: wanted, .. } = kind {
        if known != Some("Decimal") || places(ty).is_some_and(|places| places != u32::from(*wanted)) {
            problems.report(
                ty.span(),
                format!("the type of such a field is `Decimal<{wanted}>`, or `Option<Decimal<{wanted}>>`"),
            );
        }
    } else if known != Some(fitting) {
        problems.report(ty.span(), format!("the type of such a field is `{fitting}`, or `Option<{fitting}>`"));
    }
    known.is_some()
}

/// The one name under which a type is known here.
fn known(ty: &Type) -> Option<&'static str> {
    let segment = last_segment(ty)?;
    let known = match segment.ident.to_string().as_str() {
        "String" => "String",
        "i32" => "i32",
        "i64" => "i64",
        "bool" => "bool",
        "Decimal" => "Decimal",
        "DateTimeUtc" | "DateTime" => "DateTimeUtc",
        "Date" | "NaiveDate" => "Date",
        "Uuid" => "Uuid",
        "Json" => "Json",
        _ => return None,
    };
    Some(known)
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
