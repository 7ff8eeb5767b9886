//! `cargo charter from-db`: adds the YAML of an existing table, which the application's server reads.

use std::path::PathBuf;

use clap::Args;

use crate::command::{cargo, new};
use crate::{EXIT_PROBLEMS, Folder, stdout};

/// Write the YAML of a resource from an existing table
///
/// The application's server reads the table, in the database of its settings.
#[derive(Args)]
pub struct Arguments {
    /// The table
    table: String,
    /// The name of the resource (by default the singular of the table's name)
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    folder: Folder,
    /// The package of the application, if the workspace has several
    #[arg(long, short)]
    package: Option<String>,
}

pub fn run(arguments: &Arguments) -> u8 {
    new::report(write(arguments))
}

fn write(arguments: &Arguments) -> Result<(), (String, u8)> {
    let mut server = cargo("run", arguments.package.as_deref());
    server.args(["--", "from-db", &arguments.table]);
    if let Some(name) = &arguments.name {
        server.args(["--name", name]);
    }
    // Other output of the server goes to standard error.
    let output = server.stderr(std::process::Stdio::inherit()).output();
    let output = output.map_err(|problem| (format!("cargo cannot be run: {problem}"), EXIT_PROBLEMS))?;
    if !output.status.success() {
        return Err((format!("the application prints nothing for `{}`", arguments.table), EXIT_PROBLEMS));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let Some(name) = text.lines().find_map(|line| line.strip_prefix("resource: ")).map(str::to_owned) else {
        // A table of pairs is a field in the file of another resource, which the text names.
        stdout::line(format_args!("{}", text.trim_end()));
        return Ok(());
    };
    let path: PathBuf = new::add(&arguments.folder.dir, &name, &text)?;
    stdout::line(format_args!("wrote {}", path.display()));
    Ok(())
}
