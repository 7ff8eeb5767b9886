//! The real program, run as an operator runs it.
