//! Writes the Rust of the resources into OUT_DIR.

fn main() {
    charter_codegen::build("resources");
}
