//! The XML of a part, event by event, with limits for its size, its depth and each of its texts.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};

use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Error, Reader, XmlVersion};
use zip::read::ZipFile;

use super::package::Source;
use super::{MAX_ROW_BYTES, malformed};

/// Maximum depth of elements.
const MAX_DEPTH: usize = 100;

const TOO_LARGE: &str = "is too large when it is unpacked: save it as CSV";

/// A reader of XML.
pub(super) struct Xml<'p> {
    reader: Reader<Metered<'p>>,
    /// The bytes of the current event.
    buffer: Vec<u8>,
    /// The number of elements that are open.
    depth: usize,
}

/// One event.
pub(super) enum Piece<'b> {
    Start(Element<'b>),
    /// The end of an element, and the number of elements that are still open.
    End(usize),
    /// A piece of text, or the character of a reference.
    Text(Cow<'b, str>),
    /// A comment, a declaration or an instruction.
    Other,
    /// The end of the part.
    Eof,
}

/// The start of an element.
pub(super) struct Element<'b> {
    start: BytesStart<'b>,
    /// The number of elements that are open, with this one.
    pub depth: usize,
}

impl Element<'_> {
    /// The name without its prefix.
    pub(super) fn name(&self) -> &str {
        self.start.local_name().into_inner()
    }

    /// The value of an attribute, whatever its prefix is.
    pub(super) fn attribute(&self, name: &str) -> Result<Option<Cow<'_, str>>, String> {
        // A check for repeated names would compare each attribute with each.
        for attribute in self.start.attributes().with_checks(false) {
            let attribute = attribute.map_err(malformed)?;
            if attribute.key.local_name().into_inner() == name && attribute.key.as_namespace_binding().is_none() {
                return attribute.normalized_value(XmlVersion::Implicit1_0).map(Some).map_err(malformed);
            }
        }
        Ok(None)
    }
}

impl<'p> Xml<'p> {
    /// The XML of a part. `most` is the limit of its bytes, and `left` that of all parts together.
    pub(super) fn new(part: ZipFile<'p, BufReader<Source>>, most: u64, left: &'p mut u64) -> Xml<'p> {
        let mut reader = Reader::from_reader(Metered { part: BufReader::new(part), most, left, event: 0 });
        reader.config_mut().expand_empty_elements = true;
        Xml { reader, buffer: Vec::new(), depth: 0 }
    }

    /// The number of elements that are open.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    pub(super) fn next(&mut self) -> Result<Piece<'_>, String> {
        self.buffer.clear();
        self.reader.get_mut().event = 0;
        Ok(match self.reader.read_event_into(&mut self.buffer).map_err(problem)? {
            Event::Start(_) if self.depth == MAX_DEPTH => return Err(malformed("its elements are nested too deeply")),
            Event::Start(start) => {
                self.depth += 1;
                Piece::Start(Element { start, depth: self.depth })
            }
            Event::End(_) => {
                self.depth = self.depth.saturating_sub(1);
                Piece::End(self.depth)
            }
            Event::Text(text) => Piece::Text(text.xml10_content()),
            Event::CData(text) => Piece::Text(text.xml10_content()),
            Event::GeneralRef(reference) => Piece::Text(character(&reference)?),
            Event::Eof if self.depth > 0 => return Err(malformed("a part of it ends too early")),
            Event::Eof => Piece::Eof,
            _ => Piece::Other,
        })
    }

    /// Reads the element that has begun to its end, and returns its text.
    pub(super) fn text(&mut self) -> Result<String, String> {
        let outside = self.depth.saturating_sub(1);
        let mut text = String::new();
        loop {
            match self.next()? {
                Piece::Text(piece) => push(&mut text, &piece)?,
                Piece::End(depth) if depth == outside => return Ok(text),
                _ => {}
            }
        }
    }

    /// Reads the element that has begun to its end.
    pub(super) fn skip(&mut self) -> Result<(), String> {
        let outside = self.depth.saturating_sub(1);
        while !matches!(self.next()?, Piece::End(depth) if depth == outside) {}
        Ok(())
    }

    /// Counts bytes that another part has unpacked once, and that are used again.
    pub(super) fn charge(&mut self, bytes: usize) -> Result<(), String> {
        let left = &mut self.reader.get_mut().left;
        **left = left.checked_sub(bytes as u64).ok_or(TOO_LARGE)?;
        Ok(())
    }
}

/// Appends to the text of a cell.
pub(super) fn push(text: &mut String, piece: &str) -> Result<(), String> {
    if text.len() + piece.len() > MAX_ROW_BYTES {
        return Err(too_long());
    }
    text.push_str(piece);
    Ok(())
}

fn too_long() -> String {
    format!("has a text of more than {MAX_ROW_BYTES} bytes")
}

/// The character of a reference such as `&amp;` or `&#228;`.
fn character<'b>(reference: &BytesRef<'_>) -> Result<Cow<'b, str>, String> {
    match reference.resolve_char_ref().map_err(malformed)? {
        Some(character) => Ok(character.to_string().into()),
        None => resolve_xml_entity(reference)
            .map(Cow::Borrowed)
            .ok_or_else(|| malformed(format_args!("&{}; is no character", &**reference))),
    }
}

fn problem(error: Error) -> String {
    match error {
        Error::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => error.to_string(),
        other => malformed(other),
    }
}

/// A part while it is unpacked. Its size in the directory of the archive is a claim.
struct Metered<'p> {
    part: BufReader<ZipFile<'p, BufReader<Source>>>,
    /// Bytes that this part may still have.
    most: u64,
    /// Bytes that all parts together may still have.
    left: &'p mut u64,
    /// Bytes of the current event, which the reader of XML collects in memory.
    event: usize,
}

impl BufRead for Metered<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let limit = |problem: String| io::Error::new(io::ErrorKind::FileTooLarge, problem);
        let is_full = self.most == 0 || *self.left == 0;
        let bytes = self.part.fill_buf()?;
        if is_full && !bytes.is_empty() {
            return Err(limit(TOO_LARGE.into()));
        }
        if self.event > MAX_ROW_BYTES { Err(limit(too_long())) } else { Ok(bytes) }
    }

    fn consume(&mut self, count: usize) {
        self.most = self.most.saturating_sub(count as u64);
        *self.left = self.left.saturating_sub(count as u64);
        self.event += count;
        self.part.consume(count);
    }
}

impl Read for Metered<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}
