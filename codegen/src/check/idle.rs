//! Hooks that no operation of the resource runs: a warning, because the application may write records itself.

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Resource, Schema};
use crate::words::{Hook, Operation, Word};

pub fn check(_: &Schema, resource: &Resource, problems: &mut Problems) {
    // An action may save and delete.
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
            Hook::Scope => continue,
        };
        if !runs {
            let word = point.hook.word();
            let message = format!("`{word}` never runs: nothing of `{}` {what}", resource.name.value);
            let problem = Diagnostic::new(Code::IdleHook, point.span, message, "runs by nothing");
            problems.push(problem.help(format!("{help}: leave `{word}` out, or serve what it is for")));
        }
    }
}
