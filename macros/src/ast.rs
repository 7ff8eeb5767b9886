//! The content of a struct's attributes: names and values with their spans.

use charter_model::rate::Rate;
use charter_model::{Access, Deprecated, FieldOption, FieldType, Notation};
use proc_macro2::{Ident, Span};
use syn::Type;

/// Text with its span.
#[derive(Debug, Clone)]
pub struct Word {
    pub text: String,
    pub span: Span,
}

/// Words are equal if their texts are; the spans do not count.
impl PartialEq for Word {
    fn eq(&self, other: &Word) -> bool {
        self.text == other.text
    }
}

/// A struct `Model` with its attributes.
pub struct Resource {
    pub ident: Ident,
    pub settings: Settings,
    /// In the order of the record: each column, then the derived, embedded and computed fields written on it.
    pub members: Vec<Member>,
}

impl Resource {
    pub fn columns(&self) -> impl Iterator<Item = &Field> {
        self.members.iter().filter_map(|member| match member {
            Member::Column(field) => Some(&**field),
            Member::Derived(_) | Member::Embedded(_) | Member::Links(_) | Member::Computed(_) => None,
        })
    }

    pub fn column(&self, name: &str) -> Option<&Field> {
        self.columns().find(|field| field.name == name)
    }
}

/// The content of `#[resource]`. Expansion fills in the defaults.
#[derive(Default)]
pub struct Settings {
    /// True if part of it could not be read: missing keys are then not reported.
    pub malformed: bool,
    pub name: Option<Word>,
    pub plural: Option<Word>,
    pub label: Option<Word>,
    pub description: Option<Word>,
    pub menu: Option<Word>,
    pub columns: Vec<Word>,
    pub type_name: Option<Word>,
    pub table: Option<Word>,
    pub path: Option<Word>,
    pub ability: Option<Word>,
    pub read_permission: Option<Word>,
    pub write_permission: Option<Word>,
    pub owner: Option<Word>,
    pub public: Option<Public>,
    pub read_rule: Option<Word>,
    pub write_rule: Option<Word>,
    pub under: Option<Under>,
    /// None for all five.
    pub operations: Option<Vec<Word>>,
    pub singleton: Option<Span>,
    pub soft_delete: Option<Span>,
    pub custom_fields: Option<Span>,
    pub attachments: Option<Span>,
    pub events: Option<Span>,
    /// Events that only code emits.
    pub extra_events: Vec<Word>,
    pub unique: Vec<Unique>,
    pub checks: Vec<Check>,
    pub frozen: Option<Word>,
    pub indexes: Vec<Vec<Word>>,
    pub search: Vec<Word>,
    pub title: Option<Word>,
    pub ordered: Vec<Word>,
    /// Columns, some with `-` before them.
    pub order: Vec<Word>,
    pub includes: Vec<Include>,
    pub actions: Vec<Action>,
    /// Each secret with its description.
    pub reveals: Vec<(Word, Word)>,
    pub deprecated: Vec<Deprecation>,
}

/// Fields that must be unique together.
pub struct Unique {
    pub fields: Vec<Word>,
    /// The condition of the records that count.
    pub rows: Option<Word>,
    pub ignore_case: Option<Span>,
}

/// A condition that each record must meet.
pub struct Check {
    pub that: Word,
    pub field: Option<Word>,
    pub message: Option<Word>,
}

/// A deprecated part of the resource.
pub struct Deprecation {
    pub of: Deprecated,
    pub name: Word,
    pub since: Word,
    pub sunset: Option<Word>,
    pub instead: Option<Word>,
}

/// `public(…)`: the fields that callers without a token may send, and their limit.
pub struct Public {
    pub create: Vec<Word>,
    pub limit: Rate,
}

pub struct Under {
    pub resource: Word,
    pub field: Word,
}

pub struct Include {
    pub name: Word,
    pub target: Target,
    pub fields: Vec<Word>,
}

pub enum Target {
    One { via: Word },
    Many { resource: Word, by: Word },
    Links { field: Word },
    CustomFieldValues,
    AllowedActions,
}

pub struct Action {
    pub name: Word,
    pub on: Word,
    pub method: Option<Word>,
    pub input: Option<Type>,
    pub output: Option<Type>,
    pub key: Option<Word>,
    /// Its response is a new record.
    pub creates: Option<Span>,
    pub event: Option<Word>,
    /// The field that is true once the action is done; after `not `, false.
    pub until: Option<Word>,
    /// The consequences that the panel shows before it runs the action.
    pub confirm: Option<Word>,
    pub description: Option<Word>,
    /// It runs without an open transaction.
    pub external: Option<Span>,
    /// A `get` that needs the write ability.
    pub needs_write: Option<Span>,
    /// The secrets in its response outside the record, each with its description.
    pub reveals: Vec<(Word, Word)>,
    /// When it may run, and what it sets.
    pub rule: Option<ActionRule>,
}

/// When an action may run, and what it sets.
pub struct ActionRule {
    /// The change of the state of the record, of a transition.
    pub change: Option<StateChange>,
    pub guard: Option<Word>,
    pub permission: Option<Word>,
    pub message: Option<Word>,
    /// The values of other fields.
    pub set: Vec<(Word, SetValue)>,
}

/// A change of the state of a record.
pub struct StateChange {
    /// The field of the state.
    pub field: Word,
    pub from: Vec<Word>,
    pub to: Word,
}

/// A value that an action sets.
pub enum SetValue {
    Null,
    Literal(Word),
    Now,
    Today,
    Caller,
    Expression(Word),
}

/// One entry of a record.
pub enum Member {
    Column(Box<Field>),
    Derived(Derived),
    Embedded(Embedded),
    Links(Links),
    Computed(Computed),
}

impl Member {
    pub fn name(&self) -> (&str, Span) {
        match self {
            Member::Column(field) => (&field.name, field.ident.span()),
            Member::Derived(derived) => (&derived.name.text, derived.name.span),
            Member::Embedded(embedded) => (&embedded.name.text, embedded.name.span),
            Member::Links(links) => (&links.name.text, links.name.span),
            Member::Computed(computed) => (&computed.name.text, computed.name.span),
        }
    }
}

/// A field of the struct: a column, or a parameter.
pub struct Field {
    pub ident: Ident,
    /// The name without `r#`.
    pub name: String,
    pub ty: Type,
    /// False for a type that no column has, which was reported.
    pub known_type: bool,
    /// The type is an `Option`.
    pub nullable: bool,
    /// None after a misuse that was reported: no further check applies to the field.
    pub kind: Option<Kind>,
    pub flags: Flags,
    pub default: Option<DefaultValue>,
    pub rules: Vec<SpannedRule>,
}

/// Display and access of a field, for columns and derived fields alike.
#[derive(Default)]
pub struct Flags {
    pub required: Option<Span>,
    /// Each access with its span; more than one is a misuse.
    pub access: Vec<(Access, Span)>,
    pub detail: Option<Span>,
    pub no_sort: Option<Span>,
    pub no_filter: Option<Span>,
    pub filter: Option<Vec<Word>>,
    /// The options that only the runtime reads.
    pub display: Vec<(FieldOption, Word)>,
    /// The records of another resource from which the database has its value.
    pub rollup: Option<Rollup>,
    /// A function that returns the JSON Schema of the values.
    pub schema: Option<Type>,
}

impl Flags {
    /// The span of an access.
    pub fn access(&self, wanted: Access) -> Option<Span> {
        self.access.iter().find(|(access, _)| *access == wanted).map(|(_, span)| *span)
    }

    /// The expression of a computed field.
    pub fn value(&self) -> Option<&Word> {
        self.display.iter().find(|(option, _)| *option == FieldOption::Value).map(|(_, text)| text)
    }
}

/// A value from the records of another resource that refer to this one.
pub struct Rollup {
    pub span: Span,
    pub function: Word,
    pub of: Word,
    pub by: Word,
    pub field: Option<Word>,
    /// The condition of the records that count.
    pub rows: Option<Word>,
}

pub struct Derived {
    pub name: Word,
    pub via: Word,
    pub field: Word,
    pub flags: Flags,
}

pub struct Embedded {
    pub name: Word,
    pub resource: Word,
    pub by: Word,
    pub flags: Flags,
}

/// Links to records of `resource` by the pairs of `through`.
pub struct Links {
    pub name: Word,
    pub resource: Word,
    pub through: Word,
    pub by: Word,
    pub to: Word,
    pub flags: Flags,
}

pub struct Computed {
    pub name: Word,
    pub from: Vec<Word>,
    pub nullable: Option<Span>,
}

/// A field type as it is written in an attribute.
pub type Kind = FieldType<Tokens>;

/// Names with their spans.
#[derive(Debug, Clone, PartialEq)]
pub struct Tokens;

impl Notation for Tokens {
    type Name = Word;
    type Names = Vec<Word>;
    type Codes = Vec<(i32, Word)>;

    fn text(name: &Word) -> &str {
        &name.text
    }

    fn texts(names: &Vec<Word>) -> Vec<&str> {
        names.iter().map(|name| name.text.as_str()).collect()
    }

    fn codes(codes: &Vec<(i32, Word)>) -> Vec<(i32, &str)> {
        codes.iter().map(|(number, label)| (*number, label.text.as_str())).collect()
    }
}

/// The value of a field that the client does not send on create.
pub enum DefaultValue {
    Literal(Word),
    Now(Span),
    Caller(Span),
    Hook(Span),
    Expression(Word),
}

impl DefaultValue {
    pub fn span(&self) -> Span {
        match self {
            DefaultValue::Literal(word) | DefaultValue::Expression(word) => word.span,
            DefaultValue::Now(span) | DefaultValue::Caller(span) | DefaultValue::Hook(span) => *span,
        }
    }
}

/// A rule with the span of its key.
pub struct SpannedRule {
    pub span: Span,
    pub rule: charter_model::Rule<Tokens>,
}
