# Shortcuts; each recipe is a command of the documentation. `just` lists them.

default:
    @just --list

# Formatting and lints
check:
    cargo fmt --all --check && cargo clippy --locked --workspace --all-targets -- -D warnings

# All tests, as the README runs them
test:
    cargo test --workspace

# Everything that continuous integration does, with the programs that it installs
ci:
    .ci/run

# The documentation as a site in target/book
docs:
    mdbook build

# A benchmark of docs/performance/README.md, such as `just bench uploads`
bench name="overload":
    cargo run --release --manifest-path benches/Cargo.toml --bin {{ name }}

# A release build; docs/releasing.md has the steps around it
release:
    cargo build --release --locked
