//! Writes the Rust of the resources, and the list of the migrations, into OUT_DIR.

fn main() {
    charter_codegen::build("resources");
    charter_codegen::migrations("migrations");
}
