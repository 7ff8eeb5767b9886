//! Seeds: whether the file is there, and whether its rows can be recognised again.

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Field, Kind, Resource, Rule, Schema};
use crate::source::SEED_SUFFIX;

pub fn check(_: &Schema, resource: &Resource, problems: &mut Problems) {
    let Some(seed) = &resource.seed else { return };
    let name = &seed.name.value;
    let wanted = format!("{}{SEED_SUFFIX}", resource.name.value);
    if !name.ends_with(SEED_SUFFIX) {
        let message = format!("`{name}` is not the name of a seed file");
        let problem = Diagnostic::new(Code::Seed, seed.name.span, message, "not a seed file")
            .help(format!("its name ends in `{SEED_SUFFIX}`: `{wanted}`"));
        problems.push(problem);
    } else if !seed.exists {
        let message = format!("there is no file `{name}` beside this one");
        let problem = Diagnostic::new(Code::Seed, seed.name.span, message, "missing file")
            .help("write it: a list of rows, each a mapping from fields to values");
        problems.push(problem);
    }
    let is_text = |field: &Field| matches!(field.kind, Kind::String { .. } | Kind::Text);
    let tells_apart = |field: &Field| field.rules.iter().any(|rule| rule.value == Rule::Unique) && is_text(field);
    if !resource.fields.iter().any(tells_apart) {
        let message = format!("rows of `{}` could not be recognised when they are seeded again", resource.name.value);
        let problem = Diagnostic::new(Code::Seed, seed.name.span, message, "nothing tells the rows apart")
            .help("mark the string field that does with `unique: true`");
        problems.push(problem);
    }
}
