//! Lowering of includes, actions, filters and sorts.

use charter_model::{ActionMethod, ActionOn, Keyword, Predicate};

use super::field::{self, ResourceContext};
use super::states;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::keywords::FilterWord;
use crate::model::{Action, ActionOutput, Field, Filter, Filters, Include, IncludeTarget, Name, Shown, Sorts};
use crate::source::{Sources, Span, Spanned};
use crate::syntax::aliases;
use crate::syntax::relation::{ActionSyntax, IncludeSyntax, IncludeTargetSyntax};
use crate::syntax::resource::{FilterSyntax, FiltersSyntax, SortsSyntax};

/// Includes, each with the field at the other end.
pub fn includes(
    written: &[IncludeSyntax],
    resource_context: &ResourceContext<'_>,
    problems: &mut Problems,
) -> Vec<Include> {
    let lower = |include: &IncludeSyntax| {
        let target = match &include.target {
            IncludeTargetSyntax::One(via) => IncludeTarget::One { via: via.clone() },
            IncludeTargetSyntax::CustomFields(span) => IncludeTarget::CustomFields(*span),
            IncludeTargetSyntax::Many { resource, by } => IncludeTarget::Many {
                resource: resource.clone(),
                by: resource_context.links.by(resource, by, resource_context.resource.as_str(), problems)?,
            },
        };
        Some(Include { name: include.name.clone(), target, fields: include.fields.clone() })
    };
    written.iter().filter_map(lower).collect()
}

/// Actions, each with its method and output.
pub fn actions(
    written: &[ActionSyntax],
    fields: &[Field],
    resource_context: &ResourceContext<'_>,
    sources: &Sources,
    problems: &mut Problems,
) -> Vec<Action> {
    let lower = |action: &ActionSyntax| {
        let on = action.on.as_ref().map_or(ActionOn::Record, |on| on.value);
        Action {
            name: action.name.clone(),
            on,
            method: action.method.as_ref().map_or(ActionMethod::Post, |method| method.value),
            input: field::lower_all(&action.input, Shown::Always, resource_context, problems),
            output: output(action, on, resource_context, problems),
            event: action.event.clone(),
            until: action.until.clone(),
            confirm: action.confirm.clone(),
            external: action.external.as_ref().filter(|flag| flag.value).map(|flag| flag.span),
            description: action.description.clone(),
            rule: states::rule(action, fields),
            place: place(sources, action.name.span),
        }
    };
    written.iter().map(lower).collect()
}

fn output(
    action: &ActionSyntax,
    on: ActionOn,
    resource_context: &ResourceContext<'_>,
    problems: &mut Problems,
) -> ActionOutput {
    let name = &action.name.value;
    let fields = field::lower_all(&action.output, Shown::Always, resource_context, problems);
    if action.unreadable {
        return ActionOutput::Unknown;
    }
    let (span, message, help) = match (&action.answer, action.output_span) {
        (None, Some(_)) if action.creates && on == ActionOn::Record => return ActionOutput::Created,
        (None, Some(span)) if action.creates => (
            span,
            format!("`{name}` runs on the collection and creates a record"),
            "use `POST` on the collection, and the hook `before_save` for its behaviour",
        ),
        (Some(key), Some(_)) if action.creates => (
            key.span,
            format!("`{name}` creates a record and has an `answer`"),
            "a new record is returned under the name of its resource: remove `answer`",
        ),
        (Some(key), Some(_)) => return ActionOutput::Fields { key: key.clone(), fields },
        (None, None) if on == ActionOn::Record => return ActionOutput::Record,
        (None, None) => (
            action.name.span,
            format!("`{name}` runs on the collection and has no record to return"),
            "add an output: `answer: <key>` and `output: { … }`",
        ),
        (Some(key), None) => (
            key.span,
            format!("`{name}` has an `answer` and no `output`"),
            "declare both: `answer` is the key, `output` the fields under it",
        ),
        (None, Some(span)) => (
            span,
            format!("`{name}` has an `output` and no `answer`"),
            "declare both: `answer` is the key, `output` the fields under it",
        ),
    };
    problems.push(Diagnostic::new(Code::ActionAnswer, span, message, "no output").help(help));
    ActionOutput::Unknown
}

/// The filters that `q` accepts.
pub fn filters(written: &Option<FiltersSyntax>, problems: &mut Problems) -> Filters {
    match written {
        None => Filters::Shown,
        Some(FiltersSyntax::Word(word)) if word.value == FilterWord::None => Filters::None,
        Some(FiltersSyntax::Word(_)) => Filters::Shown,
        Some(FiltersSyntax::Fields(fields)) => {
            let lower = |(name, filter): &(Name, FilterSyntax)| {
                let filter = match filter {
                    FilterSyntax::All => Filter::All,
                    FilterSyntax::Only(words) => Filter::Only(predicates(name, words, problems)),
                };
                (name.clone(), filter)
            };
            Filters::Fields(fields.iter().map(lower).collect())
        }
    }
}

fn predicates(field: &Name, words: &[Name], problems: &mut Problems) -> Vec<Spanned<Predicate>> {
    let mut read = |word: &Name| {
        let predicate = Predicate::read(word.as_str());
        if predicate.is_none() {
            let message = format!("unknown predicate `{}`", word.value);
            let problem = Diagnostic::new(Code::UnknownPredicate, word.span, message, "unknown predicate");
            problems.push(match (word.as_str(), aliases::predicate(word.as_str())) {
                ("all", _) => problem
                    .help(format!("for all predicates of the field, write `{}: all`, without brackets", field.value)),
                (_, Some(help)) => problem.help(help),
                _ => problem.did_you_mean(word.as_str(), Predicate::WORDS.iter().copied()),
            });
        }
        predicate.map(|predicate| Spanned::new(predicate, word.span))
    };
    words.iter().filter_map(&mut read).collect()
}

/// The fields that `sort` accepts.
pub fn sorts(written: &Option<SortsSyntax>) -> Sorts {
    match written {
        None | Some(SortsSyntax::Shown) => Sorts::Shown,
        Some(SortsSyntax::Fields(names)) => Sorts::Fields(names.clone()),
    }
}

/// `resources/exchange_rate.yaml:21`, for comments in generated code.
pub fn place(sources: &Sources, span: Span) -> String {
    let file = sources.file(span.file);
    format!("{}:{}", file.path, file.position(span.start).0)
}
