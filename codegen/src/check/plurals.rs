//! Resources with a plural for a name: a warning, because some singulars end like a plural.

use charter_model::naming;

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::Resource;

pub fn check(resource: &Resource, problems: &mut Problems) {
    let (name, plural) = (&resource.name, &resource.plural);
    // An explicit `plural` shows that the name is meant.
    let follows = plural.span == name.span && !resource.singleton;
    let Some(singular) = naming::singular(name.as_str()).filter(|_| follows) else { return };
    let message =
        format!("`{}` looks like several records, of which lists would be called `{}`", name.value, plural.value);
    let help = format!(
        "call it `{singular}`, and its file `{singular}.yaml`; where `{}` is the name of one, say so: `plural: {}`",
        name.value, plural.value
    );
    problems.push(Diagnostic::new(Code::PluralName, name.span, message, "the name of one record").help(help));
}
