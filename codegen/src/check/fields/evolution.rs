//! `renamed_from` and `backfill`, which only migrations read.

use charter_model::Misfit;

use super::defaults::{own_rules, unique_value};
use crate::check::names::snake_case;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Default, Field, Kind, Name, Resource, Schema, Type};

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    if let Some(before) = &resource.renamed_from {
        snake_case("a resource", before, problems);
        let here = schema.declared().find(|other| other.name.value == before.value);
        former_name_in_use(before, here.map(|other| &other.name), problems);
        let earlier = schema.declared().take_while(|other| other.name.value != resource.name.value);
        same_former_name(before, earlier.filter_map(|other| other.renamed_from.as_ref()), problems);
    }
    let mut last = "";
    let mut former: Vec<&Name> = Vec::new();
    for field in &resource.fields {
        // A polymorphic reference has two columns and one declaration.
        if field.declared == last {
            continue;
        }
        last = &field.declared;
        if let Some(before) = &field.renamed_from {
            snake_case("a field", before, problems);
            let here = resource.fields.iter().find(|other| other.declared == before.value);
            former_name_in_use(before, here.map(|other| &other.name), problems);
            same_former_name(before, former.iter().copied(), problems);
            former.push(before);
        }
        backfill(field, problems);
    }
}

fn former_name_in_use(before: &Name, here: Option<&Name>, problems: &mut Problems) {
    if let Some(here) = here {
        let message = format!("`{}` still exists, so it is not a former name", before.value);
        let problem = Diagnostic::new(Code::Contradiction, before.span, message, "not a former name");
        problems.push(problem.related(here.span, "declared here"));
    }
}

/// Two resources or fields cannot have the same former name.
fn same_former_name<'a>(before: &Name, mut earlier: impl Iterator<Item = &'a Name>, problems: &mut Problems) {
    if let Some(first) = earlier.find(|other| other.value == before.value) {
        let message = format!("the former name `{}` is given twice", before.value);
        let problem = Diagnostic::new(Code::Contradiction, before.span, message, "again");
        problems.push(problem.related(first.span, "first here").help("remove `renamed_from` from the new one"));
    }
}

fn backfill(field: &Field, problems: &mut Problems) {
    let Some(value) = &field.backfill else { return };
    let refusal = match (&value.value, &field.kind) {
        (_, Kind::Unknown) => None,
        (Default::Now, kind) if kind.facts().takes_now => None,
        (Default::Literal(text), Kind::Known(known @ Type::Ref { .. })) => known.value(text, |_| false).err(),
        // One value cannot fill all rows of such a column; a migration refuses it too.
        (Default::Literal(_), Kind::Known(Type::Uuid | Type::PolymorphicType { .. })) => {
            let reason = match field.kind {
                Kind::Known(Type::Uuid) => "two records cannot have the same UUID",
                _ => "a polymorphic reference has two columns, a type and an id",
            };
            let help =
                "remove `backfill`: add `nullable: true`, fill the rows, and require the field in the next migration";
            Some(Misfit::new(reason, help))
        }
        (Default::Literal(text), kind) => kind.literal("backfill", text).err(),
        (Default::Now, _) => {
            Some(Misfit::new("only a `timestamp` or a `date` takes `now`", "give a value; the text `now` needs quotes"))
        }
        _ => Some(Misfit::new("existing rows have neither a caller nor a hook", "give a value")),
    };
    if let Some(Misfit { reason, help }) = refusal {
        let message = format!("the backfill does not fit `{}`: {reason}", field.declared);
        let label = format!("not {}", field.kind.described());
        problems.push(Diagnostic::new(Code::DefaultMisfit, value.span, message, label).help(help));
    } else {
        if let Default::Literal(text) = &value.value {
            own_rules(field, "backfill", text, value.span, problems);
        }
        unique_value(field, "backfill", value.span, problems);
    }
}
