//! What is wrong with the settings, each named as it was given: `--listen` or `CHARTER_LISTEN`.

use std::fmt;

use clap::ArgMatches;

use super::{SETTINGS, Setting, TEST_PREFIX};
use crate::query::hint;

/// The problems so far, a line each.
#[derive(Default)]
pub struct Problems<'m> {
    matches: Option<&'m ArgMatches>,
    lines: Vec<String>,
}

impl<'m> Problems<'m> {
    /// Those of variables that are no settings, or hold no text.
    pub fn of(matches: &'m ArgMatches, environment: &[(String, String)]) -> Problems<'m> {
        Problems { matches: Some(matches), lines: misnamed(environment) }
    }

    /// Adds what is wrong with a setting: `must be an address`.
    pub fn add(&mut self, flag: &str, problem: impl fmt::Display) {
        let line = format!("{} {problem}", self.named(flag));
        self.lines.push(line);
    }

    /// The flag where it was given, and else the variable, which may be unset.
    pub fn named(&self, flag: &str) -> String {
        let given = self.matches.is_some_and(|matches| matches.get_one::<String>(flag).is_some());
        match SETTINGS.iter().find(|setting| setting.flag == flag) {
            Some(setting) if !given => setting.variable(),
            _ => format!("--{flag}"),
        }
    }

    /// # Errors
    /// All problems in one text.
    pub fn into_result(self) -> Result<(), String> {
        if self.lines.is_empty() { Ok(()) } else { Err(self.lines.join("\n")) }
    }
}

/// Variables that are no settings, or hold no text.
fn misnamed(environment: &[(String, String)]) -> Vec<String> {
    let variables: Vec<String> = SETTINGS.iter().map(Setting::variable).collect();
    let unknown = |name: &&String| !name.starts_with(TEST_PREFIX) && !variables.contains(name);
    let unknown = environment.iter().map(|(name, _)| name).filter(unknown).map(|name| {
        let hint = hint(name, variables.iter().map(String::as_str));
        format!("{name} is not a setting{hint}")
    });
    let unread = environment.iter().filter(|(_, value)| value.contains(char::REPLACEMENT_CHARACTER));
    unknown.chain(unread.map(|(name, _)| format!("{name} must be UTF-8"))).collect()
}
