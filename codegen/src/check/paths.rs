//! Paths: every one that the API and the panel have, written out, so that no two things stand at the same.

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Resource, Schema};
use crate::platform;
use crate::source::Span;
use crate::words::{ActionOn, Operation};

/// What stands behind a collection for many writes, and behind a record that was deleted or has files. `tests/path_conflicts.rs`
/// holds these to the paths that are served.
const BULK: &str = "bulk";
const RESTORE: &str = "restore";
const ATTACHMENTS: &str = "attachments";

/// Pages of the panel behind a collection, and behind a record, which the same tests compare with the panel's.
pub const COLLECTION_PAGES: &[&str] = &["new", "views"];
pub const RECORD_PAGES: &[&str] = &["delete", "edit", "history"];

/// A path behind `/api/v1`, or of the panel, which has the same without it.
#[derive(Debug)]
pub struct Path {
    /// Every parameter is `{}`.
    pub path: String,
    what: String,
    span: Span,
    is_action: bool,
}

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    // Its name is refused, and with it what follows from that.
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
        // Then all behind them meet as well, which is the same mistake; and so do two of one plural.
        if let Some(taken) = others.first().filter(|taken| taken.path == base.path) {
            if resource.plural.value != other.plural.value {
                report(base, taken, problems);
            }
            continue;
        }
        // What stands under a resource comes to where that has its actions and pages, whichever file is read first.
        let is_parent = other.under.as_ref().is_some_and(|under| under.resource.value == resource.name.value);
        let (coming, there) = if is_parent { (&others, &own) } else { (&own, &others) };
        for path in coming {
            meeting(path, there, problems);
        }
    }
    for (index, path) in own.iter().enumerate() {
        // Two actions of one name are one key of YAML.
        meeting(path, &own[..index], problems);
    }
}

/// Reports a path that is taken already.
fn meeting(path: &Path, taken: &[Path], problems: &mut Problems) {
    if let Some(taken) = taken.iter().find(|taken| taken.path == path.path) {
        report(path, taken, problems);
    }
}

fn report(path: &Path, taken: &Path, problems: &mut Problems) {
    let code = if path.is_action { Code::ActionName } else { Code::NameTaken };
    let message = format!("{} would be `/{}`, which is {}", path.what, path.path, taken.what);
    let problem = Diagnostic::new(code, path.span, message, "not free");
    let problem = match path.is_action {
        true => problem.help("choose another name for the action"),
        false => problem.help("say another: `path: …`"),
    };
    problems.push(match taken.span == Span::NOWHERE || taken.span == path.span {
        true => problem,
        false => problem.related(taken.span, "there already"),
    });
}

/// Every path of the declared resources.
pub fn all(schema: &Schema) -> Vec<Path> {
    schema.declared().flat_map(|resource| of(schema, resource)).collect()
}

/// The first segments that are not free.
fn platforms() -> impl Iterator<Item = Path> {
    let server = platform::PAGES.iter().map(|name| (*name, "the server's own"));
    let served = platform::PATHS.iter().map(|name| (*name, "the platform's"));
    server.chain(served).map(|(path, what)| Path {
        path: path.to_owned(),
        what: what.to_owned(),
        span: Span::NOWHERE,
        is_action: false,
    })
}

/// The paths of a resource, that of the collection first; none where its parent is not known, which is told elsewhere.
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
    let mut paths = vec![plain(base.clone(), "the path of")];
    if !resource.singleton {
        paths.push(plain(record.clone(), "a record of"));
        if resource.serves_any(&[Operation::Create, Operation::Update, Operation::Delete]) {
            paths.push(plain(format!("{base}/{BULK}"), "the path that writes many of"));
        }
        if resource.soft_delete && resource.serves_any(&[Operation::Delete]) {
            paths.push(plain(format!("{record}/{RESTORE}"), "the path that restores a deleted"));
        }
        for page in COLLECTION_PAGES {
            paths.push(plain(format!("{base}/{page}"), "a page of the panel for"));
        }
    }
    if resource.attachments {
        paths.push(plain(format!("{record}/{ATTACHMENTS}"), "the list of files of"));
    }
    for page in RECORD_PAGES {
        paths.push(plain(format!("{record}/{page}"), "a page of the panel for a record of"));
    }
    for action in &resource.actions {
        let stem = if action.on == ActionOn::Record { &record } else { &base };
        paths.push(Path {
            path: format!("{stem}/{}", action.name.value),
            what: format!("the action `{}` of `{name}`", action.name.value),
            span: action.name.span,
            is_action: true,
        });
    }
    paths
}
