//! Report of a comparison, as text and as JSON.

use serde_json::{Value, json};

use super::{Change, Diff, Effect};

impl Effect {
    /// The effect on clients, in a word.
    pub fn word(self) -> &'static str {
        match self {
            Effect::Internal | Effect::Addition => "safe",
            Effect::Breaking => "breaking",
        }
    }

    /// The part of a semantic version that must rise.
    pub fn part(self) -> &'static str {
        match self {
            Effect::Internal => "patch",
            Effect::Addition => "minor",
            Effect::Breaking => "major",
        }
    }
}

impl Change {
    /// `product.fields.name`
    pub fn place(&self) -> String {
        if self.at.is_empty() { self.resource.clone() } else { format!("{}.{}", self.resource, self.at) }
    }
}

impl Diff {
    /// Advice on the version number.
    pub fn advice(&self) -> &'static str {
        self.effect().map_or("none", Effect::part)
    }

    /// One line for each change, the greatest effect first, and a summary.
    pub fn render(&self) -> String {
        let mut changes: Vec<&Change> = self.changes.iter().collect();
        changes.sort_by_key(|change| std::cmp::Reverse(change.effect));
        let mut text = String::new();
        for change in changes {
            text.push_str(&format!("{:8}  {}: {}\n", change.effect.word(), change.place(), change.message));
            if let Some(data) = &change.data {
                text.push_str(&format!("{:8}  data: {data}\n", ""));
            }
        }
        text.push_str(&self.summary());
        text
    }

    fn summary(&self) -> String {
        let count = |effect: &str| self.changes.iter().filter(|change| change.effect.word() == effect).count();
        let dangerous = self.changes.iter().filter(|change| change.data.is_some()).count();
        match self.effect() {
            None => "no change\n".to_owned(),
            Some(effect) => format!(
                "\n{} breaking for clients, {} safe, {dangerous} dangerous for data: a {} version\n",
                count("breaking"),
                count("safe"),
                effect.part()
            ),
        }
    }

    pub fn to_json(&self) -> Value {
        let changes = self.changes.iter().map(|change| {
            json!({
                "resource": change.resource,
                "at": change.at,
                "clients": change.effect.word(),
                "version": change.effect.part(),
                "message": change.message,
                "data": change.data,
            })
        });
        json!({ "version": self.advice(), "dangerous": self.is_dangerous(), "changes": changes.collect::<Vec<_>>() })
    }
}
