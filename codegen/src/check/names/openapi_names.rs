//! Names in the OpenAPI document: schemas, operations and groups, each of which must be unique.

use std::collections::{BTreeMap, BTreeSet};

use charter_model::{ActionMethod, ActionOn, Operation, naming};

use crate::check::actions::PATCH_OPERATION;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Action, ActionOutput, Resource, Schema, Shown};
use crate::platform;
use crate::source::Span;

/// The kind of a name. Names of different kinds do not clash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameKind {
    /// Client generators make a type of it.
    Schema,
    /// An operation or a webhook event. Client generators make a function of it.
    Operation,
    /// The tag of the operations of a resource.
    Tag,
}

impl NameKind {
    pub fn word(self) -> &'static str {
        match self {
            NameKind::Schema => "schema",
            NameKind::Operation => "operation",
            NameKind::Tag => "tag",
        }
    }
}

/// A name in the OpenAPI document. `tests/sound.rs` compares all of them with the served document.
#[derive(Debug)]
pub struct OpenApiName {
    pub kind: NameKind,
    pub name: String,
    what: String,
    span: Span,
}

pub fn check(schema: &Schema, problems: &mut Problems) {
    let platforms = platforms();
    let declared: Vec<Vec<OpenApiName>> = schema.declared().map(of).collect();
    let mut given: BTreeMap<(NameKind, &str), (usize, &OpenApiName)> = BTreeMap::new();
    for (owner, names) in std::iter::once(&platforms).chain(&declared).enumerate() {
        let mut reported: BTreeSet<usize> = BTreeSet::new();
        for name in names {
            let key = (name.kind, name.name.as_str());
            let Some((other, taken)) = given.get(&key) else {
                given.insert(key, (owner, name));
                continue;
            };
            // One report for each pair of resources: their other clashes follow from the same name.
            if *other == owner || reported.insert(*other) {
                problems.push(problem(name, taken));
            }
        }
    }
}

fn problem(added: &OpenApiName, taken: &OpenApiName) -> Diagnostic {
    let OpenApiName { what, kind, name, span } = added;
    let (other, kind) = (&taken.what, kind.word());
    let message = format!("{what} and {other} have the same {kind} name `{name}` in the OpenAPI document");
    let problem = Diagnostic::new(Code::NameTaken, *span, message, "leads to a name in use");
    match taken.span == Span::NOWHERE || taken.span == *span {
        true => problem.help("choose another name"),
        false => problem.related(taken.span, "used here").help("choose another name for one of the two"),
    }
}

/// Every name that the declared resources add.
pub fn all(schema: &Schema) -> Vec<OpenApiName> {
    schema.declared().flat_map(of).collect()
}

/// The names of the platform's own resources.
pub fn platforms() -> Vec<OpenApiName> {
    let kinds = [
        (NameKind::Schema, platform::SCHEMAS),
        (NameKind::Operation, platform::OPERATIONS),
        (NameKind::Tag, platform::TAGS),
    ];
    let names = kinds.into_iter().flat_map(|(kind, names)| names.iter().map(move |name| (kind, *name)));
    let what = "the platform";
    names
        .map(|(kind, name)| OpenApiName { kind, name: name.to_owned(), what: what.to_owned(), span: Span::NOWHERE })
        .collect()
}

/// The names of one resource.
fn of(resource: &Resource) -> Vec<OpenApiName> {
    let mut names = Names { resource, found: Vec::new() };
    if !resource.operations.is_empty() || !resource.actions.is_empty() {
        names.add(NameKind::Tag, naming::label(resource.plural.as_str()), "the tag of", resource.plural.span);
        names.schemas();
        names.operations();
    }
    // Attachments have operations even where no other operation is served.
    if resource.attachments {
        for (verb, what) in [("list", "the list of attachments of"), ("summarize", "the summary of attachments of")] {
            let id = format!("{verb}_attachments_of_{}", resource.path.value);
            names.add(NameKind::Operation, id, what, resource.path.span);
        }
    }
    if resource.events {
        names.events();
    }
    names.found
}

/// The names of one resource, while they are collected.
struct Names<'r> {
    resource: &'r Resource,
    found: Vec<OpenApiName>,
}

impl Names<'_> {
    fn add(&mut self, kind: NameKind, name: String, what: &str, span: Span) {
        let what = format!("{what} `{}`", self.resource.name.value);
        self.found.push(OpenApiName { kind, name, what, span });
    }

    fn schemas(&mut self) {
        let Resource { type_name, singleton, actions, .. } = self.resource;
        let has_detail = self.resource.fields.iter().any(|field| field.shown == Shown::Detail);
        let serves = |operation| self.resource.serves_any(&[operation]);
        let schemas = [
            ("", "a record of", true),
            ("ListItem", "a list item of", has_detail && serves(Operation::List)),
            ("Fields", "selected fields of", serves(Operation::List) || serves(Operation::Show)),
            ("Create", "the create body of", serves(Operation::Create) && !singleton),
            ("Update", "the update body of", serves(Operation::Update)),
        ];
        for (end, what, _) in schemas.into_iter().filter(|(_, _, is_there)| *is_there) {
            self.add(NameKind::Schema, format!("{type_name}{end}"), what, self.resource.name.span);
        }
        for action in actions.iter().filter(|action| matches!(action.output, ActionOutput::Fields { .. })) {
            let name = format!("{type_name}{}Answer", naming::upper_camel(action.name.as_str()));
            self.add(NameKind::Schema, name, &format!("the output of `{}` of", action.name.value), action.name.span);
        }
    }

    fn operations(&mut self) {
        let Resource { name, plural, singleton, soft_delete, .. } = self.resource;
        let serves = |operation| self.resource.serves_any(&[operation]);
        let writes = self.resource.serves_any(&[Operation::Create, Operation::Update, Operation::Delete]);
        let operations = [
            ("show", name, "the single record of", serves(Operation::Show)),
            ("update", name, "the update of", serves(Operation::Update)),
            (PATCH_OPERATION, name, "the update of", serves(Operation::Update)),
            ("list", plural, "the list of", serves(Operation::List) && !singleton),
            ("summarize", plural, "the summary of", serves(Operation::List) && !singleton),
            ("create", name, "the create operation of", serves(Operation::Create) && !singleton),
            ("delete", name, "the delete operation of", serves(Operation::Delete) && !singleton),
            ("bulk", plural, "the bulk operation of", writes && !singleton),
            ("restore", name, "the restore operation of", *soft_delete && serves(Operation::Delete) && !singleton),
        ];
        for (verb, of, what, _) in operations.into_iter().filter(|(_, _, _, is_there)| *is_there) {
            self.add(NameKind::Operation, format!("{verb}_{}", of.value), what, of.span);
        }
        for action in &self.resource.actions {
            let on = if action.on == ActionOn::Record { name } else { plural };
            let id = format!("{}_{}", action.name.value, on.value);
            self.add(NameKind::Operation, id, &format!("the action `{}` of", action.name.value), action.name.span);
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
            // Several actions can share one event.
            if !events.iter().any(|(known, _)| *known == event.value) {
                events.push((event.as_str(), event.span));
            }
        }
        for (event, span) in events {
            let id = format!("on_{}_{event}", name.value);
            self.add(NameKind::Operation, id, &format!("the event `{event}` of"), span);
        }
    }
}
