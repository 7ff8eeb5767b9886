//! What a start needs, and what it says where that is missing.

use super::{on_both, status, token};
use crate::support::program::{Program, Serving};

on_both!(it_starts_and_obeys_commands_with_the_smallest_pool);

fn it_starts_and_obeys_commands_with_the_smallest_pool(program: Program) {
    let mut command = program.command(&[]);
    command.env("CHARTER_DATABASE_POOL", "2");
    let serving = Serving::start(command, "More tokens:");
    assert_eq!(status(&serving, &token(&serving.banner), "/products"), 200);
    for arguments in [
        &["migrate"][..],
        &["user", "create", "--email", "a@example.com", "--name", "A"],
        &["token", "create", "--user", "a@example.com", "--name", "x", "--ability", "*"],
        &["recount"],
    ] {
        program.done(&[arguments, &["--database-pool", "2"]].concat());
    }
    serving.signal("TERM");
    assert_eq!(serving.end().code, 0);
}
