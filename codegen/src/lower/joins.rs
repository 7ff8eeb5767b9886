//! The resources of pairs, which fields with `through` make: each is written as a file would declare it, and then
//! completed and checked like every other.

use std::collections::BTreeSet;

use charter_model::{FieldType, naming};

use super::links::{self, Links};
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Field, Include, IncludeTarget, Kind, Name};
use crate::platform;
use crate::source::{Sources, Span, Spanned};
use crate::syntax::Syntax;
use crate::syntax::field::{FieldSyntax, SourceSyntax};
use crate::syntax::resource::{self, ResourceSyntax};
use crate::syntax::tree::{Entry, Node, Value};

/// The field of a pair that refers to the record with the links: `ticket_id`.
pub fn by(resource: &str) -> String {
    format!("{resource}_id")
}

/// The field of a pair that refers to the other record: `tag_id` for the field `tags`, and `person_id` for the field `people`
/// of a resource with this plural.
pub fn to(field: &str, resource: &str, links: &Links) -> String {
    by(singular(field, resource, links).as_deref().unwrap_or(field))
}

/// The field by which clients read and write the links: `tag_ids`.
pub fn ids(field: &Name, resource: &str, links: &Links) -> Name {
    Spanned::new(format!("{}s", to(field.as_str(), resource, links)), field.span)
}

fn singular(field: &str, resource: &str, links: &Links) -> Option<String> {
    match links.plural(resource) == Some(field) {
        true => Some(resource.to_owned()),
        false => naming::singular(field),
    }
}

/// A field with `through`.
struct Declared<'a> {
    /// The field of a pair that refers to the other record.
    to: String,
    holder: &'a ResourceSyntax,
    name: Name,
    field: &'a FieldSyntax,
    resource: &'a Name,
    through: &'a Name,
}

/// The resources of all pairs. One that cannot be made is reported.
pub fn resources(syntax: &Syntax, links: &Links, sources: &Sources, problems: &mut Problems) -> Vec<ResourceSyntax> {
    let mut made = Vec::new();
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for declared in declared(syntax, links, sources) {
        let through = declared.through;
        if let Some(problem) = refusal(&declared, (syntax, links), sources, &names) {
            problems.push(problem);
        } else {
            made.push(pairs(&declared, syntax, sources, problems));
        }
        names.insert(through.as_str());
    }
    made
}

fn declared<'a>(syntax: &'a Syntax, links: &'a Links, sources: &'a Sources) -> impl Iterator<Item = Declared<'a>> {
    syntax.resources.iter().flat_map(move |holder| {
        let name = links::name(holder, sources);
        holder.fields.iter().chain(&holder.detail).filter_map(move |field| match &field.source {
            SourceSyntax::Links { resource, through } => {
                let to = to(field.name.as_str(), resource.as_str(), links);
                Some(Declared { to, holder, name: name.clone(), field, resource, through })
            }
            _ => None,
        })
    })
}

fn refusal(
    declared: &Declared<'_>,
    (syntax, links): (&Syntax, &Links),
    sources: &Sources,
    made: &BTreeSet<&str>,
) -> Option<Diagnostic> {
    let Declared { name, field, resource, through, to, .. } = declared;
    let join = through.as_str();
    let problem =
        |message: String, label: &str| Diagnostic::new(Code::JoinTable, through.span, message, label.to_owned());
    if made.contains(join) {
        let help = "a pair belongs to one field: choose another name, or remove one of the fields";
        return Some(problem(format!("`{join}` has the pairs of another field"), "again").help(help));
    }
    let own = syntax.resources.iter().find(|written| links::name(written, sources).value == join);
    if let Some(own) = own {
        let at = own.resource.as_ref().map_or(own.span, |name| name.span);
        let help = "`through` makes the resource and its table of pairs: remove the file, or choose another name";
        let problem = problem(format!("`{join}` is declared by a file of its own"), "declared elsewhere");
        return Some(problem.related(at, "declared here").help(help));
    }
    if platform::is_served(join) {
        return Some(
            problem(format!("`{join}` is a resource of the platform"), "reserved").help("choose another name"),
        );
    }
    let written = field.name.as_str();
    let problem = |message: String, label: &str| Diagnostic::new(Code::LinkName, field.name.span, message, label);
    if singular(written, resource.as_str(), links).is_none() {
        let other = resource.as_str();
        let plural = links.plural(other).map_or_else(|| naming::plural(other), str::to_owned);
        let help = format!("for example `{plural}`: clients then send `{}s`", by(other));
        let message = format!("`{written}` is not a regular plural, and clients send the ids under its singular");
        return Some(problem(message, "no singular").help(help));
    }
    (*to == by(name.as_str())).then(|| {
        let message = format!("both ends of `{join}` would be `{to}`");
        problem(message, "the same as the resource").help("name the field by what the other records are: `followers`")
    })
}

/// The resource of the pairs, as a file would declare it.
fn pairs(declared: &Declared<'_>, syntax: &Syntax, sources: &Sources, problems: &mut Problems) -> ResourceSyntax {
    let Declared { holder, name, resource, through, to, .. } = declared;
    let by = by(name.as_str());
    let tree = Tree { span: through.span };
    let reference = |target: &str| vec![("type", tree.text(format!("ref({target})"))), ("required", tree.text("true"))];
    let mut own = reference(name.as_str());
    own.push(("access", tree.text("immutable")));
    if let Some(former) = &holder.renamed_from {
        own.push(("renamed_from", tree.text(self::by(former.as_str()))));
    }
    let mut other = reference(resource.as_str());
    other.push(("access", tree.text("immutable")));
    // A soft-deleted record keeps its links for its restore; they are hidden with it.
    if !is_soft_deleted(resource.as_str(), syntax, sources) {
        other.push(("on_delete", tree.text("cascade")));
    }
    let both = || tree.list(vec![tree.text(by.as_str()), tree.text(to.as_str())]);
    let node = tree.map(vec![
        ("resource", tree.text(through.as_str())),
        ("operations", tree.list(Vec::new())),
        ("fields", tree.map(vec![(by.as_str(), tree.map(own)), (to.as_str(), tree.map(other))])),
        ("unique", tree.list(vec![both()])),
        ("indexes", tree.list(vec![tree.list(vec![tree.text(to.as_str())])])),
    ]);
    let mut made = resource::read(holder.file, &node, problems);
    // Problems of a type point at its words, which are nowhere in the file.
    for (field, at) in made.fields.iter_mut().zip([name.span, resource.span]) {
        if let SourceSyntax::Type(found) = &mut field.source {
            found.place(at);
        }
    }
    made.is_join = true;
    made
}

fn is_soft_deleted(resource: &str, syntax: &Syntax, sources: &Sources) -> bool {
    let declared = syntax.resources.iter().find(|written| links::name(written, sources).value == resource);
    declared.is_some_and(|written| written.delete.is_some())
}

/// The includes of the linked records, one for each field with `through`.
pub fn includes(fields: &[Field]) -> Vec<Include> {
    let include = |field: &Field| match &field.kind {
        Kind::Known(FieldType::Links { resource, .. }) => {
            let name = Spanned::new(naming::lower_camel(&field.declared), field.name.span);
            let target = IncludeTarget::Links { resource: resource.clone(), field: field.name.value.clone() };
            Some(Include { name, target, fields: Vec::new() })
        }
        _ => None,
    };
    fields.iter().filter_map(include).collect()
}

/// Makes nodes that all have the place of `through`.
struct Tree {
    span: Span,
}

impl Tree {
    fn node(&self, value: Value) -> Node {
        Node { span: self.span, value }
    }

    fn text(&self, text: impl Into<String>) -> Node {
        self.node(Value::Scalar { text: text.into(), plain: true })
    }

    fn list(&self, items: Vec<Node>) -> Node {
        self.node(Value::List(items))
    }

    fn map(&self, entries: Vec<(&str, Node)>) -> Node {
        let entry = |(key, value): (&str, Node)| Entry { key: Spanned::new(key.to_owned(), self.span), value };
        self.node(Value::Map(entries.into_iter().map(entry).collect()))
    }
}
