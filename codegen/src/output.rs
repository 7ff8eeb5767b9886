//! Generated files: formatted, and written only where something changed, so that nothing is compiled again for nothing.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use proc_macro2::TokenStream;

/// The end of the name of every generated file.
const SUFFIX: &str = ".rs";

/// The beginning of every generated file: what begins otherwise is somebody else's, and stays.
pub const MARK: &str = "// Generated ";

/// Everything generated from a folder of resources.
#[derive(Debug)]
pub struct Output {
    files: Vec<Generated>,
}

impl Output {
    pub(crate) fn new(files: Vec<Generated>) -> Output {
        Output { files }
    }

    /// Every file, the index last.
    pub fn files(&self) -> &[Generated] {
        &self.files
    }

    /// The file of one resource.
    pub fn file(&self, name: &str) -> Option<&Generated> {
        self.files.iter().find(|file| file.name == name)
    }

    /// Writes what changed into a folder, and removes from it what no resource stands for any more.
    /// Answers the names of the files that were written.
    pub fn write(&self, folder: &Path) -> io::Result<Vec<String>> {
        fs::create_dir_all(folder)?;
        let mut written = Vec::new();
        for file in &self.files {
            let path = folder.join(format!("{}{SUFFIX}", file.name));
            let present = fs::read_to_string(&path).unwrap_or_default();
            if file.is_current(&present) {
                continue;
            }
            fs::write(&path, file.text())?;
            written.push(file.name.clone());
        }
        self.remove_orphans(folder)?;
        Ok(written)
    }

    fn remove_orphans(&self, folder: &Path) -> io::Result<()> {
        let wanted: BTreeSet<String> = self.files.iter().map(|file| format!("{}{SUFFIX}", file.name)).collect();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.ends_with(SUFFIX) || wanted.contains(&name) {
                continue;
            }
            if fs::read_to_string(entry.path()).unwrap_or_default().starts_with(MARK) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

/// One generated file.
#[derive(Debug)]
pub struct Generated {
    /// The name of the resource, or of the index.
    pub name: String,
    header: String,
    tokens: TokenStream,
}

impl Generated {
    pub(crate) fn new(name: &str, header: String, tokens: TokenStream) -> Generated {
        Generated { name: name.to_owned(), header, tokens }
    }

    /// The whole text: the header, the fingerprint, and each item after an empty line, except between modules.
    pub fn text(&self) -> String {
        let file: syn::File = syn::parse2(self.tokens.clone()).expect("emitted tokens are Rust");
        let mut text = self.opening();
        let mut in_modules = false;
        for item in file.items {
            let is_module = matches!(item, syn::Item::Mod(_));
            if !(is_module && in_modules) {
                text.push('\n');
            }
            in_modules = is_module;
            let alone = syn::File { shebang: None, frontmatter: None, attrs: Vec::new(), items: vec![item] };
            text.push_str(&prettyplease::unparse(&alone));
        }
        text
    }

    /// Whether a text is what [`Generated::text`] would give. Parsing and formatting cost nearly all the time of a
    /// build script, which is compiled without optimisation: the fingerprint of the tokens, kept in the text, saves
    /// both for every resource that did not change.
    fn is_current(&self, text: &str) -> bool {
        text.starts_with(&self.opening())
    }

    fn opening(&self) -> String {
        let print = fingerprint(&self.tokens.to_string());
        format!("{}\n// Fingerprint {print:016x}: the same tokens are not formatted again.\n", self.header)
    }
}

/// FNV-1a, which stays the same whatever the compiler; nothing depends on it being hard to forge.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
