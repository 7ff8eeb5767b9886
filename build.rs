//! Generates the code of the resources in OUT_DIR.

fn main() {
    charter_codegen::build("resources");
}
