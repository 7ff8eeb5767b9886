//! `cargo charter migration`: writes the migration from the last snapshot to the current YAML.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use charter_codegen::date;
use charter_codegen::migration::checks::checks;
use charter_codegen::migration::sql::{Dialect, statements};
use charter_codegen::migration::{Plan, Step, rust};
use charter_codegen::snapshot::Snapshot;
use clap::{Args, Subcommand};

use crate::command::{MAX_FOLDER_DEPTH, any_migration, migrations, present};
use crate::{EXIT_DONE, EXIT_PROBLEMS, EXIT_USAGE, stdout};

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Write the migration from the last snapshot to the current YAML, and the new snapshot
    New {
        /// The purpose of the migration, in snake_case: `add_colour`
        #[arg(required_unless_present = "check")]
        name: Option<String>,
        /// Write the migration although it loses data
        #[arg(long)]
        allow_destructive: bool,
        /// Write nothing, and print the SQL for both databases
        #[arg(long)]
        dry_run: bool,
        /// Write nothing, and fail if the YAML and the snapshot differ
        #[arg(long, conflicts_with_all = ["name", "dry_run", "allow_destructive"])]
        check: bool,
        #[command(flatten)]
        folders: Folders,
    },
    /// Write the snapshot of the current YAML, after migrations that were written by hand
    Snapshot {
        #[command(flatten)]
        folders: Folders,
    },
}

#[derive(Args)]
pub struct Folders {
    /// The folder of the resources
    #[arg(long, default_value = "resources")]
    pub dir: PathBuf,
    /// The folder of the migrations, which holds the folder `snapshot` (by default the folder below `migrations` that
    /// has one)
    #[arg(long)]
    pub migrations: Option<PathBuf>,
}

impl Folders {
    fn migrations(&self) -> PathBuf {
        self.migrations.clone().unwrap_or_else(migrations)
    }

    fn snapshot(&self) -> PathBuf {
        self.migrations().join("snapshot")
    }

    /// The last snapshot and the current one.
    fn both(&self) -> Result<(Snapshot, Snapshot), u8> {
        let now = present(&self.dir)?;
        self.not_lost()?;
        let before = Snapshot::read(&self.snapshot()).map_err(|problem| report(&problem, EXIT_USAGE))?;
        Ok((before, now))
    }

    /// The plan for the changes that no migration covers; none if there is no snapshot, because the migrations are
    /// written by hand or are in another place.
    pub fn unreached(&self) -> Result<Option<Plan>, u8> {
        let folder = self.migrations();
        let is_known =
            self.snapshot().is_dir() || folder.is_dir() && any_migration(&folder, MAX_FOLDER_DEPTH).is_none();
        if !is_known {
            return Ok(None);
        }
        let (before, now) = self.both()?;
        let plan = (before != now.kept()).then(|| Plan::between(&before, &now));
        Ok(plan.filter(|plan| !plan.is_empty() || !plan.unsupported.is_empty()))
    }

    /// Fails if there are migrations without a snapshot: all tables would be created again.
    fn not_lost(&self) -> Result<(), u8> {
        let folder = self.snapshot();
        let made = any_migration(&self.migrations(), MAX_FOLDER_DEPTH).filter(|_| !folder.is_dir());
        let Some(made) = made else { return Ok(()) };
        // The snapshot is next to the migrations.
        let beside = made.parent().filter(|beside| *beside != self.migrations());
        let option = beside.map(|beside| format!(" --migrations {}", beside.display())).unwrap_or_default();
        let folder = beside.map_or(folder, |beside| beside.join("snapshot"));
        let (folder, made) = (folder.display(), made.display());
        let problem = format!(
            "the snapshot folder `{folder}` is missing, but the migration {made} exists\nrestore the folder from version control; if the tables match the YAML, `cargo charter migration snapshot{option}` writes it; if they contain none of its resources, create an empty folder"
        );
        Err(report(&problem, EXIT_PROBLEMS))
    }
}

/// The help for changes that no migration covers.
pub const MIGRATIONS_BEHIND: &str =
    "the migrations are behind the YAML: `cargo charter migration new <name>` writes the missing one";

fn report(problem: &str, code: u8) -> u8 {
    eprintln!("{problem}");
    code
}

pub fn run(arguments: &Arguments) -> u8 {
    let result = match &arguments.action {
        Action::Snapshot { folders } => take_snapshot(folders),
        Action::New { check: true, folders, .. } => check(folders),
        Action::New { name, allow_destructive, dry_run, folders, .. } => {
            let name = name.as_deref().unwrap_or_default();
            new(name, *allow_destructive, *dry_run, folders)
        }
    };
    result.unwrap_or_else(|code| code)
}

fn take_snapshot(folders: &Folders) -> Result<u8, u8> {
    let now = present(&folders.dir)?;
    report_written(&folders.snapshot(), now.write(&folders.snapshot()))?;
    Ok(EXIT_DONE)
}

fn check(folders: &Folders) -> Result<u8, u8> {
    let (before, now) = folders.both()?;
    if before == now.kept() {
        stdout::line("the snapshot matches the resources");
        return Ok(EXIT_DONE);
    }
    let plan = Plan::between(&before, &now);
    plan.lines().iter().for_each(stdout::line);
    plan.unsupported.iter().for_each(stdout::line);
    if plan.is_empty() && plan.unsupported.is_empty() {
        let behind = behind(&before, &now.kept()).join(", ");
        let help = "the tables do not change; `cargo charter migration snapshot` updates the snapshot";
        return Err(report(&format!("the snapshot is behind the YAML of {behind}\n{help}"), EXIT_PROBLEMS));
    }
    Err(report(&format!("\n{MIGRATIONS_BEHIND}"), EXIT_PROBLEMS))
}

/// The resources whose snapshot is out of date.
fn behind<'s>(before: &'s Snapshot, now: &'s Snapshot) -> Vec<&'s str> {
    let names = before.resources.keys().chain(now.resources.keys()).collect::<BTreeSet<_>>().into_iter();
    names.filter(|name| before.resources.get(*name) != now.resources.get(*name)).map(String::as_str).collect()
}

fn new(name: &str, allow_destructive: bool, dry_run: bool, folders: &Folders) -> Result<u8, u8> {
    if !is_word(name) {
        return Err(report(&format!("`{name}` is not in snake_case, such as `add_colour`"), EXIT_USAGE));
    }
    if let Some(folder) = folders.migrations.as_ref().filter(|folder| !folder.is_dir()) {
        let problem = format!(
            "the folder `{}` does not exist; `--migrations` names the folder of the migrations",
            folder.display()
        );
        return Err(report(&problem, EXIT_USAGE));
    }
    let (before, now) = folders.both()?;
    if before == now.kept() {
        stdout::line("nothing changed since the last migration");
        return Ok(EXIT_DONE);
    }
    let plan = Plan::between(&before, &now);
    if !plan.unsupported.is_empty() {
        let refused: Vec<String> = plan.unsupported.iter().map(ToString::to_string).collect();
        let refused = refused.join("\n").replace('\n', "\n  ");
        return Err(report(&format!("the migration cannot be written:\n  {refused}"), EXIT_PROBLEMS));
    }
    let lost = format!("the migration loses data:\n  {}", plan.lost.join("\n  "));
    if dry_run {
        if !plan.lost.is_empty() {
            stdout::line(format_args!("-- {}\n", lost.replace('\n', "\n-- ")));
        }
        if plan.is_empty() {
            stdout::line("-- the tables do not change; only the snapshot does");
        }
        stdout::text(sql(&plan));
        return Ok(EXIT_DONE);
    }
    if !plan.lost.is_empty() && !allow_destructive {
        let help = "`--allow-destructive` writes it anyway; for a rename, use `renamed_from`";
        return Err(report(&format!("{lost}\n{help}"), EXIT_PROBLEMS));
    }
    write(name, &plan, folders)?;
    report_written(&folders.snapshot(), now.write(&folders.snapshot()))?;
    if plan.is_empty() {
        stdout::line("the tables do not change");
    }
    plan.verifications().iter().for_each(|line| stdout::line(format_args!("when it runs, it {line}")));
    Ok(EXIT_DONE)
}

/// Lower-case letters, digits and single underscores between them.
fn is_word(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    !name.is_empty() && name.split('_').all(|part| !part.is_empty() && part.bytes().all(plain))
}

fn write(name: &str, plan: &Plan, folders: &Folders) -> Result<(), u8> {
    let folder = &folders.migrations();
    let refused =
        |problem: std::io::Error| report(&format!("{} cannot be written: {problem}", folder.display()), EXIT_PROBLEMS);
    fs::create_dir_all(folder).map_err(refused)?;
    let sentence = name.replace('_', " ");
    let sentence = sentence[..1].to_uppercase() + &sentence[1..];
    let mut number = Number::after(folder).map_err(refused)?;
    let parts = [(&plan.whole, false, String::new()), (&plan.online, true, "_online".to_owned())];
    for (steps, online, ending) in parts.into_iter().filter(|(steps, ..)| !steps.is_empty()) {
        if number.count > MAX_MIGRATIONS_PER_DAY {
            let taken = format!(
                "no number is free after m{}_{MAX_MIGRATIONS_PER_DAY}: give that migration a lower one",
                number.date
            );
            return Err(report(&taken, EXIT_PROBLEMS));
        }
        let path = folder.join(format!("{number}_{name}{ending}.rs"));
        let text = rust::formatted(&rust::file(&format!("{sentence}."), steps, online), folder);
        fs::write(&path, text).map_err(refused)?;
        stdout::line(format_args!("wrote {}", path.display()));
        number.count += 1;
    }
    Ok(())
}

fn report_written(folder: &Path, written: Result<Vec<String>, String>) -> Result<(), u8> {
    for name in written.map_err(|problem| report(&problem, EXIT_PROBLEMS))? {
        let path = folder.join(name);
        let verb = if path.exists() { "wrote" } else { "removed" };
        stdout::line(format_args!("{verb} {}", path.display()));
    }
    Ok(())
}

/// The steps as SQL, up and down, for each database.
fn sql(plan: &Plan) -> String {
    let mut text = String::new();
    for (name, dialect) in [("SQLite", Dialect::Sqlite), ("PostgreSQL", Dialect::Postgres)] {
        let ways = [
            ("up", &plan.whole, false),
            ("up, online", &plan.online, true),
            ("down, online", &Plan::undo(&plan.online), true),
            ("down", &Plan::undo(&plan.whole), false),
        ];
        for (way, steps, online) in ways.into_iter().filter(|(_, steps, _)| !steps.is_empty()) {
            text.push_str(&format!("-- {name}, {way}\n"));
            for step in steps.iter() {
                for check in checks(step, dialect) {
                    text.push_str(&format!("-- stops unless this is 0: {check};\n"));
                }
                if let Step::Fill { .. } = step {
                    text.push_str("-- in batches of 1000 rows:\n");
                }
                if let Step::Verify { rule, .. } = step {
                    text.push_str(&format!("-- warns if rows break `{rule}`:\n"));
                }
                statements(step, dialect, online).iter().for_each(|one| text.push_str(&format!("{one};\n")));
            }
            text.push('\n');
        }
    }
    text
}

/// The most migrations of one day. A number of seven digits would sort before one of six.
const MAX_MIGRATIONS_PER_DAY: u32 = 999_999;

/// The prefix of a migration's name, which gives the order: `m20261121_000001`.
struct Number {
    date: String,
    count: u32,
}

impl Number {
    /// The next number of today, or the number after the last migration if that has a later date.
    fn after(folder: &Path) -> std::io::Result<Number> {
        let mut number = Number { date: date::today().replace('-', ""), count: 1 };
        for entry in fs::read_dir(folder)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let mut parts = name.trim_start_matches('m').splitn(3, '_');
            let (Some(date), Some(count)) = (parts.next(), parts.next()) else { continue };
            let Some(count) = count.parse::<u32>().ok().filter(|count| *count <= MAX_MIGRATIONS_PER_DAY) else {
                continue;
            };
            if name.starts_with('m') && name.ends_with(".rs") && (date, count) >= (number.date.as_str(), number.count) {
                number = Number { date: date.to_owned(), count: count + 1 };
            }
        }
        Ok(number)
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "m{}_{:06}", self.date, self.count)
    }
}
