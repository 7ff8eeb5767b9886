//! Resources with a plural for a name: a warning, because some singulars end like a plural.

use charter_model::naming;

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::Resource;

pub fn check(resource: &Resource, problems: &mut Problems) {
    let (name, plural) = (&resource.name, &resource.plural);
    // An explicit `plural` shows that the name is meant.
    let follows = plural.span == name.span && !resource.singleton;
    let Some(singular) = naming::singular(name.as_str()).filter(|_| follows) else { return };
    let message = format!("`{}` looks like a plural; its plural would be `{}`", name.value, plural.value);
    let help = format!(
        "rename it to `{singular}`, and the file to `{singular}.yaml`; if `{}` is a singular, add `plural: {}`",
        name.value, plural.value
    );
    problems.push(Diagnostic::new(Code::PluralName, name.span, message, "a name in the singular").help(help));
}
