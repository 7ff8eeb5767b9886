//! `cargo charter new`: writes the YAML of a new resource from a short notation, and in an empty folder a new
//! application.

use std::fs;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use charter_codegen::application;
use charter_codegen::scaffold::{FieldShorthand, file, singular};
use charter_codegen::{Sources, compile_sources};
use clap::Args;

use crate::{EXIT_DONE, EXIT_PROBLEMS, EXIT_USAGE, Folder, stdout};

/// Write the YAML of a new resource
///
/// A field is `name:type`, with `!` after the type if it is required and `=value` for a default: `name:string!`
/// `'price:decimal(2)'` `'group:ref(product_group)'` `'size:enum(small|large)=small'`. Without fields on the command
/// line, the command asks for them, one on each line. In an empty folder it writes a whole application around the
/// resource.
#[derive(Args)]
pub struct Arguments {
    /// The name of the resource, singular and in snake_case
    resource: String,
    fields: Vec<String>,
    #[command(flatten)]
    folder: Folder,
}

pub fn run(arguments: &Arguments) -> u8 {
    report(write(arguments))
}

/// The exit code of a result. Reports the problem of a failed one.
pub fn report(result: Result<(), (String, u8)>) -> u8 {
    result.err().map_or(EXIT_DONE, |(problem, code)| {
        eprintln!("{}", problem.trim_end());
        code
    })
}

fn write(arguments: &Arguments) -> Result<(), (String, u8)> {
    let (resource, folder) = (&arguments.resource, &arguments.folder.dir);
    let path = folder.join(format!("{resource}.yaml"));
    if path.exists() {
        return Err((format!("{} already exists", path.display()), EXIT_USAGE));
    }
    let fields = match arguments.fields.is_empty() {
        true => prompt_fields().map_err(|problem| (format!("the fields cannot be read: {problem}"), EXIT_PROBLEMS))?,
        false => arguments.fields.clone(),
    };
    if fields.is_empty() {
        return Err(("a resource needs fields, such as `name:string!`".to_owned(), EXIT_USAGE));
    }
    let fields: Vec<FieldShorthand> = fields
        .iter()
        .map(|field| FieldShorthand::read(field))
        .collect::<Result<_, _>>()
        .map_err(|problem| (problem, EXIT_USAGE))?;
    let text = file(resource, &fields, schema(folder).as_deref());
    let begins = folder == Path::new("resources") && is_empty(Path::new("."));
    let path = add(folder, resource, &text)?;
    if begins {
        begin().map_err(|problem| (format!("the application cannot be written: {problem}"), EXIT_PROBLEMS))?;
    }
    stdout::line(format_args!("wrote {}", path.display()));
    if let Some(singular) = singular(resource) {
        eprintln!("`{resource}` looks like a plural; use the singular: `{singular}`?");
    }
    stdout::line(format_args!("next: `cargo charter migration new add_{resource}`"));
    Ok(())
}

/// Adds the file of a resource. It is checked with the others before anything is written, because its references must
/// exist.
pub fn add(folder: &Path, resource: &str, text: &str) -> Result<PathBuf, (String, u8)> {
    let path = folder.join(format!("{resource}.yaml"));
    if path.exists() {
        return Err((format!("{} already exists", path.display()), EXIT_USAGE));
    }
    let sources = if folder.is_dir() { Sources::load(folder) } else { Sources::default() };
    let sources = sources.with(&format!("{}/{resource}.yaml", folder.display()), text);
    compile_sources(sources)
        .map_err(|report| (format!("{}{}\nnothing was written", report.render(), report.summary()), EXIT_PROBLEMS))?;
    let refused = |problem: std::io::Error| (format!("{} cannot be written: {problem}", path.display()), EXIT_PROBLEMS);
    fs::create_dir_all(folder).map_err(refused)?;
    fs::write(&path, text).map_err(refused)?;
    Ok(path)
}

/// True if a folder has no visible files. A repository has hidden ones.
fn is_empty(folder: &Path) -> bool {
    let hidden = |entry: fs::DirEntry| entry.file_name().to_string_lossy().starts_with('.');
    fs::read_dir(folder).is_ok_and(|entries| entries.flatten().all(hidden))
}

/// Writes the files of an application into the current folder, with the versions of all packages that Charter is tested
/// with.
fn begin() -> std::io::Result<()> {
    let here = std::env::current_dir()?;
    let folder = here.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    for (path, text) in application::files(&application::package_name(&folder)) {
        let path = Path::new(path);
        if let Some(above) = path.parent() {
            fs::create_dir_all(above)?;
        }
        // A repository may have its own `.gitignore`.
        if !path.exists() {
            fs::write(path, text)?;
            stdout::line(format_args!("wrote {}", path.display()));
        }
    }
    fs::create_dir_all("migrations")?;
    let versions = application::checkout().join("Cargo.lock");
    if versions.is_file() {
        fs::copy(versions, "Cargo.lock")?;
    }
    Ok(())
}

/// Reads fields from standard input, one on each line, up to an empty line.
fn prompt_fields() -> std::io::Result<Vec<String>> {
    let mut fields = Vec::new();
    let mut lines = std::io::stdin().lock().lines();
    loop {
        eprint!("field, such as `name:string!` (empty to end): ");
        std::io::stderr().flush()?;
        match lines.next().transpose()?.map(|line| line.trim().to_owned()) {
            Some(line) if !line.is_empty() => fields.push(line),
            _ => return Ok(fields),
        }
    }
}

/// The path of the JSON Schema for editors, in a `docs` folder next to the folder of the resources or above it.
fn schema(folder: &Path) -> Option<String> {
    let mut up = "..".to_owned();
    for above in folder.canonicalize().ok()?.ancestors().skip(1).take(4) {
        if above.join("docs/resource.schema.json").is_file() {
            return Some(format!("{up}/docs/resource.schema.json"));
        }
        up.push_str("/..");
    }
    None
}
