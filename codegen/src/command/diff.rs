//! `cargo charter diff`: compares the resources with a git revision.

use charter_codegen::Sources;
use charter_codegen::date;
use charter_codegen::schema_diff::{Diff, Effect};
use charter_codegen::snapshot::Snapshot;
use clap::Args;

use crate::command::{present, taken};
use crate::{EXIT_DONE, EXIT_PROBLEMS, EXIT_USAGE, Folder, Format, print_json, stdout};

/// Report what changed, for clients and for data
///
/// Exit codes: 0 for no change or safe changes only; 1 if a change breaks clients or endangers data; 2 if nothing could
/// be compared.
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
        Format::Text => stdout::text(diff.render()),
        Format::Json => print_json(&diff.to_json()),
    }
    let grave = diff.is_dangerous() || diff.effect() == Some(Effect::Breaking);
    if grave { EXIT_PROBLEMS } else { EXIT_DONE }
}

fn before(arguments: &Arguments) -> Result<Snapshot, u8> {
    let report = |problem: String| {
        eprintln!("{problem}");
        EXIT_USAGE
    };
    taken(Sources::at_revision(&arguments.folder.dir, &arguments.revision).map_err(report)?)
}
