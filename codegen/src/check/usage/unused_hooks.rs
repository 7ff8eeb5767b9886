//! Hooks, events and soft deletion that no served operation triggers: warnings, because application code may write
//! records.

use charter_model::{Hook, Keyword, Operation};

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{ActionOutput, Resource, Schema};
use crate::source::Span;

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    let name = &resource.name.value;
    let mut never = |span: Option<Span>, key: &str, what: &str, help: &str| {
        if let Some(span) = span {
            let message = format!("`{key}` has no effect: no operation or action of `{name}` {what}");
            let problem = Diagnostic::new(Code::Idle, span, message, "no effect");
            problems.push(problem.help(format!("{help}, or remove `{key}`")));
        }
    };
    let spans = &resource.key_spans;
    let writes = resource.serves_any(&[Operation::Create, Operation::Update, Operation::Delete]);
    let acts = resource.actions.iter().any(|action| !matches!(action.output, ActionOutput::Fields { .. }));
    if resource.events && !writes && !acts && !resource.singleton {
        never(spans.events, "events", "writes a record", "serve an operation that emits events");
    }
    let is_deleted = resource.serves_any(&[Operation::Delete]) || !resource.actions.is_empty();
    // Embedded records are deleted with the record that holds them, or when a write leaves them out.
    if resource.soft_delete && !is_deleted && !schema.is_embedded(name) {
        never(spans.delete, "delete", "deletes a record", "serve `delete`");
    }
    hooks(resource, problems);
}

fn hooks(resource: &Resource, problems: &mut Problems) {
    // An action can save and delete records.
    let acts = !resource.actions.is_empty();
    let saves = acts
        || resource.singleton
        || resource.seed.is_some()
        || resource.serves_any(&[Operation::Create, Operation::Update]);
    let deletes = !resource.singleton && (acts || resource.serves_any(&[Operation::Delete]));
    for point in &resource.hooks {
        let (runs, what, help) = match point.hook {
            Hook::Check | Hook::BeforeSave | Hook::AfterSave => {
                (saves, "saves a record", "`operations` lacks `create` and `update`")
            }
            Hook::BeforeDelete | Hook::AfterDelete if resource.singleton => {
                (deletes, "deletes a record", "a singleton is never deleted")
            }
            Hook::BeforeDelete | Hook::AfterDelete => (deletes, "deletes a record", "`operations` lacks `delete`"),
            Hook::AfterCommit => (saves || deletes, "changes a record", "`operations` has nothing that writes"),
            Hook::Consequences => (deletes, "deletes a record", "`operations` lacks `delete`, and there is no action"),
            Hook::Scope => continue,
        };
        if !runs {
            let word = point.hook.word();
            let message = format!("`{word}` never runs: no operation or action of `{}` {what}", resource.name.value);
            let problem = Diagnostic::new(Code::IdleHook, point.span, message, "never runs");
            problems.push(problem.help(format!("{help}: remove `{word}`, or serve an operation that runs it")));
        }
    }
}
