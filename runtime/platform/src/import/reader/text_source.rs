//! Text of a file as UTF-8: the file itself, or UTF-16 with a byte order mark decoded while it is read.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_16BE, UTF_16LE};

/// Bytes that are decoded at a time.
const CHUNK_BYTES: usize = 16 << 10;

const UTF_8_MARK: [u8; 3] = *b"\xef\xbb\xbf";

/// The encoding that a byte order mark of UTF-16 names.
pub(super) fn utf_16_mark(head: &[u8]) -> Option<&'static Encoding> {
    match head {
        [0xff, 0xfe, ..] => Some(UTF_16LE),
        [0xfe, 0xff, ..] => Some(UTF_16BE),
        _ => None,
    }
}

/// Reader of UTF-8 that remembers its last bytes.
pub(super) struct TextSource {
    inner: Box<dyn Read + Send>,
    /// The bytes of the last read, and the position of the first.
    chunk: Vec<u8>,
    start: u64,
    /// The byte before them.
    previous: Option<u8>,
}

impl TextSource {
    pub(super) fn open(path: &Path) -> io::Result<TextSource> {
        let mut head = [0; 3];
        let mut file = File::open(path)?;
        let length = fill(&mut file, &mut head)?;
        let rest = io::Cursor::new(head[..length].to_vec()).chain(BufReader::new(file));
        let inner: Box<dyn Read + Send> = match utf_16_mark(&head[..length]) {
            Some(encoding) => Box::new(Utf16::new(rest, encoding)),
            None if head == UTF_8_MARK => {
                let mut rest = rest;
                rest.read_exact(&mut head)?;
                Box::new(rest)
            }
            None => Box::new(rest),
        };
        Ok(TextSource { inner, chunk: Vec::new(), start: 0, previous: None })
    }

    /// The byte before a position in the last bytes that were read.
    pub(super) fn byte_before(&self, position: u64) -> Option<u8> {
        match position.checked_sub(1)?.checked_sub(self.start) {
            Some(at) => self.chunk.get(usize::try_from(at).ok()?).copied(),
            None => self.previous,
        }
    }
}

impl Read for TextSource {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.previous = self.chunk.last().copied().or(self.previous);
        self.start += self.chunk.len() as u64;
        self.chunk.clear();
        self.chunk.extend_from_slice(&buffer[..count]);
        Ok(count)
    }
}

/// Fills a buffer, or as much of it as there are bytes.
fn fill(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match source.read(&mut buffer[length..])? {
            0 => break,
            count => length += count,
        }
    }
    Ok(length)
}

/// Decoder of UTF-16.
struct Utf16<R> {
    inner: R,
    decoder: Decoder,
    output: String,
    /// Bytes of the output that were passed on.
    passed: usize,
    is_done: bool,
}

impl<R: Read> Utf16<R> {
    fn new(inner: R, encoding: &'static Encoding) -> Utf16<R> {
        let decoder = encoding.new_decoder_with_bom_removal();
        Utf16 { inner, decoder, output: String::new(), passed: 0, is_done: false }
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.passed == self.output.len() && !self.is_done {
            let mut input = [0; CHUNK_BYTES];
            let length = fill(&mut self.inner, &mut input)?;
            self.is_done = length < input.len();
            self.output.clear();
            self.passed = 0;
            self.output.reserve(self.decoder.max_utf8_buffer_length(length).unwrap_or(4 * CHUNK_BYTES));
            let input = &input[..length];
            let (result, _) = self.decoder.decode_to_string_without_replacement(input, &mut self.output, self.is_done);
            if let DecoderResult::Malformed(..) = result {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not valid UTF-16"));
            }
        }
        let count = buffer.len().min(self.output.len() - self.passed);
        buffer[..count].copy_from_slice(&self.output.as_bytes()[self.passed..self.passed + count]);
        self.passed += count;
        Ok(count)
    }
}
