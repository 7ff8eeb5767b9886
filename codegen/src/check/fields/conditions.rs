//! Conditions over the fields of a record: their words, names and types.

use charter_model::FieldType;
use charter_model::expression::{self, Mistake, Node, Scalar, Scope, Situation, Type, Via};

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Field, Kind, Name, Resource, Schema};
use crate::source::Span;

/// The names that an expression may use.
pub struct Names<'a> {
    /// The resource of the record, whose ids are in `id`.
    pub resource: &'a str,
    pub fields: &'a [Field],
    /// The schema, if the expression may use fields of the records that references lead to.
    pub others: Option<&'a Schema>,
    /// True if it may use `now`, `today` and `caller`.
    pub has_request: bool,
}

impl<'a> Names<'a> {
    /// The fields of one record, the time and the caller.
    pub fn of_record(resource: &'a Resource) -> Names<'a> {
        Names { resource: resource.name.as_str(), fields: &resource.fields, others: None, has_request: true }
    }

    /// The fields of one record alone.
    pub fn without_request(resource: &'a Resource) -> Names<'a> {
        Names { has_request: false, ..Names::of_record(resource) }
    }
}

impl Scope for Names<'_> {
    fn field(&self, name: &str) -> Option<Type> {
        let field = self.fields.iter().find(|field| field.name.value == name && field.is_column())?;
        match &field.kind {
            Kind::Known(kind) => Type::of(kind, field.rules.iter().map(|rule| &rule.value)),
            Kind::Unknown => None,
        }
    }

    fn names(&self) -> Vec<String> {
        self.fields.iter().filter(|field| field.is_column()).map(|field| field.name.value.clone()).collect()
    }

    fn referred(&self, name: &str) -> Option<String> {
        if name == "id" {
            return Some(self.resource.to_owned());
        }
        let field = self.fields.iter().find(|field| field.name.value == name)?;
        field.kind.target().map(|target| target.value.clone())
    }

    fn reference(&self, name: &str) -> Option<(Via, Box<dyn Scope + '_>)> {
        let is_named = |field: &&Field| field.name.value == name || field.name.value.strip_suffix("_id") == Some(name);
        let field = self.fields.iter().find(is_named)?;
        let Kind::Known(FieldType::Ref { resource }) = &field.kind else { return None };
        let other = self.others?.find(resource.as_str())?;
        let via = Via { field: field.name.value.clone(), resource: resource.as_str().to_owned() };
        Some((via, Box::new(Names::without_request(other))))
    }

    fn has_references(&self) -> bool {
        self.others.is_some()
    }

    fn has_request(&self) -> bool {
        self.has_request
    }
}

/// No request, for the evaluation of conditions that name neither the time nor the caller.
pub struct NoRequest;

impl Situation for NoRequest {
    fn now(&self) -> i128 {
        0
    }

    fn today(&self) -> i64 {
        0
    }

    fn caller_id(&self) -> Option<i64> {
        None
    }

    fn caller_can(&self, _: &str) -> bool {
        false
    }
}

/// True for a value that a field with `required_when` does not accept while its condition holds: none, or a blank text.
pub fn is_blank(value: Option<&Scalar>) -> bool {
    match value {
        None => true,
        Some(Scalar::Text(text)) => text.trim().is_empty(),
        Some(_) => false,
    }
}

/// Checks a condition, and reports its mistake at its place. None as well if a field that it may mean has an unknown type,
/// which is reported already.
pub fn condition(text: &Name, names: &Names<'_>, problems: &mut Problems) -> Option<Node> {
    checked(text, names, problems, |text| expression::check(text, names))
}

/// Checks an expression for a field of a type, in the same way.
pub fn value(text: &Name, names: &Names<'_>, wanted: &Type, problems: &mut Problems) -> Option<(Node, Type)> {
    checked(text, names, problems, |text| expression::check_value(text, names, Some(wanted)))
}

fn checked<T>(
    text: &Name,
    names: &Names<'_>,
    problems: &mut Problems,
    check: impl FnOnce(&str) -> Result<T, Mistake>,
) -> Option<T> {
    if names.fields.iter().any(|field| field.kind.is_unknown() && text.value.contains(field.name.as_str())) {
        return None;
    }
    check(&text.value).map_err(|mistake| problems.push(diagnostic(text, &mistake))).ok()
}

/// Checks the condition of `required_when`.
pub fn required_when(field: &Field, text: &Name, names: &Names<'_>, problems: &mut Problems) {
    if !field.nullable && !field.kind.is_unknown() {
        let message = format!("`{}` always has a value, so that `required_when` never applies", field.declared);
        let problem = Diagnostic::new(Code::BadCondition, text.span, message, "never applies");
        problems.push(problem.help("add `nullable: true`, or use `required: true` instead"));
        return;
    }
    condition(text, names, problems);
}

fn diagnostic(condition: &Name, mistake: &Mistake) -> Diagnostic {
    let written = condition.value.get(mistake.span.clone()).unwrap_or_default();
    let (place, label) = match place(condition, mistake) {
        Some(place) => (place, "here".to_owned()),
        None if written.trim().is_empty() => (condition.span, "here".to_owned()),
        None => (condition.span, format!("at `{}`", written.split_whitespace().collect::<Vec<_>>().join(" "))),
    };
    let problem = Diagnostic::new(Code::BadCondition, place, &mistake.message, label);
    match &mistake.help {
        Some(help) => problem.help(help),
        None => problem.did_you_mean(written, mistake.known.iter().map(String::as_str)),
    }
}

/// The place of a mistake in the file. None in a text with escapes or line breaks.
fn place(condition: &Name, mistake: &Mistake) -> Option<Span> {
    let Span { file, start, end } = condition.span;
    let quote = match (end - start).checked_sub(condition.value.len()) {
        Some(0) => 0,
        Some(2) => 1,
        _ => return None,
    };
    // The end of the text has no character of its own.
    let last = condition.value.len().saturating_sub(1);
    let from = mistake.span.start.min(last);
    Some(Span { file, start: start + quote + from, end: start + quote + mistake.span.end.max(from + 1) })
}
