//! `title` of a resource: its format and its fields.

use charter_model::title::TitleFormat;

use super::{is_listed, named};
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Name, Resource, Schema, Type};
use crate::source::Spanned;

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    let Some(title) = &resource.title else { return };
    let format = match TitleFormat::read(title.as_str()) {
        Ok(format) => format,
        Err(problem) => {
            let message = format!("`{}` is not a title: {problem}", title.value);
            let problem = Diagnostic::new(Code::BadTitle, title.span, message, "not a title");
            return problems
                .push(problem.help("for example `{name} ({sku})`; the name of the resource is its `label`"));
        }
    };
    for (index, name) in format.fields().enumerate() {
        let name: Name = Spanned::new(name.to_owned(), title.span);
        let Some(field) = named(resource, &name, "`title`", problems) else { continue };
        if !is_listed(field, &name, "part of the title", problems) || field.kind.is_unknown() {
            continue;
        }
        let shown = schema.value_kind(resource, field);
        let is_word = shown.is_text() || shown.is_number() || matches!(shown.known(), Some(Type::Date));
        let (message, help) = if !is_word {
            (
                format!("`{}` is {}, which a title does not show", name.value, shown.described()),
                "use text, numbers and dates",
            )
        } else if index == 0 && !(field.is_column() && field.kind.is_text()) {
            let message = format!("the title begins with `{}`, by which records cannot be searched", name.value);
            (message, "begin with a `string` or `text` of the resource")
        } else {
            continue;
        };
        problems.push(Diagnostic::new(Code::BadTitle, title.span, message, "not a part of a title").help(help));
    }
}
