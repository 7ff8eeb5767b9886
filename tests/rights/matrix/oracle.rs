//! The oracle: an answer has no marker that its caller may not see, is the same in both worlds, and is that of a record which does
//! not exist if it is about one that the caller does not see.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

use futures_util::StreamExt;
use futures_util::stream::iter;
use regex::Regex;

use super::callers::Caller;
use super::exceptions::{is_silent, is_silent_of, publications};
use super::marker::Marker;
use super::request::{ABSENT, Request};
use super::to_many::is_over_several;
use super::world::World;

/// Requests that are on their way at the same time, unless the order of their effects matters.
pub const CONCURRENCY: usize = 8;
/// Length of the excerpt of an answer on each side of a difference.
const EXCERPT: usize = 160;
/// Problems of one caller that are printed.
const MAX_PRINTED: usize = 40;

/// A kind of door of a resource; the resource is empty for a door of several.
pub type Door = (&'static str, &'static str);

/// The doors, and those whose answers to the administrator differ between the worlds.
#[derive(Debug, Default)]
pub struct Tally {
    /// The doors, each with its first request and the first line of the answer.
    pub doors: BTreeMap<Door, String>,
    pub telling: BTreeSet<Door>,
    /// Doors through which a caller whose answers are compared has written.
    pub passed: BTreeSet<Door>,
}

/// The markers that one caller must not receive in one world.
pub struct Forbidden {
    words: HashMap<String, Marker>,
    others: Vec<(String, Marker)>,
    /// Texts that the caller is shown on other records, which differ between the worlds.
    published: Vec<String>,
}

impl Forbidden {
    pub fn of(world: &World, caller: &Caller) -> Forbidden {
        let catalog = &world.server.state.catalog;
        let published: Vec<String> = publications(world, caller).into_iter().flat_map(|marker| marker.texts).collect();
        let (mut words, mut others) = (HashMap::new(), Vec::new());
        for marker in world.markers.iter().filter(|marker| !caller.may_see(catalog, marker)) {
            for text in marker.texts.iter().filter(|text| !published.contains(text)) {
                if is_word(text) {
                    words.insert(text.clone(), marker.clone());
                } else {
                    others.push((text.clone(), marker.clone()));
                }
            }
        }
        Forbidden { words, others, published }
    }

    /// The first forbidden marker of an answer that the request did not name, and its position.
    pub fn find(&self, answer: &str, request: &str) -> Option<(usize, &Marker)> {
        let mut start = 0;
        for part in answer.split(|character: char| !character.is_ascii_alphanumeric()) {
            if (7..=8).contains(&part.len())
                && let Some(marker) = self.words.get(part)
                && !request.contains(part)
            {
                return Some((start, marker));
            }
            start += part.len() + 1;
            while !answer.is_char_boundary(start.min(answer.len())) {
                start += 1;
            }
        }
        let others = self.others.iter().filter(|(text, _)| !request.contains(text.as_str()));
        others.filter_map(|(text, marker)| Some((answer.find(text.as_str())?, marker))).next()
    }
}

/// True for a marker that stands between characters that are no letters or digits.
fn is_word(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Removes what differs from one answer to the next: times, and secrets of forms.
pub struct Normal {
    rules: Vec<(Regex, &'static str)>,
    /// The tag in the answer of a tool.
    tag: Regex,
}

impl Normal {
    pub fn new() -> Normal {
        let rules = [
            (r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|\+00:00)?", "<time>"),
            (r#"name="(_token|panel-token)" (value|content)="[^"]*""#, "<token>"),
            (r"\b01[0-9A-Z]{6}…[0-9A-Z]{4}\b", "<request>"),
            (r"20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}(:[0-9]{2})?", "<time>"),
            (r"[0-9]{1,2} [A-Z][a-z]{2} 20[0-9]{2}, [0-9]{2}:[0-9]{2}", "<time>"),
            (r"_token=[0-9a-f]+", "<token>"),
            (r#"name="_key" value="[^"]*""#, "<key>"),
            (r"127\.0\.0\.1:[0-9]+", "<address>"),
            (r"/files/[^\x22 ]+", "<file>"),
            (r"\b01[0-9A-Z]{24}\b", "<request>"),
            (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<uuid>"),
        ];
        let rules = rules.map(|(pattern, text)| (Regex::new(pattern).expect("a pattern"), text)).into();
        Normal { rules, tag: Regex::new(r#"etag\\*":[\\"0-9a-f.]+|name="_version" value="[^"]*"#).expect("a pattern") }
    }

    fn of(&self, answer: &str, published: &[String], ignores_tag: bool) -> String {
        let mut text = answer.to_string();
        if ignores_tag {
            text = without(&self.tag.replace_all(&text, "etag"), "etag: ");
        }
        for (pattern, with) in &self.rules {
            if let std::borrow::Cow::Owned(replaced) = pattern.replace_all(&text, *with) {
                text = replaced;
            }
        }
        for publication in published {
            if text.contains(publication.as_str()) {
                text = text.replace(publication.as_str(), "<published>");
            }
        }
        text
    }
}

impl Tally {
    /// The doors whose answers to the administrator have nothing hidden: their requests show nothing. Each kind of door has to tell
    /// something, and each door of a resource that hides something.
    pub fn blind(&self, world: &World) -> String {
        let telling: BTreeSet<&str> = self.telling.iter().map(|(door, _)| *door).collect();
        let mut blind = String::new();
        for ((door, resource), first) in self.doors.iter().filter(|(door, _)| !self.telling.contains(*door)) {
            let hides = is_over_several(door) || !resource.is_empty() && world.hides_something(resource);
            let is_blind = !telling.contains(door) || hides && !is_silent_of(door, resource);
            if is_blind && !is_silent(door) {
                let _ = writeln!(blind, "administrator | {door} | {resource} | has nothing hidden: {first}");
            }
        }
        blind
    }
}

/// Sends all requests as one caller, in both worlds, `at_once` of them at the same time, and returns the problems.
pub async fn problems(
    worlds: [&World; 2],
    position: usize,
    requests: &[Request],
    at_once: usize,
    tally: &mut Tally,
) -> String {
    let callers = worlds.map(|world| &world.callers[position]);
    let forbidden = [Forbidden::of(worlds[0], callers[0]), Forbidden::of(worlds[1], callers[1])];
    // Both, because an answer can repeat a part of its request.
    let published: Vec<String> = forbidden.iter().flat_map(|one| one.published.clone()).collect();
    let normal = Normal::new();
    let is_sent = |request: &&Request| {
        let is_deep = callers[0].is_admin() || callers[0].is_compared() || !request.path.contains('?');
        request.is_basic || callers[0].reads_anything() && is_deep
    };
    let sent: Vec<&Request> = requests.iter().filter(is_sent).collect();
    let answers = iter(sent).map(|request| async move {
        let absent = request.names.filter(|(resource, id)| {
            let entry = worlds[0].entry(resource);
            let row = worlds[0].rows_of(resource).find(|row| row.id == *id);
            row.is_some_and(|row| !callers[0].sees(entry, row.role))
        });
        let (one, other) = tokio::join!(request.send(callers[0]), request.send(callers[1]));
        let of_absent = match absent {
            Some((_, id)) => request.of_absent(id).send(callers[0]).await.map(|answer| (id, answer)),
            None => None,
        };
        (request, one, other, of_absent)
    });
    let mut answers = answers.buffered(at_once);
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    let mut printed = String::new();
    let mut report = |request: &Request, what: &str, excerpt: String| {
        let count = found.entry(format!("{}: {what}", request.door)).or_default();
        *count += 1;
        if *count <= 2 && found.len() <= MAX_PRINTED {
            let _ = writeln!(
                printed,
                "{} | {} | {what}\n    {} {}\n    {excerpt}",
                callers[0].name,
                request.door,
                request.method,
                request.text()
            );
        }
    };
    while let Some((request, one, other, of_absent)) = answers.next().await {
        let (Some(one), Some(other)) = (one, other) else { continue };
        let text = request.text();
        for (answer, forbidden) in [(&one, &forbidden[0]), (&other, &forbidden[1])] {
            if let Some((at, marker)) = forbidden.find(answer, &text) {
                let what = format!("shows {}.{} of the {:?} record", marker.resource, marker.field, marker.role);
                report(request, &what, excerpt(answer, at));
            }
            if answer.starts_with('5') {
                report(request, "fails", excerpt(answer, 0));
            }
        }
        let door = (request.door, request.resource);
        let normals = [&one, &other].map(|answer| normal.of(answer, &published, request.ignores_tag));
        let differs = normals[0] != normals[1];
        if callers[0].is_admin() {
            let first = || format!("{}: {}", text.trim(), one.lines().next().unwrap_or_default());
            tally.doors.entry(door).or_insert_with(first);
            if differs {
                tally.telling.insert(door);
            }
        } else if callers[0].is_compared() && one.starts_with('2') {
            tally.passed.insert(door);
        }
        if differs && request.is_compared && callers[0].is_compared() {
            report(request, "tells the worlds apart", difference(&normals[0], &normals[1]));
        }
        if let Some((id, absent)) = of_absent {
            let absent = normal.of(&absent, &published, request.ignores_tag);
            // An answer that repeats an id has its length in a header.
            let known = without(&normals[0], "content-length: ");
            let unknown = without(&absent.replace(&ABSENT.to_string(), &id.to_string()), "content-length: ");
            if known != unknown {
                report(request, "tells a hidden record from an absent one", difference(&known, &unknown));
            }
        }
    }
    if !found.is_empty() {
        let _ = writeln!(printed, "{}: {found:#?}", callers[0].name);
        return printed;
    }
    String::new()
}

/// The answer without a header.
fn without(answer: &str, header: &str) -> String {
    answer.lines().filter(|line| !line.starts_with(header)).collect::<Vec<_>>().join("\n").trim_end().into()
}

fn excerpt(answer: &str, at: usize) -> String {
    let start = answer.floor_char_boundary(at.saturating_sub(EXCERPT));
    let end = answer.floor_char_boundary((at + EXCERPT).min(answer.len()));
    format!("{} … {:?}", answer.lines().next().unwrap_or_default(), &answer[start..end])
}

fn difference(one: &str, other: &str) -> String {
    let at = one.bytes().zip(other.bytes()).position(|(one, other)| one != other);
    let at = at.unwrap_or_else(|| one.len().min(other.len()));
    format!("{}\n    {}", excerpt(one, at), excerpt(other, at))
}
