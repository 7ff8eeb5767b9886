//! W3C Trace Context: `traceparent` of requests and of the webhook deliveries that they cause.
//!
//! The server starts no traces and records no spans. It logs the trace id of a request, and passes it on with deliveries.

use std::fmt::{self, Display};
use std::str::FromStr;

use sha2::{Digest, Sha256};

pub const TRACEPARENT: &str = "traceparent";

/// Flags that are passed on: sampled, and random-trace-id of level 2. Others must be cleared (section 3.4).
const FLAGS: u8 = 0b11;

/// Trace id and flags. The column `events.trace` stores its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trace {
    id: u128,
    flags: u8,
}

impl Trace {
    /// Parses the header of a request (section 3.2). A malformed value, or more than one value, is ignored.
    pub fn read<'v>(mut values: impl Iterator<Item = &'v [u8]>) -> Option<Trace> {
        let value = std::str::from_utf8(values.next()?).ok()?;
        if values.next().is_some() {
            return None;
        }
        // `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`; later versions may append fields after another dash.
        let mut parts = value.splitn(5, '-');
        let version = hex(parts.next()?, 2)?;
        let (id, parent, flags) = (hex(parts.next()?, 32)?, hex(parts.next()?, 16)?, hex(parts.next()?, 2)?);
        let is_longer = parts.next().is_some();
        if version == 0xff || (version == 0 && is_longer) || id == 0 || parent == 0 {
            return None;
        }
        Some(Trace { id, flags: flags as u8 & FLAGS })
    }

    /// The trace id: 32 hexadecimal digits.
    pub fn id(&self) -> String {
        format!("{:032x}", self.id)
    }

    /// The header of a delivery attempt. The parent id is derived from delivery and attempt, so that the delivery log shows the same
    /// header that was sent.
    pub fn of_attempt(&self, delivery: &str, attempt: u32) -> String {
        let digest = Sha256::digest(format!("{delivery}/{attempt}"));
        let parent = digest.iter().take(8).fold(0, |parent: u64, byte| parent << 8 | u64::from(*byte));
        format!("00-{:032x}-{:016x}-{:02x}", self.id, parent.max(1), self.flags)
    }
}

impl Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}-{:02x}", self.id, self.flags)
    }
}

impl FromStr for Trace {
    type Err = ();

    fn from_str(text: &str) -> Result<Trace, ()> {
        let (id, flags) = text.split_once('-').ok_or(())?;
        let (id, flags) = (hex(id, 32).ok_or(())?, hex(flags, 2).ok_or(())?);
        Ok(Trace { id, flags: flags as u8 & FLAGS })
    }
}

/// Parses a number of exactly this many lower-case hexadecimal digits.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let is_hex = text.len() == digits && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    u128::from_str_radix(text, 16).ok().filter(|_| is_hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

    fn read(value: &str) -> Option<Trace> {
        Trace::read([value.as_bytes()].into_iter())
    }

    #[test]
    fn well_formed_traceparent_is_parsed() {
        let trace = read(&format!("00-{ID}-00f067aa0ba902b7-01")).unwrap();
        assert_eq!((trace.id().as_str(), trace.flags), (ID, 1));
        assert_eq!(read(&format!("00-{ID}-00f067aa0ba902b7-fc")).unwrap().flags, 0, "unknown flags are cleared");
        assert_eq!(read(&format!("cc-{ID}-00f067aa0ba902b7-01-what-follows")), Some(trace), "a later version");
        assert_eq!(trace.to_string().parse(), Ok(trace));
    }

    #[test]
    fn malformed_traceparent_is_ignored() {
        for value in [
            "",
            "00",
            ID,
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 ",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "0-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0f067aa0ba902b7-01",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01",
        ] {
            assert_eq!(read(value), None, "{value}");
        }
        let twice = format!("00-{ID}-00f067aa0ba902b7-01");
        assert_eq!(Trace::read([twice.as_bytes(), twice.as_bytes()].into_iter()), None, "two of them");
        assert_eq!(Trace::read([b"\xff".as_slice()].into_iter()), None);
    }

    #[test]
    fn each_attempt_has_its_own_parent_id() {
        let trace = read(&format!("00-{ID}-00f067aa0ba902b7-01")).unwrap();
        let (first, second) = (trace.of_attempt("msg_1", 1), trace.of_attempt("msg_1", 2));
        assert_eq!(read(&first), Some(trace));
        assert!(first != second && !first.contains("00f067aa0ba902b7"));
        assert_eq!(first, trace.of_attempt("msg_1", 1));
    }
}
