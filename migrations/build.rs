//! Lists the service's migrations as every application does: a change to its tables is one new file.

/// The generator's own, which needs nothing but the standard library: this package is linked with none of ours.
#[path = "../codegen/src/migrations.rs"]
mod list;

fn main() {
    list::migrations("src/service");
}
