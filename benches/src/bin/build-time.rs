//! Build time for each resource, with 10 and with 100 synthetic resources, cold and after one edit.
//!
//! `cargo run --release --manifest-path benches/Cargo.toml --bin build-time`. "Cold" builds only the application: its
//! dependencies, the runtime included, are built before and not counted. All builds are debug builds.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Resources that one build used.
struct Cost {
    cpu: f64,
    wall: f64,
    /// The largest process of all builds so far, in MB.
    peak: f64,
}

fn main() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the workspace");
    let folder = std::env::temp_dir().join(format!("charter-build-time-{}", std::process::id()));
    let target = folder.join("target");
    let sizes: Vec<usize> = match std::env::var("RESOURCES") {
        Ok(list) => list.split(',').map(|size| size.parse().expect("a number")).collect(),
        Err(_) => vec![10, 100],
    };
    println!("{:>10} {:<16} {:>8} {:>8} {:>10} {:>10}", "resources", "", "CPU s", "wall s", "rustc MB", "binary MB");
    // The smallest application brings all that is not counted.
    let smallest = folder.join("app-6");
    write_application(&smallest, &root, 6);
    build(&smallest, &target);
    let mut edits = Vec::new();
    for size in &sizes {
        let application = folder.join(format!("app-{size}"));
        write_application(&application, &root, *size);
        let cold = build(&application, &target);
        let binary =
            fs::metadata(target.join("debug").join(format!("app-{size}"))).expect("the binary").len() as f64 / 1e6;
        report(*size, "cold", &cold, binary);
        let mut costs: Vec<Cost> = (0..3).map(|round| edit_and_build(&application, &target, round)).collect();
        costs.sort_by(|a, b| a.cpu.total_cmp(&b.cpu));
        report(*size, "after one edit", &costs[1], binary);
        edits.push(costs[1].cpu);
    }
    if let [first, .., last] = edits.as_slice() {
        println!(
            "\nafter one edit, {} resources against {}: {:.2} times the CPU",
            sizes[sizes.len() - 1],
            sizes[0],
            last / first
        );
    }
    let _ = fs::remove_dir_all(folder);
}

fn report(size: usize, what: &str, cost: &Cost, binary: f64) {
    println!("{size:>10} {what:<16} {:>8.1} {:>8.1} {:>10.0} {binary:>10.1}", cost.cpu, cost.wall, cost.peak);
}

/// Adds a field to one resource and builds.
fn edit_and_build(application: &Path, target: &Path, round: usize) -> Cost {
    let path = application.join("resources/thing5.yaml");
    let yaml = fs::read_to_string(&path).expect("a resource");
    fs::write(&path, yaml.replace("  size:", &format!("  added{round}: {{ type: integer, nullable: true }}\n  size:")))
        .expect("the edit");
    build(application, target)
}

fn build(application: &Path, target: &Path) -> Cost {
    let before = usage();
    let begun = Instant::now();
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--offline"])
        .current_dir(application)
        .env("CARGO_TARGET_DIR", target)
        .status();
    assert!(status.expect("cargo runs").success(), "the build failed");
    let after = usage();
    Cost { cpu: after.0 - before.0, wall: begun.elapsed().as_secs_f64(), peak: after.1 }
}

/// CPU seconds of all finished children, and the peak memory in MB of the largest.
fn usage() -> (f64, f64) {
    // SAFETY: `getrusage` fills the struct that it is given, for which all zeros are valid.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    (seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss as f64 / 1e3)
}

/// An application of `size` resources with 15 fields each, every tenth of them with a behaviour.
fn write_application(folder: &Path, root: &Path, size: usize) {
    let dependency = |name: &str| format!("charter-{name} = {{ path = {:?} }}\n", root.join(name));
    fs::create_dir_all(folder.join("resources")).expect("a folder");
    fs::create_dir_all(folder.join("src")).expect("a folder");
    let manifest = format!(
        "[workspace]\n[package]\nname = \"app-{size}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
         [dependencies]\n{}{}[build-dependencies]\n{}[profile.dev]\ndebug = \"line-tables-only\"\n",
        dependency("runtime"),
        dependency("migrations"),
        dependency("codegen")
    );
    fs::write(folder.join("Cargo.toml"), manifest).expect("a file");
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("the lock file");
    fs::write(folder.join("build.rs"), "fn main() { charter_codegen::build(\"resources\"); }\n").expect("a file");
    let mut main = String::from(
        "use charter_migrations::prelude::*;\nuse charter_runtime::generated::*;\n\
         mod generated { include!(concat!(env!(\"OUT_DIR\"), \"/resources.rs\")); }\n\
         struct Migrator;\nimpl MigratorTrait for Migrator { fn migrations() -> Vec<Box<dyn MigrationTrait>> { charter_migrations::platform() } }\n\
         fn main() -> std::process::ExitCode { charter_runtime::main(charter_runtime::App::new::<Migrator>(\"app\", generated::routes()).seeds(generated::seeds()).languages(generated::languages())) }\n",
    );
    for index in 0..size {
        let hook = index % 10 == 0;
        fs::write(folder.join(format!("resources/thing{index}.yaml")), resource(index, hook)).expect("a file");
        if hook {
            let name = format!("generated::thing{index}");
            let _ = write!(
                main,
                "impl {name}::Behaviour for {name}::Entity {{ async fn before_save(_: &Context<'_>, draft: &mut Draft<{name}::Entity>) -> Result<()> {{\n\
                 if draft.before.is_none() {{ draft.model.size = ActiveValue::Set(1); }} Ok(()) }} }}\n"
            );
        }
    }
    fs::write(folder.join("src/main.rs"), main).expect("a file");
}

fn resource(index: usize, hook: bool) -> String {
    let hooks = if hook { "hooks: [before_save]\n" } else { "" };
    format!(
        "resource: thing{index}\nevents: true\ncustom_fields: true\nfields:\n\
         \x20 name: {{ type: string(255), required: true }}\n\
         \x20 description: {{ type: text, nullable: true }}\n\
         \x20 kind: {{ type: enum, values: [rental, sale, service], default: rental }}\n\
         \x20 status: {{ type: code, values: {{ 1: Open, 2: Closed }}, default: 1 }}\n\
         \x20 code: {{ type: string(64), nullable: true, unique: true }}\n\
         \x20 barcode: {{ type: string(64), nullable: true }}\n\
         \x20 is_active: {{ type: boolean, default: true }}\n\
         \x20 weight: {{ type: decimal(12, 4), default: 0, min: 0 }}\n\
         \x20 price: {{ type: decimal(12, 2), default: 0, min: 0 }}\n\
         \x20 owner_id: {{ type: ref(user), nullable: true }}\n\
         \x20 owner_name: {{ from: owner_id.name }}\n\
         \x20 starts_at: {{ type: timestamp, nullable: true }}\n\
         \x20 ends_at: {{ type: timestamp, nullable: true, after: starts_at }}\n\
         \x20 day: {{ type: date, nullable: true }}\n\
         \x20 size: {{ type: integer, default: 0, min: 0 }}\n\
         search: [name]\nincludes:\n  owner: {{ one: owner_id, fields: [id, name] }}\n{hooks}"
    )
}
