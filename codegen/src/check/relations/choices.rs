//! `where` of references: the condition over the records that can be chosen.

use charter_model::FieldOption;

use super::super::fields::conditions::{self, Names};
use super::super::scopes;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Access, Field, Kind, Name, Resource, Schema, Type};

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    for scope in scopes(resource) {
        for field in scope.fields.iter() {
            let Some(text) = field.described.get(FieldOption::Where) else { continue };
            // The other column of a polymorphic reference, and a type that is reported already.
            if field.kind.is_unknown()
                || matches!(field.kind, Kind::Known(Type::PolymorphicRef { .. }))
                || !field.is_column()
            {
                continue;
            }
            condition(schema, field, text, problems);
        }
    }
}

fn condition(schema: &Schema, field: &Field, text: &Name, problems: &mut Problems) {
    let problem = |message: String, label: &str| Diagnostic::new(Code::BadChoices, text.span, message, label);
    let Some(target) = field.kind.target() else {
        let kind = if field.kind.targets().is_some() {
            "a `ref` to several resources".to_owned()
        } else {
            field.kind.described()
        };
        let message = format!("`{}` is {kind}, and not a `ref` to one resource", field.declared);
        return problems.push(
            problem(message, "no single reference")
                .help("remove `where`, which limits a `ref`, `count`, `sum`, `min` or `max`"),
        );
    };
    // An unknown resource is reported with the type.
    let Some(other) = schema.find(target.as_str()) else { return };
    let names = Names::without_request(other);
    let Some(node) = conditions::condition(text, &names, problems) else { return };
    let named = node.fields();
    if named.is_empty() {
        let message = format!(
            "the condition names no field of `{target}`, so that every record can be chosen or none",
            target = target.value
        );
        problems.push(problem(message, "names no field").help("remove `where`, or compare a field"));
    }
    for field in named.iter().filter_map(|name| other.field(name)) {
        let (name, of) = (&field.name.value, &target.value);
        let help = "use fields that every client can read";
        if field.access == Access::Secret {
            let message = format!("`{name}` of `{of}` is secret, and refused values would tell of it");
            problems.push(problem(message, "names a secret").help(help));
        } else if let Some(right) = field.described.get(FieldOption::Read) {
            let right = &right.value;
            let message = format!("reading `{name}` of `{of}` needs `{right}`, and refused values would tell of it");
            problems.push(problem(message, "needs a right").help(help));
        }
    }
}
