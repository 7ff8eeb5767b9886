//! A crawler of the panel: it follows every link, and finds every form that changes something.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use regex::Regex;

use crate::panel::CookieClient;

/// Pages of one crawl, far more than the panel has with one record of each resource.
const MAX_PAGES: usize = 1000;

/// A form with `method="post"`, filled in like a person would, once for each of its buttons.
#[derive(Debug, Clone)]
pub struct Form {
    pub action: String,
    pub fields: Vec<(String, String)>,
}

impl Form {
    pub async fn submit(&self, panel: &mut CookieClient) -> u16 {
        let fields: Vec<(&str, &str)> =
            self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        panel.post(&self.action, &fields).await.status
    }
}

/// The pages and forms that a user reaches from the dashboard.
#[derive(Debug, Default)]
pub struct Crawl {
    /// The text of each page by its path.
    pub pages: BTreeMap<String, String>,
    /// The forms, each once.
    pub forms: Vec<Form>,
}

impl Crawl {
    /// Follows every link. Of paths that differ in ids or in the values of parameters alone, one is followed.
    pub async fn of(panel: &mut CookieClient) -> Crawl {
        let mut crawl = Crawl::default();
        let (mut seen, mut seen_forms) = (BTreeSet::new(), BTreeSet::new());
        let mut queue = VecDeque::from(["/".to_string()]);
        while let Some(path) = queue.pop_front() {
            if !seen.insert(pattern(&path)) {
                continue;
            }
            assert!(crawl.pages.len() < MAX_PAGES, "the panel has too many pages: {:?}", crawl.pages.keys());
            let page = panel.get(&path).await;
            assert!(page.status < 500, "{path}: {}", page.text);
            let (links, forms) = read(&path, &page.text);
            queue.extend(links);
            for form in forms {
                let names: Vec<&String> = form.fields.iter().map(|(name, _)| name).collect();
                if seen_forms.insert(format!("{} {names:?}", pattern(&form.action))) {
                    crawl.forms.push(form);
                }
            }
            crawl.pages.insert(path, page.text);
        }
        crawl
    }
}

/// A path with the names of its parameters, without ids and values.
fn pattern(path: &str) -> String {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let is_id = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let segments: Vec<&str> = path.split('/').map(|part| if is_id(&part) { "{id}" } else { part }).collect();
    let names: BTreeSet<&str> = query.split('&').filter_map(|pair| pair.split('=').next()).collect();
    format!("{}?{names:?}", segments.join("/"))
}

/// The local links and the forms of a page.
fn read(path: &str, html: &str) -> (Vec<String>, Vec<Form>) {
    let tags = Regex::new(r#"<(/?(?:a|form|input|select|option|textarea|button))((?:\s+[a-z-]+(?:="[^"]*")?)*)\s*>"#);
    let (mut links, mut forms) = (Vec::new(), Vec::new());
    let mut open: Option<OpenForm> = None;
    let mut select: Option<(String, Option<String>)> = None;
    for tag in tags.expect("a pattern").captures_iter(html) {
        let attributes = attributes(&tag[2]);
        let get = |name: &str| attributes.get(name).map(String::as_str);
        match (&tag[1], &mut open) {
            ("a", _) => links.extend(get("href").filter(|href| is_page(href)).map(String::from)),
            ("form", _) if get("method") == Some("post") => {
                let action = get("action").unwrap_or(path).to_string();
                open = Some(OpenForm { action, fields: Vec::new(), buttons: Vec::new() });
            }
            ("/form", Some(_)) => forms.extend(open.take().expect("it is open").filled()),
            ("input", Some(form)) => form.input(&get),
            ("textarea", Some(form)) => form.fields.extend(get("name").map(|name| (name.into(), "Changed".into()))),
            ("button", Some(form)) => {
                let button = (get("name").unwrap_or_default().into(), get("value").unwrap_or_default().into());
                form.buttons.push((get("formaction").map(String::from), button));
            }
            ("select", Some(_)) => select = get("name").map(|name| (name.into(), None)),
            // The last choice, which is rarely the current one.
            ("option", Some(_)) => {
                if let (Some((_, chosen)), Some(value)) = (&mut select, get("value")) {
                    *chosen = Some(value.to_string());
                }
            }
            ("/select", Some(form)) => {
                if let Some((name, Some(value))) = select.take() {
                    form.fields.push((name, value));
                }
            }
            _ => {}
        }
    }
    (links, forms)
}

/// True for a page of the panel, in contrast to files, documents and the API.
fn is_page(href: &str) -> bool {
    let others = ["//", "/panel/assets/", "/docs", "/files/", "/api/"];
    href.starts_with('/') && !others.iter().any(|other| href.starts_with(other))
}

/// A form that is read.
struct OpenForm {
    action: String,
    fields: Vec<(String, String)>,
    /// The address of each button, if it has its own, and its name and value.
    buttons: Vec<(Option<String>, (String, String))>,
}

impl OpenForm {
    fn input<'a>(&mut self, get: &impl Fn(&str) -> Option<&'a str>) {
        let Some(name) = get("name") else { return };
        let (kind, value) = (get("type").unwrap_or("text"), get("value").unwrap_or_default());
        let value = match kind {
            "radio" if self.fields.iter().any(|(known, _)| known == name) => return,
            "hidden" | "checkbox" | "radio" => value.to_string(),
            "password" => "correct horse battery staple".into(),
            "number" => "1".into(),
            "date" => "2026-05-01".into(),
            "datetime-local" => "2026-05-01T10:00".into(),
            "time" => "10:00".into(),
            "email" => "changed@example.com".into(),
            "url" => "https://example.com/changed".into(),
            _ if get("inputmode").is_some() => "1".into(),
            _ => "Changed".into(),
        };
        self.fields.push((name.to_string(), value));
    }

    /// The form as each of its buttons sends it.
    fn filled(self) -> Vec<Form> {
        let filled = |(action, button): (Option<String>, (String, String))| {
            let mut fields = self.fields.clone();
            fields.extend(Some(button).filter(|(name, _)| !name.is_empty()));
            Form { action: action.unwrap_or_else(|| self.action.clone()), fields }
        };
        self.buttons.iter().cloned().map(filled).collect()
    }
}

fn attributes(written: &str) -> BTreeMap<String, String> {
    let pattern = Regex::new(r#"([a-z-]+)(?:="([^"]*)")?"#).expect("a pattern");
    let unescape =
        |text: &str| text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    let pair = |found: regex::Captures<'_>| {
        (found[1].to_string(), found.get(2).map_or_else(String::new, |value| unescape(value.as_str())))
    };
    pattern.captures_iter(written).map(pair).collect()
}
