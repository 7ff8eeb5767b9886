//! Problems of the settings, each under the name that the operator used: `--listen` or `CHARTER_LISTEN`.

use std::fmt;

use clap::ArgMatches;

use super::{SETTINGS, Setting, TEST_PREFIX};
use charter_core::suggest::hint;

/// The problems so far, one line each.
#[derive(Default)]
pub struct Problems<'m> {
    matches: Option<&'m ArgMatches>,
    lines: Vec<String>,
}

impl<'m> Problems<'m> {
    /// Starts with the unknown variables and the variables that are not UTF-8.
    pub fn of(matches: &'m ArgMatches, environment: &[(String, String)]) -> Problems<'m> {
        Problems { matches: Some(matches), lines: invalid_variables(environment) }
    }

    /// Adds the problem of a setting: `must be an address`.
    pub fn add(&mut self, flag: &str, problem: impl fmt::Display) {
        let line = format!("{} {problem}", self.named(flag));
        self.lines.push(line);
    }

    /// The flag if it was given, else the environment variable.
    pub fn named(&self, flag: &str) -> String {
        let given = self.matches.is_some_and(|matches| matches.get_one::<String>(flag).is_some());
        match SETTINGS.iter().find(|setting| setting.flag == flag) {
            Some(setting) if !given => setting.variable(),
            _ => format!("--{flag}"),
        }
    }

    /// Fails when there is a problem.
    ///
    /// # Errors
    /// All problems, one line each.
    pub fn into_result(self) -> Result<(), String> {
        if self.lines.is_empty() { Ok(()) } else { Err(self.lines.join("\n")) }
    }
}

/// Unknown variables, and variables that are not UTF-8.
fn invalid_variables(environment: &[(String, String)]) -> Vec<String> {
    let variables: Vec<String> = SETTINGS.iter().map(Setting::variable).collect();
    let unknown = |name: &&String| !name.starts_with(TEST_PREFIX) && !variables.contains(name);
    let unknown = environment.iter().map(|(name, _)| name).filter(unknown).map(|name| {
        let hint = hint(name, variables.iter().map(String::as_str));
        format!("{name} is not a setting{hint}")
    });
    let not_utf8 = environment.iter().filter(|(_, value)| value.contains(char::REPLACEMENT_CHARACTER));
    unknown.chain(not_utf8.map(|(name, _)| format!("{name} must be UTF-8"))).collect()
}
