//! `cargo charter diff`: what changed since a revision, and what it means.

use charter_codegen::Sources;
use charter_codegen::date;
use charter_codegen::diff::{Diff, Effect};
use charter_codegen::snapshot::Snapshot;
use clap::Args;

use crate::command::{present, taken};
use crate::{DONE, Folder, Format, PROBLEMS, USAGE, print_json, say};

/// Tell what changed, for clients and for data
///
/// Exit codes: 0 nothing, or nothing but what is safe; 1 something breaks clients or endangers data; 2 nothing could be
/// compared.
#[derive(Args)]
pub struct Arguments {
    /// The git revision to compare with
    #[arg(default_value = "HEAD")]
    revision: String,
    #[command(flatten)]
    folder: Folder,
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub fn run(arguments: &Arguments) -> u8 {
    let compared =
        present(&arguments.folder.dir).and_then(|now| Ok(Diff::between(&before(arguments)?, &now, &date::today())));
    let diff = match compared {
        Ok(diff) => diff,
        Err(code) => return code,
    };
    match arguments.format {
        Format::Text => say::text(diff.render()),
        Format::Json => print_json(&diff.to_json()),
    }
    let grave = diff.is_dangerous() || diff.effect() == Some(Effect::Breaking);
    if grave { PROBLEMS } else { DONE }
}

fn before(arguments: &Arguments) -> Result<Snapshot, u8> {
    let told = |problem: String| {
        eprintln!("{problem}");
        USAGE
    };
    taken(Sources::at_revision(&arguments.folder.dir, &arguments.revision).map_err(told)?)
}
