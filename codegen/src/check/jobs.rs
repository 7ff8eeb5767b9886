//! Checks of background jobs: their intervals, limits and names.

use std::ops::RangeInclusive;

use charter_model::{Keyword, reserved};

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Job, Name, Resource, Schema, seconds};

/// The limits of the runtime, in seconds.
const INTERVALS: RangeInclusive<u64> = 10..=366 * 24 * 60 * 60;
const TIMEOUTS: RangeInclusive<u64> = 1..=24 * 60 * 60;
const ATTEMPTS: RangeInclusive<u32> = 1..=20;

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    for job in &resource.jobs {
        duration(&job.every, "an interval", "10 seconds to 366 days", &INTERVALS, problems);
        if let Some(timeout) = &job.timeout {
            duration(timeout, "a timeout", "1 second to 24 hours", &TIMEOUTS, problems);
        }
        if let Some(attempts) = job.attempts.as_ref().filter(|attempts| !ATTEMPTS.contains(&attempts.value)) {
            let message = format!("`{}` has {} attempts", job.name.value, attempts.value);
            let problem = Diagnostic::new(Code::JobMisfit, attempts.span, message, "not from 1 to 20");
            problems.push(problem.help("write a number from 1 to 20"));
        }
        name(schema, resource, job, problems);
    }
}

fn duration(written: &Name, what: &str, limits: &str, range: &RangeInclusive<u64>, problems: &mut Problems) {
    let (message, label, help) = match seconds(written.as_str()) {
        Some(seconds) if range.contains(&seconds) => return,
        Some(_) => (format!("`{}` is out of range", written.value), "out of range", format!("{what} is from {limits}")),
        None => (format!("`{}` is no duration", written.value), "not a duration", suggestion(written.as_str())),
    };
    problems.push(Diagnostic::new(Code::JobMisfit, written.span, message, label).help(help));
}

/// `write 5m` for `5 minutes`.
fn suggestion(written: &str) -> String {
    let digits: String = written.chars().filter(char::is_ascii_digit).collect();
    let unit = written.chars().find(|c| c.is_ascii_alphabetic()).map(|c| c.to_ascii_lowercase());
    let likely = unit.map(|unit| format!("{digits}{unit}")).filter(|text| seconds(text).is_some());
    let example = likely.unwrap_or_else(|| "5m".into());
    format!("write a number with `s`, `m`, `h` or `d`, such as `{example}`")
}

/// Each job is a function of the behaviour, and a row of `background_jobs` under its name.
fn name(schema: &Schema, resource: &Resource, job: &Job, problems: &mut Problems) {
    let word = job.name.as_str();
    let hook = resource.hooks.iter().find(|point| point.hook.word() == word).map(|point| ("hook", point.span));
    let action = resource.actions.iter().find(|action| action.name.value == word);
    let taken = hook.or_else(|| action.map(|action| ("action", action.name.span)));
    if let Some((what, span)) = taken {
        let message = format!("`{word}` is the name of a job and of the {what} of `{}`", resource.name.value);
        let problem = Diagnostic::new(Code::JobMisfit, job.name.span, message, "the same function");
        problems.push(problem.related(span, format!("the {what}")).help("choose another name for one of the two"));
    } else if reserved::is_keyword(word) {
        let message = format!("`{word}` is a keyword of Rust");
        let problem = Diagnostic::new(Code::JobMisfit, job.name.span, message, "a function has this name");
        problems.push(problem.help("choose another name"));
    }
    let before = schema.declared().take_while(|other| !std::ptr::eq(*other, resource));
    let other = before.flat_map(|other| &other.jobs).find(|other| other.name.value == word);
    if let Some(other) = other {
        let message = format!("the job `{word}` is declared twice");
        let problem = Diagnostic::new(Code::JobMisfit, job.name.span, message, "again");
        problems.push(problem.related(other.name.span, "first here").help("choose another name for one of the two"));
    }
}
