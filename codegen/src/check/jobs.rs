//! Checks of background jobs: their intervals, limits and names.

use std::ops::RangeInclusive;
use std::time::Duration;

use charter_model::job::{ATTEMPTS, INTERVALS, INTERVALS_TEXT, TIMEOUTS, TIMEOUTS_TEXT};
use charter_model::{Keyword, reserved};

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Job, Name, Resource, Schema, seconds};

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    for job in &resource.jobs {
        duration(&job.every, "an interval", INTERVALS_TEXT, &INTERVALS, problems);
        if let Some(timeout) = &job.timeout {
            duration(timeout, "a timeout", TIMEOUTS_TEXT, &TIMEOUTS, problems);
        }
        if let Some(attempts) = job.attempts.as_ref().filter(|attempts| !ATTEMPTS.contains(&attempts.value)) {
            let message = format!("`{}` has {} attempts", job.name.value, attempts.value);
            let problem = Diagnostic::new(Code::JobMisfit, attempts.span, message, "not from 1 to 20");
            problems.push(problem.help("write a number from 1 to 20"));
        }
        name(schema, resource, job, problems);
    }
}

fn duration(written: &Name, what: &str, limits: &str, range: &RangeInclusive<Duration>, problems: &mut Problems) {
    let (message, label, help) = match seconds(written.as_str()) {
        Some(seconds) if range.contains(&Duration::from_secs(seconds)) => return,
        Some(_) => (format!("`{}` is out of range", written.value), "out of range", format!("{what} is from {limits}")),
        None => (format!("`{}` is no duration", written.value), "not a duration", suggestion(written.as_str())),
    };
    problems.push(Diagnostic::new(Code::JobMisfit, written.span, message, label).help(help));
}

/// `write 5m` for `5 minutes`.
fn suggestion(written: &str) -> String {
    if written.contains('.') {
        return "write a whole number in a smaller unit, such as `90m`".to_owned();
    }
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
