//! Actions: names that something else has already, and answers without fields.

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Action, ActionOutput, Resource, Schema};
use crate::names;
use crate::words::{ActionMethod, Hook, Operation};

pub fn check(_: &Schema, resource: &Resource, problems: &mut Problems) {
    for action in &resource.actions {
        free_name(action, problems);
        if let ActionOutput::Fields { key, fields } = &action.output
            && fields.is_empty()
        {
            let message = format!("`{}` answers `{}` with nothing in it", action.name.value, key.value);
            let problem = Diagnostic::new(Code::ActionAnswer, key.span, message, "no `output`")
                .help("say what it answers: `output: { … }`");
            problems.push(problem);
        }
        if action.method == ActionMethod::Get && matches!(action.output, ActionOutput::Record) {
            let message = format!("`{}` is a `get` that would change the record", action.name.value);
            let problem = Diagnostic::new(Code::ActionAnswer, action.name.span, message, "no `answer`")
                .help("say what it answers with `answer` and `output`, or drop `method: get`");
            problems.push(problem);
        }
    }
}

fn free_name(action: &Action, problems: &mut Problems) {
    let name = action.name.as_str();
    let reason = if Operation::WORDS.contains(&name) {
        "is one of the plain operations"
    } else if Hook::WORDS.contains(&name) {
        "is the name of a hook"
    } else if names::is_keyword(name) {
        "is a word of Rust, and cannot name a function"
    } else {
        return;
    };
    let problem = Diagnostic::new(Code::ActionName, action.name.span, format!("`{name}` {reason}"), "not free")
        .help("choose another name for the action");
    problems.push(problem);
}
