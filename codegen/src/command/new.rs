//! `cargo charter new`: writes the YAML of a new resource from a short notation, and in an empty folder a new
//! application.

use std::fs;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use charter_codegen::application::{self, CrateSource};
use charter_codegen::reference;
use charter_codegen::scaffold::{FieldShorthand, file, infer, singular};
use charter_codegen::{Sources, compile_sources};
use clap::Args;

use crate::{EXIT_DONE, EXIT_PROBLEMS, EXIT_USAGE, Folder, stdout};

/// The JSON Schema of the YAML, for editors.
const SCHEMA: &str = "docs/resource.schema.json";

/// Write the YAML of a new resource
///
/// A field is `name:type`, with `!` after the type if it is required and `=value` for a default: `name:string!`
/// `'price:decimal(2)'` `'group:ref(product_group)'` `'size:enum(small|large)=small'`. `'total:=quantity*unit_price'`
/// is a computed field, whose type follows from the expression. Without fields on the command line, the command asks for
/// them, one on each line. In an empty folder it writes a whole application around the resource.
#[derive(Args)]
pub struct Arguments {
    /// The name of the resource, singular and in snake_case
    resource: String,
    fields: Vec<String>,
    #[command(flatten)]
    folder: Folder,
    #[command(flatten)]
    source: Source,
}

/// Where a new application finds Charter's crates.
#[derive(Args)]
struct Source {
    /// A new application takes Charter's crates from this Git repository
    #[arg(long, value_name = "URL", conflicts_with_all = ["version", "path"])]
    git: Option<String>,
    /// A commit or tag of the Git repository
    #[arg(long, requires = "git")]
    rev: Option<String>,
    /// A new application takes this version of Charter's crates from the registry
    #[arg(long, conflicts_with = "path")]
    version: Option<String>,
    /// A new application takes Charter's crates from this checkout; the default is the checkout that the command was built in
    #[arg(long)]
    path: Option<PathBuf>,
}

impl Source {
    fn has_option(&self) -> bool {
        self.git.is_some() || self.version.is_some() || self.path.is_some()
    }

    /// # Errors
    /// A sentence about a folder that is not a checkout.
    fn read(&self) -> Result<CrateSource, String> {
        if let Some(url) = &self.git {
            return Ok(CrateSource::Git { url: url.clone(), revision: self.rev.clone() });
        }
        if let Some(version) = &self.version {
            return Ok(CrateSource::Version(version.clone()));
        }
        if let Some(path) = &self.path {
            let checkout = path.canonicalize().ok().filter(|folder| application::is_checkout(folder));
            let problem =
                || format!("`{}` is not a checkout of Charter: it has no `runtime/Cargo.toml`", path.display());
            return checkout.map(CrateSource::Path).ok_or_else(problem);
        }
        let source = CrateSource::of_this_command();
        match &source {
            // Cargo removes such a folder with its cache.
            CrateSource::Path(path) if is_in_cargo_cache(path) => Err("this command was built from a Git repository; \
                name it: `cargo charter new … --git URL`"
                .to_owned()),
            _ => Ok(source),
        }
    }
}

/// True for a folder in which cargo keeps the checkout of a Git dependency.
fn is_in_cargo_cache(path: &Path) -> bool {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str()).collect();
    parts.windows(2).any(|pair| pair == ["git", "checkouts"])
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
    let mut fields: Vec<FieldShorthand> = fields
        .iter()
        .map(|field| FieldShorthand::read(field))
        .collect::<Result<_, _>>()
        .map_err(|problem| (problem, EXIT_USAGE))?;
    infer(resource, &mut fields).map_err(|problem| (problem, EXIT_USAGE))?;
    let begins = folder == Path::new("resources") && is_empty(Path::new("."));
    if !begins && arguments.source.has_option() {
        let problem = "`--git`, `--version` and `--path` are for a new application, and this folder is not empty; \
                       the application's Cargo.toml says where Charter's crates are";
        return Err((problem.to_owned(), EXIT_USAGE));
    }
    let source = begins.then(|| arguments.source.read().map_err(|problem| (problem, EXIT_USAGE))).transpose()?;
    let schema = if begins { Some(format!("../{SCHEMA}")) } else { schema(folder) };
    let text = file(resource, &fields, schema.as_deref());
    let path = add(folder, resource, &text)?;
    if let Some(source) = source {
        if matches!(source, CrateSource::Path(_)) {
            eprintln!(
                "Cargo.toml names a checkout on this machine; for an image or continuous integration elsewhere, name a version \
                 or a Git repository (`--version`, `--git`)"
            );
        }
        begin(resource, &source)
            .map_err(|problem| (format!("the application cannot be written: {problem}"), EXIT_PROBLEMS))?;
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

/// Writes the files of an application into the current folder. If Charter's crates are in a checkout, the packages have the
/// versions that the checkout is tested with.
fn begin(resource: &str, source: &CrateSource) -> std::io::Result<()> {
    let here = std::env::current_dir()?.canonicalize()?;
    let folder = here.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name = application::package_name(&folder);
    let files = application::files(&name, &here, resource, source);
    for (path, text) in files.into_iter().chain([(SCHEMA.to_owned(), reference::schema())]) {
        let path = Path::new(&path);
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
    if let CrateSource::Path(checkout) = source
        && checkout.join("Cargo.lock").is_file()
    {
        fs::copy(checkout.join("Cargo.lock"), "Cargo.lock")?;
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
        if above.join(SCHEMA).is_file() {
            return Some(format!("{up}/{SCHEMA}"));
        }
        up.push_str("/..");
    }
    None
}
