//! List of the service's migrations, in the order of their file names.

fn main() {
    charter_codegen::migrations("src/service");
}
