//! Files of a folder of resources, and places in them.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The suffix of seed files, which are next to the resources.
pub const SEED_SUFFIX: &str = ".seed.yaml";

/// The suffix of files with texts in another language: `de.language.yaml`.
pub const LANGUAGE_SUFFIX: &str = ".language.yaml";

/// The index of a loaded file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileId(usize);

/// A range of bytes in a loaded file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    pub file: FileId,
    pub start: usize,
    pub end: usize,
}

impl Span {
    /// The place of platform resources, which no file declares. Nothing is reported there.
    pub const NOWHERE: Span = Span { file: FileId(usize::MAX), start: 0, end: 0 };

    /// The range of bytes.
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

/// A value with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Spanned<T> {
    pub value: T,
    pub span: Span,
}

impl<T> Spanned<T> {
    pub fn new(value: T, span: Span) -> Spanned<T> {
        Spanned { value, span }
    }
}

impl Spanned<String> {
    pub fn as_str(&self) -> &str {
        &self.value
    }
}

/// A file with its text.
#[derive(Debug)]
pub struct SourceFile {
    /// The path in reports and generated code: `resources/product.yaml`.
    pub path: String,
    pub text: String,
    /// The reason why its text could not be read.
    pub unreadable: Option<String>,
    line_starts: Vec<usize>,
}

impl SourceFile {
    fn new(path: String, text: String, unreadable: Option<String>) -> SourceFile {
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        SourceFile { path, text, unreadable, line_starts }
    }

    /// The name of the file without its folder: `product.yaml`.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// The name without its extension: `product`.
    pub fn stem(&self) -> &str {
        let name = self.name();
        name.split_once('.').map_or(name, |(stem, _)| stem)
    }

    /// True if the file holds seed rows.
    pub fn is_seed(&self) -> bool {
        self.path.ends_with(SEED_SUFFIX)
    }

    /// True if the file holds texts in another language.
    pub fn is_language(&self) -> bool {
        self.path.ends_with(LANGUAGE_SUFFIX)
    }

    /// Line and column of a byte, both from 1; the column counts characters.
    pub fn position(&self, byte: usize) -> (usize, usize) {
        let line = self.line_starts.partition_point(|&start| start <= byte);
        let start = self.line_starts[line - 1];
        let before = self.text.get(start..byte.min(self.text.len())).unwrap_or("");
        (line, before.chars().count() + 1)
    }
}

/// Every file of the folder.
#[derive(Debug, Default)]
pub struct Sources {
    /// The files of resources, the seed files and the files of texts.
    files: Vec<SourceFile>,
    /// The folder, absolute if it exists: generated code includes seed files from there.
    pub folder: PathBuf,
}

/// The text of a file, or the place of its first invalid byte.
fn decoded(bytes: Vec<u8>) -> Result<String, String> {
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
        return Err("the file is UTF-16: save it as UTF-8".to_owned());
    }
    String::from_utf8(bytes).map_err(|problem| {
        let (good, odd) = problem.as_bytes().split_at(problem.utf8_error().valid_up_to());
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("the byte 0x{:02X} of line {line} is not UTF-8: save it as UTF-8", odd[0])
    })
}

impl Sources {
    /// Reads every `*.yaml` of a folder, sorted by name. An unreadable file is kept with the reason, which is reported
    /// like other problems.
    pub fn load(folder: &Path) -> Sources {
        let folder_shown = shown_path(folder);
        let mut sources = Sources { folder: folder.to_owned(), ..Sources::default() };
        match file_names(folder) {
            Err(problem) => sources.files.push(SourceFile::new(folder_shown, String::new(), Some(problem.to_string()))),
            Ok(names) => {
                for name in names {
                    sources.load_file(folder, &folder_shown, name);
                }
            }
        }
        sources
    }

    fn load_file(&mut self, folder: &Path, folder_shown: &str, name: String) {
        let (path, place) = (format!("{folder_shown}/{name}"), folder.join(&name));
        if place.is_dir() {
            for lost in yaml_within(&place) {
                let reason = "move it up: resources are files of one folder".to_owned();
                self.files.push(SourceFile::new(format!("{path}/{lost}"), String::new(), Some(reason)));
            }
        } else if name.ends_with(".yaml") || name.ends_with(".yml") {
            self.files.push(match fs::read(&place).map_err(|problem| problem.to_string()).and_then(decoded) {
                Ok(text) => SourceFile::new(path, text, None),
                Err(reason) => SourceFile::new(path, String::new(), Some(reason)),
            });
        } else if is_yaml(&name) {
            let reason = "rename the ending to lower case: `.yaml`".to_owned();
            self.files.push(SourceFile::new(path, String::new(), Some(reason)));
        }
    }

    /// The same files and one more, which need not exist.
    pub fn with(mut self, path: &str, text: &str) -> Sources {
        self.files.push(SourceFile::new(path.to_owned(), text.to_owned(), None));
        self
    }

    /// Files from memory: pairs of path and text.
    pub fn from_texts<'a>(texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Sources {
        let mut sources = Sources::default();
        for (path, text) in texts {
            sources.files.push(SourceFile::new(path.to_owned(), text.to_owned(), None));
        }
        sources
    }

    /// Several files from one text, each after a comment with its path: `# resources/product.yaml`. Examples and test
    /// cases have this form.
    pub fn from_example(text: &str) -> Sources {
        let mut files: Vec<(&str, String)> = Vec::new();
        for line in text.lines() {
            let path = line.strip_prefix("# resources/").and_then(|_| line.strip_prefix("# "));
            if let Some(path) = path {
                files.push((path, String::new()));
            }
            if let Some((_, text)) = files.last_mut() {
                text.push_str(line);
                text.push('\n');
            }
        }
        Sources::from_texts(files.iter().map(|(path, text)| (*path, text.as_str())))
    }

    /// Every resource file with its id.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.all().filter(|(_, file)| !file.is_seed() && !file.is_language())
    }

    /// Every seed file with its id.
    pub fn seeds(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.all().filter(|(_, file)| file.is_seed())
    }

    /// Every file of texts in another language with its id.
    pub fn languages(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.all().filter(|(_, file)| file.is_language())
    }

    fn all(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(index, file)| (FileId(index), file))
    }

    /// The number of files.
    pub fn count(&self) -> usize {
        self.files.len()
    }

    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0]
    }

    /// `resources/product.yaml:14:7`
    pub fn locate(&self, span: Span) -> String {
        let file = self.file(span.file);
        let (line, column) = file.position(span.start);
        format!("{}:{line}:{column}", file.path)
    }
}

/// The folder relative to the current one if it is inside, with `/` as the separator.
fn shown_path(folder: &Path) -> String {
    let current = std::env::current_dir().unwrap_or_default();
    let shown = folder.strip_prefix(&current).unwrap_or(folder);
    let shown = shown.to_string_lossy().replace('\\', "/");
    shown.trim_end_matches('/').trim_start_matches("./").to_owned()
}

/// True if a file looks as if it was meant to be read.
fn is_yaml(name: &str) -> bool {
    let lower = name.to_lowercase();
    lower.ends_with(".yaml") || lower.ends_with(".yml")
}

/// The YAML files in the subfolders of a folder, which are not read.
fn yaml_within(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for name in file_names(folder).unwrap_or_default() {
        match folder.join(&name).is_dir() {
            true => found.extend(yaml_within(&folder.join(&name)).iter().map(|below| format!("{name}/{below}"))),
            false if is_yaml(&name) => found.push(name),
            false => {}
        }
    }
    found
}

/// True if a file is hidden or a temporary file of an editor: `.#product.yaml`.
pub fn is_hidden(name: &str) -> bool {
    name.starts_with('.')
}

fn file_names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.retain(|name| !is_hidden(name));
    names.sort();
    Ok(names)
}
