//! Changes of a field's type: wider, narrower or another.

use charter_model::Storage;

use super::{Changes, Effect, lacking, quoted};
use crate::snapshot::{Field, Kind, kind_text};

/// `given`: clients write the field. `column`: rows hold it.
pub fn compare(before: &Field, after: &Field, given: bool, column: bool, changes: &mut Changes<'_>) {
    let data = |text: &str| column.then(|| text.to_owned());
    let (then, now) = (&before.kind, &after.kind);
    let was = format!("its type was `{}` and is `{}`", kind_text(then), kind_text(now));
    let narrower = if given { Effect::Breaking } else { Effect::Internal };
    match (then, now) {
        (Kind::PolymorphicType { type_names: then }, Kind::PolymorphicType { type_names: now }) => {
            targets(then, now, column, changes);
        }
        (then, now) if then == now => words(before, after, given, column, changes),
        (Kind::String { max: then }, Kind::String { max: now })
        | (Kind::StringList { max: then }, Kind::StringList { max: now }) => match then < now {
            true => changes.push(Effect::Addition, format!("{was}: longer values are accepted")),
            false => {
                // Lists are stored as JSON, so no column limits the length of their values.
                let stop = match before.kind.facts().is_list {
                    true => data("rows with longer values keep them"),
                    false => data("longer values stop the migration"),
                };
                changes.push_with(narrower, format!("{was}: longer values are rejected"), stop);
            }
        },
        (Kind::String { .. }, Kind::Text) => {
            changes.push(Effect::Addition, format!("{was}: longer values are accepted"));
        }
        (Kind::Text, Kind::String { .. }) => {
            let stop = data("longer values stop the migration");
            changes.push_with(narrower, format!("{was}: longer values are rejected"), stop);
        }
        (Kind::Decimal { precision: then_digits, places: then_places }, Kind::Decimal { precision, places })
            if then_places == places =>
        {
            match then_digits < precision {
                true => changes.push(Effect::Addition, format!("{was}: larger numbers are accepted")),
                false => {
                    let stop = data("larger numbers stop the migration");
                    changes.push_with(narrower, format!("{was}: larger numbers are rejected"), stop);
                }
            }
        }
        (then, now) => {
            let data = column.then(|| match converts(then, now) {
                Conversion::Lossless | Conversion::Checked if matches!(now, Kind::Enum { .. }) => {
                    Some(format!("rows with another word keep it{}", longer(then)))
                }
                Conversion::Lossless if matches!(now, Kind::Code { .. }) => {
                    Some("rows with another number keep it".to_owned())
                }
                Conversion::Checked if matches!(now, Kind::Code { .. }) => {
                    Some("rows with another number keep it; a number beyond 32 bits stops the migration".to_owned())
                }
                Conversion::Lossless => None,
                Conversion::Checked => Some("values that do not fit stop the migration".to_owned()),
                Conversion::Impossible => Some("its values are lost: the types have no conversion".to_owned()),
            });
            changes.push_with(Effect::Breaking, was, data.flatten());
        }
    }
}

/// The column of an enum has its own length.
fn longer(then: &Kind) -> String {
    let most = Storage::MAX_WORD_LENGTH;
    match then {
        Kind::String { max } if *max <= most => String::new(),
        _ => format!("; a word of more than {most} characters stops the migration"),
    }
}

/// The effect of a change of type on the stored values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversion {
    /// Every value fits the new type.
    Lossless,
    /// A value that does not fit stops the migration.
    Checked,
    /// No conversion exists; the column is dropped and created.
    Impossible,
}

/// True if the values of a field can stay.
pub fn is_convertible(before: &Field, after: &Field) -> bool {
    converts(&before.kind, &after.kind) != Conversion::Impossible
}

/// The conversion between two types, which both databases can do.
pub fn converts(before: &Kind, after: &Kind) -> Conversion {
    use Conversion::{Checked, Impossible, Lossless};
    match (before, after) {
        (then, now) if then == now => Lossless,
        (Kind::PolymorphicType { .. }, Kind::PolymorphicType { .. }) => Lossless,
        (Kind::StringList { .. }, Kind::StringList { .. }) => Lossless,
        (Kind::String { .. } | Kind::Enum { .. }, Kind::Text) => Lossless,
        (Kind::String { max: then }, Kind::String { max: now }) if then <= now => Lossless,
        (Kind::Enum { .. }, Kind::String { max }) if *max >= Storage::MAX_WORD_LENGTH => Lossless,
        (then, now) if then.facts().family == Some("text") && now.facts().family == Some("text") => Checked,
        (Kind::Integer, Kind::Code { .. }) | (Kind::Code { .. }, Kind::Integer) => Lossless,
        (Kind::Integer | Kind::Code { .. }, Kind::BigInt) => Lossless,
        (Kind::BigInt, Kind::Integer | Kind::Code { .. }) => Checked,
        // The ids stay. The foreign key checks that each refers to a record.
        (Kind::Ref { .. }, Kind::BigInt) => Lossless,
        (Kind::BigInt, Kind::Ref { .. }) => Checked,
        (Kind::Integer | Kind::Code { .. } | Kind::BigInt, Kind::Decimal { .. }) => Checked,
        (Kind::Decimal { .. }, Kind::Integer | Kind::BigInt) => Checked,
        (Kind::Decimal { precision: then, places: then_places }, Kind::Decimal { precision, places }) => {
            match then_places <= places && then - then_places <= precision - places {
                true => Lossless,
                false => Checked,
            }
        }
        _ => Impossible,
    }
}

/// Compares the words of an enum and the numbers of a code.
fn words(before: &Field, after: &Field, given: bool, column: bool, changes: &mut Changes<'_>) {
    let numbers = |field: &Field| field.codes.keys().map(i32::to_string).collect::<Vec<_>>();
    let pairs = [(before.values.clone(), after.values.clone()), (numbers(before), numbers(after))];
    for (then, now) in pairs {
        let gone: Vec<String> = lacking(&then, &now).into_iter().cloned().collect();
        let new: Vec<String> = lacking(&now, &then).into_iter().cloned().collect();
        if !gone.is_empty() {
            let stays = column.then(|| format!("rows with {} keep it", quoted(&gone)));
            let effect = if given { Effect::Breaking } else { Effect::Internal };
            changes.push_with(effect, format!("the value {} is removed", quoted(&gone)), stays);
        }
        if !new.is_empty() {
            changes.push(Effect::Addition, format!("the value {} is added", quoted(&new)));
        }
    }
    for (number, now) in &after.codes {
        if let Some(then) = before.codes.get(number).filter(|then| *then != now) {
            changes.push(Effect::Internal, format!("the label of {number} was `{then}` and is `{now}`"));
        }
    }
}

fn targets(before: &[String], after: &[String], column: bool, changes: &mut Changes<'_>) {
    for gone in lacking(before, after) {
        let stays = column.then(|| format!("rows that refer to a `{gone}` keep the reference"));
        changes.push_with(Effect::Breaking, format!("it no longer refers to `{gone}`"), stays);
    }
    for new in lacking(after, before) {
        changes.push(Effect::Addition, format!("it can refer to `{new}`"));
    }
}
