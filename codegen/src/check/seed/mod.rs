//! Seed files: whether the file exists and its rows can be identified again.

mod record_rules;
mod rows;
mod seed_state;

use self::rows::{Rows, is_writable};
use self::seed_state::{SeedState, later};
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Default, Field, Resource, Rule, Schema};
use crate::source::SEED_SUFFIX;
use crate::syntax::tree::Value;

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    if resource.singleton {
        singleton_defaults(schema, resource, problems);
    }
    let Some(seed) = &resource.seed else { return };
    let name = &seed.name.value;
    let wanted = format!("{}{SEED_SUFFIX}", resource.name.value);
    if !name.ends_with(SEED_SUFFIX) {
        let message = format!("`{name}` is not a seed file");
        let problem = Diagnostic::new(Code::Seed, seed.name.span, message, "not a seed file")
            .help(format!("the name must end in `{SEED_SUFFIX}`: `{wanted}`"));
        problems.push(problem);
    } else if !seed.exists {
        let message = format!("the file `{name}` does not exist in this folder");
        let problem = Diagnostic::new(Code::Seed, seed.name.span, message, "missing file")
            .help("create it: a list of rows, each a mapping from fields to values");
        problems.push(problem);
    }
    let key = resource.fields.iter().find(|field| identifies_rows(field));
    if key.is_none() {
        let message = format!("rows of `{}` cannot be identified when the seed is applied again", resource.name.value);
        let problem = Diagnostic::new(Code::Seed, seed.name.span, message, "no field identifies the rows")
            .help("add `unique: true` to a `string` field that every row sets and that is not `nullable`");
        problems.push(problem);
    }
    if let Some(root) = &seed.rows {
        let mut found = Problems::default();
        if let Value::List(items) = &root.value {
            let later = later(schema, resource);
            let sown = SeedState { schema, file: Some((resource, &[])), later: &later };
            Rows { resource, key, by: None }.check(items, sown, &mut found);
        } else {
            let message = format!("a seed file must be a list of rows, not {}", root.described());
            let problem = Diagnostic::new(Code::Seed, root.span, message, "expected a list");
            found.push(problem.help("start each row with `- `; a row is a mapping from fields to values"));
        }
        once_each(found, problems);
    }
}

/// The record of a singleton is created from its defaults, after all seeds.
fn singleton_defaults(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    let sown = SeedState { schema, file: None, later: &[] };
    for field in &resource.fields {
        let (Default::Literal(text), Some(span)) = (&field.default, field.places.default) else { continue };
        if let Some(path) = sown.missing_value(field, text) {
            let message = format!("no seed row has the `{path}` `{text}`, the default of the record");
            let problem = Diagnostic::new(Code::Seed, span, message, "does not exist");
            problems.push(problem.help("add the row, or start with null: `nullable: true` without a `default`"));
        }
    }
}

/// True if a field identifies rows at every start: a unique text that every row gives. The server uses the first such
/// field.
fn identifies_rows(field: &Field) -> bool {
    let is_unique = field.rules.iter().any(|rule| rule.value == Rule::Unique);
    let is_text = field.kind.is_text();
    is_unique && is_text && !field.nullable && is_writable(field)
}

/// A mistake that every row repeats, such as a wrong column name, is reported once, at the first row.
fn once_each(found: Problems, problems: &mut Problems) {
    let mut reported: Vec<(Diagnostic, usize)> = Vec::new();
    for problem in found.into_all() {
        match reported.iter_mut().find(|(first, _)| first.code == problem.code && first.message == problem.message) {
            Some((_, rows)) => *rows += 1,
            None => reported.push((problem, 1)),
        }
    }
    for (mut problem, rows) in reported {
        if rows > 1 {
            problem.message.push_str(&format!(" (in {rows} rows)"));
        }
        problems.push(problem);
    }
}
