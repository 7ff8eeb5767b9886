//! What the command says on its standard output. One who reads no further, as `head`, ends nothing: neither with a panic,
//! nor before everything is written and the code tells what came of it.

use std::fmt::Display;
use std::io::{ErrorKind, Write};

/// A line.
pub fn line(text: impl Display) {
    self::text(format_args!("{text}\n"));
}

/// A text as it is.
pub fn text(text: impl Display) {
    let mut out = std::io::stdout().lock();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Err(problem) if problem.kind() != ErrorKind::BrokenPipe => {
            eprintln!("nothing can be printed: {problem}");
            std::process::exit(1);
        }
        _ => {}
    }
}
