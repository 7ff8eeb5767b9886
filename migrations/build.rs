//! List of the service's migrations, in the order of their file names.

/// The generator's module, included by path because this crate has no dependency on the other crates of the workspace.
#[path = "../codegen/src/migration_list.rs"]
mod list;

fn main() {
    list::migrations("src/service");
}
