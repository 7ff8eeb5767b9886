//! Singletons: one record without id or list, which rules out many other options.

use charter_model::ActionOn;

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Access, Resource, Schema};
use crate::source::Span;

pub fn check(_: &Schema, resource: &Resource, problems: &mut Problems) {
    if !resource.singleton {
        return;
    }
    let mut refuse = |span: Option<Span>, message: String, help: &str| {
        if let Some(span) = span {
            problems.push(Diagnostic::new(Code::Singleton, span, message, "not with `singleton`").help(help));
        }
    };
    let spans = &resource.key_spans;
    let under = resource.under.as_ref().map(|under| under.resource.span);
    refuse(
        spans.operations,
        "a singleton has only the operations `show` and `update`".to_owned(),
        "remove `operations`",
    );
    refuse(spans.delete, "a singleton cannot be deleted".to_owned(), "remove `delete`");
    refuse(under, "a singleton cannot have a parent".to_owned(), "remove `under`");
    refuse(
        resource.owner.as_ref().map(|owner| owner.span),
        "a singleton cannot have an owner".to_owned(),
        "remove `owner`",
    );
    let queries = [
        (spans.filters, "filters"),
        (spans.sorts, "sorts"),
        (spans.search, "search"),
        (spans.ordered, "ordered"),
        (spans.unindexed, "unindexed"),
    ];
    for (span, key) in queries {
        refuse(span, "a singleton has no list".to_owned(), &format!("remove `{key}`"));
    }
    for field in resource.fields.iter().filter(|field| field.is_declared()) {
        let message = format!("clients do not create a singleton, so `{}` cannot be required", field.declared);
        refuse(field.places.required, message, "give it a `default`, or `nullable: true`");
        if field.access == Access::Immutable {
            let message = format!("clients do not create a singleton, so `{}` could never be set", field.declared);
            let help = "remove `access`, or use `access: read_only` for a value that the application sets";
            refuse(field.places.access, message, help);
        }
    }
    for action in resource.actions.iter().filter(|action| action.on == ActionOn::Record) {
        let message = format!("a singleton has no ids, so `{}` cannot run on a record", action.name.value);
        refuse(Some(action.name.span), message, "write `on: collection`");
    }
}
