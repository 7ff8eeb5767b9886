//! Computed fields in short notation, `total:=quantity*unit_price`: their types follow from the expression.

use charter_model::expression::{self, Mistake, Type};

use super::{FieldShorthand, file};
use crate::check::Names;
use crate::diagnostic::Problems;
use crate::model::Resource;
use crate::source::Sources;
use crate::{lower, syntax};

/// The largest number of an integer in an expression that has more than 18 digits without a bound.
pub const LARGEST: u32 = 99_999;

/// Sets the types of the computed fields. Integers that an expression names get bounds if the numbers would be too large
/// without them.
///
/// # Errors
/// The first mistake, with its place.
pub fn infer(resource: &str, fields: &mut [FieldShorthand]) -> Result<(), String> {
    for at in 0..fields.len() {
        let Some(value) = fields[at].value.clone() else { continue };
        let found = checked(resource, fields, &value).or_else(|mistake| {
            let mut bounded = fields.to_vec();
            for field in bounded.iter_mut().filter(|field| matches!(field.kind.as_str(), "integer" | "bigint")) {
                field.is_bounded |= names(&value).any(|name| name == field.name);
            }
            let found = checked(resource, &bounded, &value).map_err(|_| mistake)?;
            fields.clone_from_slice(&bounded);
            Ok(found)
        });
        let (kind, nullable) = found.map_err(|mistake| located(&fields[at].name, &value, &mistake))?;
        let Some((kind, values)) = written(&kind) else {
            let problem = format!("`{}:={value}`: no computed field has values of this type", fields[at].name);
            return Err(format!("{problem}; name the type in the YAML: `value: …` of another field"));
        };
        let field = &mut fields[at];
        (field.kind, field.values, field.nullable) = (kind, values, nullable);
    }
    Ok(())
}

/// The type of an expression, and whether it can be null.
fn checked(resource: &str, fields: &[FieldShorthand], value: &str) -> Result<(Type, bool), Mistake> {
    let plain: Vec<FieldShorthand> = fields.iter().filter(|field| field.value.is_none()).cloned().collect();
    let text = file(resource, &plain, None);
    let sources = Sources::default().with(&format!("resources/{resource}.yaml"), &text);
    let mut problems = Problems::default();
    let syntax = syntax::read(&sources, &mut problems);
    let schema = lower::lower(syntax, &sources, &mut problems);
    let declared: &[_] = schema.resources.first().map_or(&[], |resource: &Resource| &resource.fields);
    let names = Names { resource, fields: declared, others: None, has_request: false };
    let (node, kind) = expression::check_value(value, &names, None)?;
    let is_nullable =
        |other: &expression::Field| declared.iter().any(|field| field.name.value == other.name && field.nullable);
    Ok((kind, node.can_be_null(&is_nullable)))
}

/// The words of an expression, among them the names of its fields.
fn names(value: &str) -> impl Iterator<Item = &str> {
    value.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
}

/// The mistake below its place in the argument.
fn located(name: &str, value: &str, mistake: &Mistake) -> String {
    let written = format!("{name}:={value}");
    let start = value.get(..mistake.span.start).map_or(0, |before| before.chars().count()) + name.len() + 2;
    let marked = value.get(mistake.span.clone()).map_or(1, |part| part.chars().count()).max(1);
    let nearest = value.get(mistake.span.clone()).and_then(|part| {
        crate::diagnostic::nearest(part, mistake.known.iter().map(String::as_str))
            .map(|name| format!("did you mean `{name}`?"))
    });
    let known = || (!mistake.known.is_empty()).then(|| format!("known: {}", mistake.known.join(", ")));
    let help = mistake.help.clone().or(nearest).or_else(known);
    let help = help.map_or_else(String::new, |help| format!("\n  = help: {help}"));
    format!("`{written}`: {}\n  {written}\n  {}{}{help}", mistake.message, " ".repeat(start), "^".repeat(marked))
}

/// The type in YAML, with the words of an enum; none for a type that is not computed.
fn written(kind: &Type) -> Option<(String, Option<String>)> {
    let word = match kind {
        Type::Boolean => "boolean".to_owned(),
        Type::Number(digits) if digits.places == 0 && digits.largest <= i32::MAX.into() => "integer".to_owned(),
        Type::Number(digits) if digits.places == 0 => "bigint".to_owned(),
        Type::Number(digits) => {
            format!("decimal({}, {})", digits.count().clamp(digits.places + 1, 18), digits.places)
        }
        Type::Text => "text".to_owned(),
        Type::Date => "date".to_owned(),
        Type::Timestamp => "timestamp".to_owned(),
        Type::Word(words) => return Some(("enum".to_owned(), Some(format!("[{}]", words.join(", "))))),
        Type::Time | Type::Uuid | Type::Opaque => return None,
    };
    Some((word, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yaml(short: &[&str]) -> Result<String, String> {
        let mut fields: Vec<_> = short.iter().map(|field| FieldShorthand::read(field).unwrap()).collect();
        infer("invoice", &mut fields)?;
        Ok(fields.iter().map(|field| field.yaml(0)).collect())
    }

    #[test]
    fn the_type_of_a_computed_field_follows_from_its_expression() {
        let plain = ["quantity:integer", "unit_price:decimal", "sent_on:date", "state:enum(open|paid)=open"];
        for (short, expected) in [
            ("next:=quantity + 1", "next: { type: bigint, value: \"quantity + 1\" }"),
            ("large:=unit_price>100", "large: { type: boolean, value: \"unit_price>100\" }"),
            ("twice:=unit_price*2", "twice: { type: decimal(13, 2), value: \"unit_price*2\" }"),
            ("due_on:=sent_on + 7 days", "due_on: { type: date, nullable: true, value: \"sent_on + 7 days\" }"),
            ("copy:=state", "copy: { type: enum, values: [open, paid], value: \"state\" }"),
        ] {
            let text = yaml(&[&plain[..], &[short]].concat()).unwrap();
            assert_eq!(text.lines().last().unwrap().trim(), expected, "{short}");
        }
    }

    #[test]
    fn an_integer_of_a_product_that_is_too_large_gets_bounds() {
        let text = yaml(&["quantity:integer", "unit_price:decimal", "total:=quantity*unit_price"]).unwrap();
        let expected = "  quantity: { type: integer, default: 0, min: 0, max: 99999 }\n  \
                        unit_price: { type: decimal(12, 2), default: 0 }\n  \
                        total: { type: decimal(17, 2), value: \"quantity*unit_price\" }\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_mistake_is_marked_in_the_argument() {
        let problem = yaml(&["quantity:integer", "total:=quantiti*2"]).unwrap_err();
        let expected = "`total:=quantiti*2`: there is no field `quantiti`\n  total:=quantiti*2\n         ^^^^^^^^\n  \
                        = help: did you mean `quantity`?";
        assert_eq!(problem, expected);
        assert!(yaml(&["a:decimal(12, 6)", "b:=a*a*a"]).unwrap_err().contains("digits"));
    }
}
