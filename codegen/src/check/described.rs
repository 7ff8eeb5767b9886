//! The names that the API's description gives, written out: of schemas, operations and groups, of which no two may be one.

use std::collections::{BTreeMap, BTreeSet};

use super::actions::PATCH;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Action, ActionOutput, Resource, Schema, Shown};
use crate::names;
use crate::platform;
use crate::source::Span;
use crate::words::{ActionMethod, ActionOn, Operation};

/// What a name is given to. Names of different sorts do not meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    /// Clients make a type of it.
    Schema,
    /// Clients make a function of it: an operation, or an event that is sent to them.
    Operation,
    /// The heading over the operations of a resource.
    Group,
}

impl Sort {
    pub fn word(self) -> &'static str {
        match self {
            Sort::Schema => "schema",
            Sort::Operation => "operation",
            Sort::Group => "group",
        }
    }
}

/// A name in the description. `tests/path_conflicts.rs` holds all of them to those that are served.
#[derive(Debug)]
pub struct Described {
    pub sort: Sort,
    pub name: String,
    what: String,
    span: Span,
}

pub fn check(schema: &Schema, problems: &mut Problems) {
    let platforms = platforms();
    let declared: Vec<Vec<Described>> = schema.declared().map(of).collect();
    let mut given: BTreeMap<(Sort, &str), (usize, &Described)> = BTreeMap::new();
    for (owner, names) in std::iter::once(&platforms).chain(&declared).enumerate() {
        let mut told: BTreeSet<usize> = BTreeSet::new();
        for described in names {
            let key = (described.sort, described.name.as_str());
            let Some((other, taken)) = given.get(&key) else {
                given.insert(key, (owner, described));
                continue;
            };
            // One is enough of what two resources share: it follows from one name, and goes with it.
            if *other == owner || told.insert(*other) {
                problems.push(problem(described, taken));
            }
        }
    }
}

fn problem(described: &Described, taken: &Described) -> Diagnostic {
    let sort = described.sort.word();
    let (what, name) = (&described.what, &described.name);
    let message = format!("{what} would be the {sort} `{name}` of the API's description, which is {}", taken.what);
    let problem = Diagnostic::new(Code::NameTaken, described.span, message, "makes a name that is not free");
    match taken.span == Span::NOWHERE || taken.span == described.span {
        true => problem.help("choose another name"),
        false => problem.related(taken.span, "there already").help("choose another name for one of the two"),
    }
}

/// Every name that the declared resources give.
pub fn all(schema: &Schema) -> Vec<Described> {
    schema.declared().flat_map(of).collect()
}

/// Those of the service itself.
pub fn platforms() -> Vec<Described> {
    let sorts =
        [(Sort::Schema, platform::SCHEMAS), (Sort::Operation, platform::OPERATIONS), (Sort::Group, platform::GROUPS)];
    let names = sorts.into_iter().flat_map(|(sort, names)| names.iter().map(move |name| (sort, *name)));
    let what = "the service's own";
    names
        .map(|(sort, name)| Described { sort, name: name.to_owned(), what: what.to_owned(), span: Span::NOWHERE })
        .collect()
}

/// The names that follow from one resource.
fn of(resource: &Resource) -> Vec<Described> {
    let mut names = Names { resource, found: Vec::new() };
    if !resource.operations.is_empty() || !resource.actions.is_empty() {
        names.add(Sort::Group, names::label(resource.plural.as_str()), "the group of", resource.plural.span);
        names.schemas();
        names.operations();
    }
    // Files hang on records although nothing else of them is served.
    if resource.attachments {
        let id = format!("list_attachments_of_{}", resource.path.value);
        names.add(Sort::Operation, id, "the list of files of", resource.path.span);
    }
    if resource.events {
        names.events();
    }
    names.found
}

/// The names of a resource, as they are gathered.
struct Names<'r> {
    resource: &'r Resource,
    found: Vec<Described>,
}

impl Names<'_> {
    fn add(&mut self, sort: Sort, name: String, what: &str, span: Span) {
        let what = format!("{what} `{}`", self.resource.name.value);
        self.found.push(Described { sort, name, what, span });
    }

    fn schemas(&mut self) {
        let Resource { type_name, singleton, actions, .. } = self.resource;
        let has_detail = self.resource.fields.iter().any(|field| field.shown == Shown::Detail);
        let serves = |operation| self.resource.serves_any(&[operation]);
        let schemas = [
            ("", "a record of", true),
            ("ListItem", "a record in the list of", has_detail && serves(Operation::List)),
            ("Fields", "some fields of", serves(Operation::List) || serves(Operation::Show)),
            ("Create", "what creates", serves(Operation::Create) && !singleton),
            ("Update", "what changes", serves(Operation::Update)),
        ];
        for (end, what, _) in schemas.into_iter().filter(|(_, _, is_there)| *is_there) {
            self.add(Sort::Schema, format!("{type_name}{end}"), what, self.resource.name.span);
        }
        for action in actions.iter().filter(|action| matches!(action.output, ActionOutput::Fields { .. })) {
            let name = format!("{type_name}{}Answer", names::upper_camel(action.name.as_str()));
            self.add(Sort::Schema, name, &format!("the answer of `{}` of", action.name.value), action.name.span);
        }
    }

    fn operations(&mut self) {
        let Resource { name, plural, singleton, soft_delete, .. } = self.resource;
        let serves = |operation| self.resource.serves_any(&[operation]);
        let writes = self.resource.serves_any(&[Operation::Create, Operation::Update, Operation::Delete]);
        let operations = [
            ("show", name, "the single record of", serves(Operation::Show)),
            ("update", name, "the change of", serves(Operation::Update)),
            (PATCH, name, "the change of", serves(Operation::Update)),
            ("list", plural, "the list of", serves(Operation::List) && !singleton),
            ("create", name, "the creation of", serves(Operation::Create) && !singleton),
            ("delete", name, "the deletion of", serves(Operation::Delete) && !singleton),
            ("bulk", plural, "the write of many of", writes && !singleton),
            ("restore", name, "the return of a deleted", *soft_delete && serves(Operation::Delete) && !singleton),
        ];
        for (verb, of, what, _) in operations.into_iter().filter(|(_, _, _, is_there)| *is_there) {
            self.add(Sort::Operation, format!("{verb}_{}", of.value), what, of.span);
        }
        for action in &self.resource.actions {
            let on = if action.on == ActionOn::Record { name } else { plural };
            let id = format!("{}_{}", action.name.value, on.value);
            self.add(Sort::Operation, id, &format!("the action `{}` of", action.name.value), action.name.span);
        }
    }

    fn events(&mut self) {
        let Resource { name, actions, singleton, soft_delete, .. } = self.resource;
        let serves = |operation| self.resource.serves_any(&[operation]);
        let is_change =
            |action: &&Action| matches!(action.output, ActionOutput::Record) && action.method == ActionMethod::Post;
        let creates = |action: &Action| matches!(action.output, ActionOutput::Created);
        let deletes = serves(Operation::Delete) && !singleton;
        let plain = [
            ("created", serves(Operation::Create) && !singleton || actions.iter().any(creates)),
            ("updated", serves(Operation::Update) || actions.iter().filter(is_change).any(|one| one.event.is_none())),
            ("deleted", deletes),
            ("restored", deletes && *soft_delete),
        ];
        let plain = plain.into_iter().filter(|(_, is_emitted)| *is_emitted).map(|(event, _)| (event, name.span));
        let mut events: Vec<(&str, Span)> = plain.collect();
        for event in actions.iter().filter_map(|action| action.event.as_ref()) {
            // Several actions may have one event.
            if !events.iter().any(|(known, _)| *known == event.value) {
                events.push((event.as_str(), event.span));
            }
        }
        for (event, span) in events {
            let id = format!("on_{}_{event}", name.value);
            self.add(Sort::Operation, id, &format!("the event `{event}` of"), span);
        }
    }
}
