//! `cargo charter new`: writes the YAML of a new resource from its fields in short.

use std::fs;
use std::io::{BufRead, Write};
use std::path::Path;

use charter_codegen::scaffold::{Short, file};
use charter_codegen::{Sources, compile_sources};
use clap::Args;

use crate::{DONE, Folder, PROBLEMS, USAGE};

/// Write the YAML of a new resource
///
/// A field is `name:type`, with `!` behind it where it is required and `=value` for a default:
/// `name:string!` `'price:decimal(2)'` `'group:ref(product_group)'` `'size:enum(small|large)=small'`. Without fields on the
/// line they are asked for, one a line.
#[derive(Args)]
pub struct Arguments {
    /// Its name, singular and in snake_case
    resource: String,
    fields: Vec<String>,
    #[command(flatten)]
    folder: Folder,
}

pub fn run(arguments: &Arguments) -> u8 {
    write(arguments).unwrap_or_else(|(problem, code)| {
        eprintln!("{}", problem.trim_end());
        code
    })
}

fn write(arguments: &Arguments) -> Result<u8, (String, u8)> {
    let (resource, folder) = (&arguments.resource, &arguments.folder.dir);
    let path = folder.join(format!("{resource}.yaml"));
    if path.exists() {
        return Err((format!("{} is there already", path.display()), USAGE));
    }
    let fields = match arguments.fields.is_empty() {
        true => asked().map_err(|problem| (format!("the fields cannot be read: {problem}"), PROBLEMS))?,
        false => arguments.fields.clone(),
    };
    if fields.is_empty() {
        return Err(("a resource has fields: for example `name:string!`".to_owned(), USAGE));
    }
    let fields: Vec<Short> =
        fields.iter().map(|field| Short::read(field)).collect::<Result<_, _>>().map_err(|problem| (problem, USAGE))?;
    let text = file(resource, &fields, schema(folder).as_deref());
    // With all the others, before anything is written: what it refers to must be there.
    let sources = if folder.is_dir() { Sources::load(folder) } else { Sources::default() };
    let sources = sources.with(&format!("{}/{resource}.yaml", folder.display()), &text);
    compile_sources(sources)
        .map_err(|report| (format!("{}{}\nnothing was written", report.render(), report.summary()), PROBLEMS))?;
    let refused = |problem: std::io::Error| (format!("{} cannot be written: {problem}", path.display()), PROBLEMS);
    fs::create_dir_all(folder).map_err(refused)?;
    fs::write(&path, text).map_err(refused)?;
    println!("wrote {}", path.display());
    println!("next: `cargo charter migration new add_{resource}`");
    Ok(DONE)
}

/// Fields from standard input, one a line, up to an empty one.
fn asked() -> std::io::Result<Vec<String>> {
    let mut fields = Vec::new();
    let mut lines = std::io::stdin().lock().lines();
    loop {
        eprint!("field, as `name:string!` (empty to end): ");
        std::io::stderr().flush()?;
        match lines.next().transpose()?.map(|line| line.trim().to_owned()) {
            Some(line) if !line.is_empty() => fields.push(line),
            _ => return Ok(fields),
        }
    }
}

/// The schema for editors, in the folder of the documents beside that of the resources or above.
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
