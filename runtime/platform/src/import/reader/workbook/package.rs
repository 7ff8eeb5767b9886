//! The package of a workbook: a ZIP archive of parts, each of which is unpacked as far as the limits allow.

use std::cell::Cell;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::rc::Rc;

use zip::ZipArchive;

use super::malformed;
use super::xml::Xml;

/// Maximum size of the parts that are read, unpacked and together. A shared text counts again in each cell that has it.
const MAX_UNPACKED_BYTES: u64 = 1 << 30;

/// Maximum unpacked size of a part whose contents stay in memory: shared texts, styles, relations, the list of sheets.
const MAX_PART_BYTES: u64 = 48 << 20;

/// Maximum bytes that are read to find the parts.
const MAX_DIRECTORY_BYTES: u64 = 4 << 20;

/// An archive that is open.
pub(super) struct Package {
    archive: ZipArchive<BufReader<Source>>,
    /// Positions in the archive by names in lower case.
    positions: HashMap<String, usize>,
    /// Bytes that may still be unpacked.
    left: u64,
}

impl Package {
    pub(super) fn open(path: &Path) -> Result<Package, String> {
        let file = File::open(path).map_err(|error| format!("could not be read: {error}"))?;
        let left = Rc::new(Cell::new(MAX_DIRECTORY_BYTES));
        let source = Source { file, left: Rc::clone(&left) };
        let archive = ZipArchive::new(BufReader::new(source)).map_err(malformed)?;
        left.set(u64::MAX);
        let mut positions = HashMap::new();
        for (position, name) in archive.file_names().enumerate() {
            positions.insert(name.map_err(malformed)?.replace('\\', "/").to_ascii_lowercase(), position);
        }
        Ok(Package { archive, positions, left: MAX_UNPACKED_BYTES })
    }

    /// A part whose contents stay in memory, or `None` if the package does not have it.
    pub(super) fn part(&mut self, name: &str) -> Result<Option<Xml<'_>>, String> {
        self.unpack(name, MAX_PART_BYTES)
    }

    /// A part that is read piece by piece.
    pub(super) fn streamed_part(&mut self, name: &str) -> Result<Option<Xml<'_>>, String> {
        self.unpack(name, MAX_UNPACKED_BYTES)
    }

    fn unpack(&mut self, name: &str, most: u64) -> Result<Option<Xml<'_>>, String> {
        let Some(position) = self.positions.get(&name.to_ascii_lowercase()) else { return Ok(None) };
        let part = self.archive.by_index(*position).map_err(malformed)?;
        Ok(Some(Xml::new(part, most, &mut self.left)))
    }
}

/// The file of a package. Its directory is read whole, and can claim as many parts as it has bytes.
pub(super) struct Source {
    file: File,
    left: Rc<Cell<u64>>,
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        let left = self.left.get().checked_sub(count as u64);
        self.left.set(left.ok_or_else(|| io::Error::new(io::ErrorKind::FileTooLarge, "it has too many parts"))?);
        Ok(count)
    }
}

impl Seek for Source {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}
