//! Generates the code of the resources and the list of migrations in OUT_DIR.

fn main() {
    charter_codegen::build("resources");
    charter_codegen::migrations("migrations");
}
