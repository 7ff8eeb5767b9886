//! Standard output of the command. A closed pipe, as of `head`, neither panics nor ends the command before it has done
//! its work.

use std::fmt::Display;
use std::io::{ErrorKind, Write};

/// Prints a line.
pub fn line(text: impl Display) {
    self::text(format_args!("{text}\n"));
}

/// Prints a text.
pub fn text(text: impl Display) {
    let mut out = std::io::stdout().lock();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Err(problem) if problem.kind() != ErrorKind::BrokenPipe => {
            eprintln!("stdout is not writable: {problem}");
            std::process::exit(1);
        }
        _ => {}
    }
}
