//! The parts of a workbook other than the sheet: relations, the list of sheets, styles and shared texts.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use super::malformed;
use super::package::Package;
use super::values::{is_time_format, unescape};
use super::xml::{Piece, Xml, push};

/// Maximum number of relations of a part, each of which stays in memory.
const MAX_RELATIONS: usize = 10_000;

/// The contents of a workbook but for its rows.
pub(super) struct Book {
    /// The name of the part with the rows.
    pub sheet: String,
    /// True if days are counted from 1904, and not from 1900.
    pub is_1904: bool,
    /// For each style whether its numbers are dates or times.
    time_styles: Vec<bool>,
    texts: Texts,
}

impl Book {
    pub(super) fn read(package: &mut Package) -> Result<Book, String> {
        let root = Relations::read(package, "")?;
        let document = root.target_of_kind("officeDocument").ok_or_else(|| malformed("it has no document"))?;
        let relations = Relations::read(package, document)?;
        let (sheet, is_1904) = choose_sheet(package, document, &relations)?;
        let part = |kind, name| match relations.target_of_kind(kind) {
            Some(target) => target.to_string(),
            None => resolve(document, name),
        };
        let time_styles = match package.part(&part("styles", "styles.xml"))? {
            Some(mut xml) => read_time_styles(&mut xml)?,
            None => Vec::new(),
        };
        let texts = match package.part(&part("sharedStrings", "sharedStrings.xml"))? {
            Some(mut xml) => Texts::read(&mut xml)?,
            None => Texts::default(),
        };
        Ok(Book { sheet, is_1904, time_styles, texts })
    }

    /// True if the numbers of a style are dates or times.
    pub(super) fn is_time(&self, style: usize) -> bool {
        self.time_styles.get(style).copied().unwrap_or_default()
    }

    pub(super) fn text(&self, index: usize) -> Option<&str> {
        self.texts.get(index)
    }
}

/// The relations of a part to others: kind and name of each by its id.
struct Relations(BTreeMap<String, (String, String)>);

impl Relations {
    /// Reads the relations of a part; those of the package itself for an empty name.
    fn read(package: &mut Package, of: &str) -> Result<Relations, String> {
        let (folder, name) = of.rsplit_once('/').map_or(("", of), |(folder, name)| (folder, name));
        let mut relations = BTreeMap::new();
        let Some(mut xml) = package.part(format!("{folder}/_rels/{name}.rels").trim_start_matches('/'))? else {
            return Err(malformed("it has no relations"));
        };
        loop {
            match xml.next()? {
                Piece::Start(element) if element.name() == "Relationship" => {
                    if relations.len() == MAX_RELATIONS {
                        return Err(malformed("it has too many relations"));
                    }
                    let text = |name| Ok::<_, String>(element.attribute(name)?.unwrap_or_default());
                    let (id, kind, target) = (text("Id")?, text("Type")?, text("Target")?);
                    let kind = kind.rsplit('/').next().unwrap_or_default();
                    relations.insert(id.into_owned(), (kind.to_string(), resolve(of, &target)));
                }
                Piece::Eof => return Ok(Relations(relations)),
                _ => {}
            }
        }
    }

    fn target_of_kind(&self, kind: &str) -> Option<&str> {
        self.0.values().find(|(known, _)| known == kind).map(|(_, target)| target.as_str())
    }

    fn sheet(&self, id: &str) -> Option<&str> {
        self.0.get(id).filter(|(kind, _)| kind == "worksheet").map(|(_, target)| target.as_str())
    }
}

/// The name of the part that a path means, seen from another part.
fn resolve(from: &str, path: &str) -> String {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let whole = if path.starts_with('/') { path.to_string() } else { format!("{folder}/{path}") };
    let mut names: Vec<&str> = Vec::new();
    for name in whole.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    names.join("/")
}

/// The first visible sheet with rows, or else the first one, and whether days are counted from 1904.
fn choose_sheet(package: &mut Package, document: &str, relations: &Relations) -> Result<(String, bool), String> {
    let mut xml = package.part(document)?.ok_or_else(|| malformed("it has no document"))?;
    let (mut visible, mut first, mut is_1904) = (None, None, false);
    loop {
        match xml.next()? {
            Piece::Start(element) if element.name() == "sheet" => {
                let id = element.attribute("id")?.unwrap_or_default();
                if let Some(sheet) = relations.sheet(&id) {
                    first.get_or_insert(sheet);
                    if element.attribute("state")?.is_none_or(|state| state == "visible") {
                        visible.get_or_insert(sheet);
                    }
                }
            }
            Piece::Start(element) if element.name() == "workbookPr" => {
                // An extension has an element of the same name without it.
                if let Some(value) = element.attribute("date1904")? {
                    is_1904 = value == "1" || value == "true";
                }
            }
            Piece::Eof => break,
            _ => {}
        }
    }
    let sheet = visible.or(first).ok_or("has no sheet")?;
    Ok((sheet.to_string(), is_1904))
}

fn read_time_styles(xml: &mut Xml<'_>) -> Result<Vec<bool>, String> {
    let (mut formats, mut styles) = (HashMap::new(), Vec::new());
    let mut section = String::new();
    loop {
        match xml.next()? {
            Piece::Start(element) if element.depth == 2 => section = element.name().to_string(),
            Piece::Start(element) if element.depth == 3 => {
                let id: Option<Cow<'_, str>> = element.attribute("numFmtId")?;
                let id: u32 = id.and_then(|id| id.parse().ok()).unwrap_or_default();
                match (section.as_str(), element.name()) {
                    ("numFmts", "numFmt") => {
                        let code = element.attribute("formatCode")?.unwrap_or_default();
                        formats.insert(id, is_time_format(&code));
                    }
                    ("cellXfs", "xf") => {
                        // The formats that have no code in the file (ECMA-376, part 1, 18.8.30).
                        let is_built_in = matches!(id, 14..=22 | 27..=36 | 45..=47 | 50..=58);
                        styles.push(formats.get(&id).copied().unwrap_or(is_built_in));
                    }
                    _ => {}
                }
            }
            Piece::Eof => return Ok(styles),
            _ => {}
        }
    }
}

/// Texts that cells refer to by their position, in one piece of memory: there can be millions of empty ones.
#[derive(Default)]
struct Texts {
    all: String,
    /// The end of each in bytes.
    ends: Vec<u32>,
}

impl Texts {
    fn read(xml: &mut Xml<'_>) -> Result<Texts, String> {
        let mut texts = Texts::default();
        loop {
            match xml.next()? {
                Piece::Start(element) if element.name() == "si" => {
                    drop(element);
                    texts.all.push_str(&rich_text(xml)?);
                    texts.ends.push(u32::try_from(texts.all.len()).map_err(malformed)?);
                }
                Piece::Eof => return Ok(texts),
                _ => {}
            }
        }
    }

    fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)? as usize;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        self.all.get(start..end)
    }
}

/// Reads an element `si` or `is` that has begun to its end, and returns the text of its runs, without phonetic hints.
pub(super) fn rich_text(xml: &mut Xml<'_>) -> Result<String, String> {
    let outside = xml.depth().saturating_sub(1);
    let mut text = String::new();
    loop {
        match xml.next()? {
            Piece::Start(element) if element.name() == "t" => {
                let keeps_spaces = element.attribute("space")?.is_some_and(|value| value == "preserve");
                drop(element);
                let run = xml.text()?;
                let run = if keeps_spaces { &run } else { run.trim_matches([' ', '\t', '\r', '\n']) };
                push(&mut text, &unescape(run))?;
            }
            Piece::Start(element) if element.name() == "rPh" => {
                drop(element);
                xml.skip()?;
            }
            Piece::End(depth) if depth == outside => return Ok(text),
            _ => {}
        }
    }
}
