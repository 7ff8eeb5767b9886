//! Paths of the API and the panel, each of which must be unique.

use charter_model::reserved::{
    ATTACHMENTS_PATH, BULK_PATH, COLLECTION_PAGES, RECORD_PAGES, RESTORE_PATH, SUMMARY_PATH, TOP_PATHS,
};
use charter_model::{ActionOn, Operation};

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Resource, Schema};
use crate::platform;
use crate::source::Span;

/// A path after `/api/v1`, which the panel has too.
#[derive(Debug)]
pub struct Path {
    /// Every parameter is `{}`.
    pub path: String,
    what: String,
    span: Span,
    is_action: bool,
}

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    // The check of names refuses the resource.
    if platform::is_served(resource.name.as_str()) {
        return;
    }
    let own = of(schema, resource);
    let Some(base) = own.first() else { return };
    for taken in platforms() {
        if taken.path == base.path {
            report(base, &taken, problems);
        }
    }
    for other in schema.declared().take_while(|other| !std::ptr::eq(*other, resource)) {
        let others = of(schema, other);
        // All paths below clash too, which is the same mistake; equal plurals have their own diagnostic.
        if let Some(taken) = others.first().filter(|taken| taken.path == base.path) {
            if resource.plural.value != other.plural.value {
                report(base, taken, problems);
            }
            continue;
        }
        // The child is reported at the path of its parent's action or page, in any order of the files.
        let is_parent = other.under.as_ref().is_some_and(|under| under.resource.value == resource.name.value);
        let (new, there) = if is_parent { (&others, &own) } else { (&own, &others) };
        for (index, path) in new.iter().enumerate() {
            // All paths below the collection clash too.
            if report_clash(path, there, problems) && index == 0 {
                break;
            }
        }
    }
    for (index, path) in own.iter().enumerate() {
        // Two actions of one name would be one YAML key, but a transition can have that of an action.
        report_clash(path, &own[..index], problems);
    }
}

/// Reports a path that is taken, and returns true if it is.
fn report_clash(path: &Path, taken: &[Path], problems: &mut Problems) -> bool {
    let taken = taken.iter().find(|taken| taken.path == path.path);
    if let Some(taken) = taken {
        report(path, taken, problems);
    }
    taken.is_some()
}

fn report(path: &Path, taken: &Path, problems: &mut Problems) {
    let code = if path.is_action { Code::ActionName } else { Code::NameTaken };
    let message = format!("{} has the path `/{}`, and so has {}", path.what, path.path, taken.what);
    let problem = Diagnostic::new(code, path.span, message, "already used");
    let problem = match path.is_action {
        true => problem.help("choose another name for the action"),
        false => problem.help("choose another: `path: …`"),
    };
    problems.push(match taken.span == Span::NOWHERE || taken.span == path.span {
        true => problem,
        false => problem.related(taken.span, "used here"),
    });
}

/// Every path of the declared resources.
pub fn all(schema: &Schema) -> Vec<Path> {
    schema.declared().flat_map(|resource| of(schema, resource)).collect()
}

/// The reserved first segments.
fn platforms() -> impl Iterator<Item = Path> {
    let server = TOP_PATHS.iter().map(|name| (*name, "a page of the server"));
    let served = platform::PATHS.iter().map(|name| (*name, "a platform resource"));
    server.chain(served).map(|(path, what)| Path {
        path: path.to_owned(),
        what: what.to_owned(),
        span: Span::NOWHERE,
        is_action: false,
    })
}

/// The paths of a resource, its collection first; none if the parent is unknown, which is reported elsewhere.
fn of(schema: &Schema, resource: &Resource) -> Vec<Path> {
    let parent = match &resource.under {
        None => String::new(),
        Some(under) => match schema.find(under.resource.as_str()) {
            Some(parent) => format!("{}/{{}}/", parent.path.value),
            None => return Vec::new(),
        },
    };
    let name = resource.name.as_str();
    let base = format!("{parent}{}", resource.path.value);
    let record = if resource.singleton { base.clone() } else { format!("{base}/{{}}") };
    let plain = |path: String, what: &str| Path {
        path,
        what: format!("{what} `{name}`"),
        span: resource.path.span,
        is_action: false,
    };
    let mut paths = vec![plain(base.clone(), "the collection of")];
    if !resource.singleton {
        paths.push(plain(record.clone(), "a record of"));
        if resource.serves_any(&[Operation::Create, Operation::Update, Operation::Delete]) {
            paths.push(plain(format!("{base}/{BULK_PATH}"), "the bulk operation of"));
        }
        if resource.serves_any(&[Operation::List]) {
            paths.push(plain(format!("{base}/{SUMMARY_PATH}"), "the summary of"));
        }
        if resource.soft_delete && resource.serves_any(&[Operation::Delete]) {
            paths.push(plain(format!("{record}/{RESTORE_PATH}"), "the restore operation of"));
        }
        for page in COLLECTION_PAGES {
            paths.push(plain(format!("{base}/{page}"), "a panel page of"));
        }
    }
    if resource.attachments {
        let attachments = format!("{record}/{ATTACHMENTS_PATH}");
        paths.push(plain(format!("{attachments}/{SUMMARY_PATH}"), "the summary of the attachments of"));
        paths.push(plain(attachments, "the attachment list of"));
    }
    for page in RECORD_PAGES {
        paths.push(plain(format!("{record}/{page}"), "a panel page of a record of"));
    }
    for action in &resource.actions {
        let stem = if action.on == ActionOn::Record { &record } else { &base };
        paths.push(Path {
            path: format!("{stem}/{}", action.name.value),
            what: match action.rule.as_ref().and_then(|rule| rule.change.as_ref()) {
                Some(_) => format!("the transition `{}` of `{name}`", action.name.value),
                None => format!("the action `{}` of `{name}`", action.name.value),
            },
            span: action.name.span,
            is_action: true,
        });
    }
    paths
}
