//! A page in headless Chromium, driven by the DevTools protocol over a pipe.
//!
//! The program is `CHROMIUM`, or the first in the PATH. Without it, the tests that need it are ignored
//! (`needs_browser!`), unless `CHARTER_TEST_REQUIRE_BROWSER=1` is set.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::chromium::Program;

/// Timeout of every step, on a machine that is busy with other tests.
const TIMEOUT: Duration = Duration::from_secs(40);

/// Errors of Chromium about a page that was left during a call.
const NAVIGATION_ERRORS: [&str; 3] =
    ["navigated or closed", "context was destroyed", "Cannot find default execution context"];

/// One page in a browser context of its own.
pub struct Browser {
    /// `Some` until the page is dropped.
    program: Option<Program>,
    /// The browser context: cookies and storage of this page only.
    context: Value,
    session: String,
    base: String,
    /// Errors in the page: exceptions and violations of the content security policy.
    pub problems: Vec<String>,
    /// Bytes received since [`Browser::open`], as transferred.
    pub received: u64,
}

impl Browser {
    /// Opens a page for a server.
    pub fn start(base: &str) -> Browser {
        let (session, problems) = (String::new(), Vec::new());
        let (program, base) = (Some(Program::take()), base.to_string());
        let mut browser = Browser { program, context: Value::Null, session, base, problems, received: 0 };
        browser.context = browser.call("Target.createBrowserContext", json!({}))["browserContextId"].clone();
        let page = json!({ "url": "about:blank", "browserContextId": browser.context });
        let target = browser.call("Target.createTarget", page);
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", attach);
        browser.session = attached["sessionId"].as_str().expect("a session").to_string();
        for domain in ["Page", "Runtime", "Log", "Network", "DOM"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.size(1280, 900);
        browser
    }

    /// Calls a method of the protocol and returns its result.
    #[track_caller]
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.send(method, parameters);
        let until = Instant::now() + TIMEOUT;
        loop {
            let received = self.program.as_ref().and_then(|program| program.receive(until));
            let message = received.unwrap_or_else(|| panic!("{method} was not answered"));
            if message["id"] == json!(id) {
                // A click can leave the page before the call returns. Then there is no result.
                let error = message["error"]["message"].as_str().unwrap_or_default();
                let has_navigated = NAVIGATION_ERRORS.iter().any(|words| error.contains(words));
                assert!(message["error"].is_null() || has_navigated, "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.record_event(&message);
        }
    }

    fn send(&mut self, method: &str, parameters: Value) -> u64 {
        let mut message = json!({ "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.program.as_mut().expect("it runs").send(message)
    }

    /// Records what an event reports.
    fn record_event(&mut self, event: &Value) {
        let parameters = &event["params"];
        // An event of an earlier test's page.
        if event["sessionId"] != json!(self.session) {
            return;
        }
        match event["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" => self.problems.push(parameters["exceptionDetails"].to_string()),
            // A rejected form gets 422, which Chromium logs as a network error.
            "Log.entryAdded"
                if parameters["entry"]["source"] != "network" && parameters["entry"]["level"] == "error" =>
            {
                self.problems.push(parameters["entry"]["text"].to_string());
            }
            "Network.loadingFinished" => {
                self.received += parameters["encodedDataLength"].as_f64().unwrap_or_default() as u64
            }
            "Page.javascriptDialogOpening" => {
                self.send("Page.handleJavaScriptDialog", json!({ "accept": true }));
            }
            _ => {}
        }
    }

    /// Sets the size of the page.
    pub fn size(&mut self, width: u32, height: u32) {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// Opens a page of the server, or an absolute URL.
    #[track_caller]
    pub fn open(&mut self, path: &str) {
        self.received = 0;
        let url = if path.starts_with("http") { path.to_string() } else { format!("{}{path}", self.base) };
        // Distinguishes the previous page from the new one.
        self.run("window.leaving = true; 1");
        let answer = self.call("Page.navigate", json!({ "url": url }));
        assert!(answer["errorText"].is_null(), "{url}: {answer}");
        self.until("!window.leaving && document.readyState === 'complete'");
    }

    /// Evaluates an expression in the page.
    #[track_caller]
    pub fn run(&mut self, expression: &str) -> Value {
        let request = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", request);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub fn until(&mut self, expression: &str) {
        let until = Instant::now() + TIMEOUT;
        loop {
            let request = json!({ "expression": expression, "returnByValue": true });
            let answer = self.call("Runtime.evaluate", request);
            if answer["result"]["value"] == json!(true) {
                return;
            }
            if Instant::now() > until {
                let text = self.run("location.href + '\\n' + document.body.innerText.slice(0, 1500)");
                panic!("not true in time: {expression}\n{}", text.as_str().unwrap_or_default());
            }
            std::thread::sleep(Duration::from_millis(25));
        }
    }

    /// Waits until the page contains a text.
    #[track_caller]
    pub fn sees(&mut self, text: &str) {
        self.until(&format!("document.readyState === 'complete' && document.body.innerText.includes({})", json!(text)));
    }

    /// Sets the text of an input, with the events of typing.
    #[track_caller]
    pub fn fill(&mut self, selector: &str, text: &str) {
        let selector = json!(selector);
        let script = format!(
            "(() => {{ const at = document.querySelector({selector}); at.focus(); at.value = {}; \
             at.dispatchEvent(new Event('input', {{ bubbles: true }})); \
             at.dispatchEvent(new Event('change', {{ bubbles: true }})); return true; }})()",
            json!(text)
        );
        self.run(&script);
    }

    /// Clicks an element.
    #[track_caller]
    pub fn press(&mut self, selector: &str) {
        self.run(&format!("document.querySelector({}).click(); true", json!(selector)));
    }

    /// Opens a tool of a list and waits for its form, which is loaded then.
    #[track_caller]
    pub fn unfold(&mut self, tool: &str) {
        self.press(&format!("{tool} summary"));
        self.until(&format!("document.querySelector('{tool} form') !== null"));
    }

    /// Clicks an element that leads to another page and waits for that page.
    #[track_caller]
    pub fn follow(&mut self, selector: &str) {
        self.run("window.leaving = true; 1");
        self.press(selector);
        self.until("!window.leaving && document.readyState === 'complete'");
    }

    /// Types text into the focused element, key by key.
    pub fn type_text(&mut self, text: &str) {
        for letter in text.chars() {
            let key = letter.to_string();
            self.call("Input.dispatchKeyEvent", json!({ "type": "keyDown", "text": key, "key": key }));
            self.call("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key }));
        }
    }

    /// Presses a control key: `Tab`, `Enter`, `ArrowDown`.
    pub fn key(&mut self, key: &str, modifiers: u32) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "Escape" => 27,
            "ArrowUp" => 38,
            "ArrowDown" => 40,
            "Backspace" => 8,
            "F2" => 113,
            " " => 32,
            other => panic!("this test does not know the key {other}"),
        };
        let text = match key {
            "Enter" => "\r",
            " " => " ",
            _ => "",
        };
        let down = if text.is_empty() { "rawKeyDown" } else { "keyDown" };
        let event = |kind: &str, text: &str| json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers, "text": text });
        self.call("Input.dispatchKeyEvent", event(down, text));
        self.call("Input.dispatchKeyEvent", event("keyUp", ""));
    }

    /// Waits until this is the first suggestion for the text in a reference input.
    #[track_caller]
    pub fn offers(&mut self, found: &str) {
        let first = "document.querySelector('.offered:not([hidden]) li')?.firstChild.textContent";
        self.until(&format!("{first} === {}", json!(found)));
    }

    /// Types into a reference input and takes the first suggestion.
    #[track_caller]
    pub fn refer(&mut self, selector: &str, text: &str, found: &str) {
        self.run(&format!("document.querySelector({}).focus(); 1", json!(selector)));
        self.type_text(text);
        self.offers(found);
        self.key("Enter", 0);
    }

    /// Chooses files for a file input.
    pub fn choose_files(&mut self, selector: &str, files: &[&str]) {
        let document = self.call("DOM.getDocument", json!({}));
        let request = json!({ "nodeId": document["root"]["nodeId"], "selector": selector });
        let node = self.call("DOM.querySelector", request);
        self.call("DOM.setFileInputFiles", json!({ "nodeId": node["nodeId"], "files": files }));
    }

    /// Path and query string of the page.
    pub fn address(&mut self) -> String {
        self.run("location.pathname + location.search").as_str().unwrap_or_default().to_string()
    }

    /// Text of an element.
    #[track_caller]
    pub fn text(&mut self, selector: &str) -> String {
        let text = self.run(&format!("document.querySelector({}).innerText", json!(selector)));
        text.as_str().unwrap_or_default().to_string()
    }

    /// Asserts that no script failed and the policy blocked nothing.
    #[track_caller]
    pub fn is_clean(&mut self) {
        self.run("1");
        assert!(self.problems.is_empty(), "{:#?}", self.problems);
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return self.program.take().into_iter().for_each(Program::end);
        }
        self.session.clear();
        let context = json!({ "browserContextId": self.context });
        self.call("Target.disposeBrowserContext", context);
        self.program.take().into_iter().for_each(Program::release);
    }
}
