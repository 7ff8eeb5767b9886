//! Office Open XML in a ZIP archive, recognized by the names in the archive's central directory (PKWARE APPNOTE 4.3).

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Bytes at the end of an archive that can hold its end record: 22 bytes, and a comment of up to 65,535.
const MAX_END_BYTES: u64 = 22 + 65_535;
/// Maximum size of a central directory that is read. That of a document with thousands of members is smaller.
const MAX_DIRECTORY_BYTES: u64 = 4 << 20;

const END: [u8; 4] = *b"PK\x05\x06";
const END_64: [u8; 4] = *b"PK\x06\x06";
const LOCATOR_64: [u8; 4] = *b"PK\x06\x07";
const ENTRY: [u8; 4] = *b"PK\x01\x02";

/// The folder of each document type, its media type, and that of a document with macros.
const TYPES: [(&str, &str, &str); 3] = [
    (
        "word/",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.ms-word.document.macroEnabled.12",
    ),
    (
        "xl/",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "application/vnd.ms-excel.sheet.macroEnabled.12",
    ),
    (
        "ppt/",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "application/vnd.ms-powerpoint.presentation.macroEnabled.12",
    ),
];

/// True for the media types of documents without macros.
pub(super) fn is_document(media_type: &str) -> bool {
    TYPES.iter().any(|(_, plain, _)| *plain == media_type)
}

/// The type of an Office document, or `None` for another archive and for one whose directory cannot be read. The order
/// of the members does not count: only Microsoft's own programs write `[Content_Types].xml` first.
pub(super) fn detect(path: &Path) -> io::Result<Option<&'static str>> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    let Some(directory) = directory(&mut file, size)? else { return Ok(None) };
    let names = names(&directory);
    let has = |name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    // Required in each package (ECMA-376, part 2, 10.1.2.2).
    if !has("[Content_Types].xml") {
        return Ok(None);
    }
    let found = TYPES.iter().find(|(folder, ..)| names.iter().any(|name| name.starts_with(folder)));
    Ok(found.map(|(folder, plain, macros)| if has(&format!("{folder}vbaProject.bin")) { *macros } else { *plain }))
}

/// The bytes of the central directory.
fn directory(file: &mut (impl Read + Seek), size: u64) -> io::Result<Option<Vec<u8>>> {
    let tail_at = size.saturating_sub(MAX_END_BYTES);
    let tail = read_at(file, tail_at, size - tail_at)?;
    let Some(end) = tail.windows(END.len()).rposition(|bytes| bytes == END) else { return Ok(None) };
    let (Some(mut length), Some(mut at)) = (u32_at(&tail, end + 12), u32_at(&tail, end + 16)) else { return Ok(None) };
    if length == u64::from(u32::MAX) || at == u64::from(u32::MAX) {
        // The numbers are in the ZIP64 end record, whose position is in a locator before the end record.
        let Some(locator) = end.checked_sub(20).filter(|at| tail[*at..].starts_with(&LOCATOR_64)) else {
            return Ok(None);
        };
        let Some(end_at) = u64_at(&tail, locator + 8).filter(|at| at.checked_add(56).is_some_and(|end| end <= size))
        else {
            return Ok(None);
        };
        let end = read_at(file, end_at, 56)?;
        match (end.starts_with(&END_64), u64_at(&end, 40), u64_at(&end, 48)) {
            (true, Some(length_64), Some(at_64)) => (length, at) = (length_64, at_64),
            _ => return Ok(None),
        }
    }
    if length > MAX_DIRECTORY_BYTES || at.checked_add(length).is_none_or(|end| end > size) {
        return Ok(None);
    }
    read_at(file, at, length).map(Some)
}

fn read_at(file: &mut (impl Read + Seek), at: u64, length: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The names in a central directory, up to the first entry that is not well-formed.
fn names(directory: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = directory;
    while rest.starts_with(&ENTRY) {
        let length = |at: usize| rest.get(at..at + 2).map(|b| usize::from(u16::from_le_bytes([b[0], b[1]])));
        let (Some(name), Some(extra), Some(comment)) = (length(28), length(30), length(32)) else { break };
        let Some(bytes) = rest.get(46..46 + name) else { break };
        // Some Windows programs write backslashes.
        names.push(String::from_utf8_lossy(bytes).replace('\\', "/"));
        rest = rest.get(46 + name + extra + comment..).unwrap_or_default();
    }
    names
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 4)?.try_into().ok().map(|bytes| u64::from(u32::from_le_bytes(bytes)))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes)
}
