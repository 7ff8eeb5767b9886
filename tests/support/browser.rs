//! A page in a headless Chromium that a test drives by its DevTools protocol, over a pipe.
//!
//! The program is `CHROMIUM`, or is looked for in the PATH. `CHARTER_TEST_REQUIRE_BROWSER=1` makes its absence a failure;
//! otherwise it is said once, loudly, and the tests that need it pass without having run.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::chromium::Program;

/// How long anything may take, on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(40);

/// What the browser says of a page that went while something was asked of it.
const LEAVING: [&str; 3] = ["navigated or closed", "context was destroyed", "Cannot find default execution context"];

/// One page, in a browser that knows of no other.
pub struct Browser {
    /// It is there until the end.
    program: Option<Program>,
    /// What the browser keeps for this page, and for no other: cookies, above all.
    context: Value,
    session: String,
    base: String,
    /// What went wrong in the page: exceptions, and what the policy refused.
    pub problems: Vec<String>,
    /// Bytes that came over the network since [`Browser::open`], compressed as they were.
    pub received: u64,
}

impl Browser {
    /// Opens one for the pages of a server; nothing where no browser is installed.
    pub fn start(base: &str) -> Option<Browser> {
        let (session, problems) = (String::new(), Vec::new());
        let (program, base) = (Some(Program::take()?), base.to_string());
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
        Some(browser)
    }

    /// Calls a method of the protocol and answers its result.
    #[track_caller]
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.send(method, parameters);
        let until = Instant::now() + PATIENCE;
        loop {
            let heard = self.program.as_ref().and_then(|program| program.hear(until));
            let message = heard.unwrap_or_else(|| panic!("{method} was not answered"));
            if message["id"] == json!(id) {
                // What is pressed may lead away before the answer is there: then there is none.
                let said = message["error"]["message"].as_str().unwrap_or_default();
                let is_gone = LEAVING.iter().any(|words| said.contains(words));
                assert!(message["error"].is_null() || is_gone, "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.note(&message);
        }
    }

    fn send(&mut self, method: &str, parameters: Value) -> u64 {
        let mut message = json!({ "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.program.as_mut().expect("it runs").send(message)
    }

    /// Keeps what an event says.
    fn note(&mut self, event: &Value) {
        let told = &event["params"];
        // Of the page of an earlier test.
        if event["sessionId"] != json!(self.session) {
            return;
        }
        match event["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" => self.problems.push(told["exceptionDetails"].to_string()),
            // A form that is refused is answered with 422, which is no fault of the page.
            "Log.entryAdded" if told["entry"]["source"] != "network" && told["entry"]["level"] == "error" => {
                self.problems.push(told["entry"]["text"].to_string());
            }
            "Network.loadingFinished" => self.received += told["encodedDataLength"].as_f64().unwrap_or_default() as u64,
            "Page.javascriptDialogOpening" => {
                self.send("Page.handleJavaScriptDialog", json!({ "accept": true }));
            }
            _ => {}
        }
    }

    /// How wide and high the page is.
    pub fn size(&mut self, width: u32, height: u32) {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// Opens a page of the server, or one whose whole address is known.
    #[track_caller]
    pub fn open(&mut self, path: &str) {
        self.received = 0;
        let url = if path.starts_with("http") { path.to_string() } else { format!("{}{path}", self.base) };
        // So that the page before is not taken for this one.
        self.run("window.leaving = true; 1");
        let answer = self.call("Page.navigate", json!({ "url": url }));
        assert!(answer["errorText"].is_null(), "{url}: {answer}");
        self.until("!window.leaving && document.readyState === 'complete'");
    }

    /// The value of an expression in the page.
    #[track_caller]
    pub fn run(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", asked);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub fn until(&mut self, expression: &str) {
        let until = Instant::now() + PATIENCE;
        loop {
            let asked = json!({ "expression": expression, "returnByValue": true });
            let answer = self.call("Runtime.evaluate", asked);
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

    /// Waits until the page says something.
    #[track_caller]
    pub fn sees(&mut self, text: &str) {
        self.until(&format!("document.readyState === 'complete' && document.body.innerText.includes({})", json!(text)));
    }

    /// Puts text into an input as if it were typed there.
    #[track_caller]
    pub fn fill(&mut self, selector: &str, text: &str) {
        let place = json!(selector);
        let script = format!(
            "(() => {{ const at = document.querySelector({place}); at.focus(); at.value = {}; \
             at.dispatchEvent(new Event('input', {{ bubbles: true }})); \
             at.dispatchEvent(new Event('change', {{ bubbles: true }})); return true; }})()",
            json!(text)
        );
        self.run(&script);
    }

    /// Presses an element, and waits for the page that this leads to, if it leads to one.
    #[track_caller]
    pub fn press(&mut self, selector: &str) {
        self.run(&format!("document.querySelector({}).click(); true", json!(selector)));
    }

    /// Opens a tool of a list, and waits for its form, which comes once it is open.
    #[track_caller]
    pub fn unfold(&mut self, tool: &str) {
        self.press(&format!("{tool} summary"));
        self.until(&format!("document.querySelector('{tool} form') !== null"));
    }

    /// Presses what leads to another page, and waits for that.
    #[track_caller]
    pub fn follow(&mut self, selector: &str) {
        self.run("window.leaving = true; 1");
        self.press(selector);
        self.until("!window.leaving && document.readyState === 'complete'");
    }

    /// Types text, key by key, into what has the focus.
    pub fn type_text(&mut self, text: &str) {
        for letter in text.chars() {
            let key = letter.to_string();
            self.call("Input.dispatchKeyEvent", json!({ "type": "keyDown", "text": key, "key": key }));
            self.call("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key }));
        }
    }

    /// Presses a key that writes nothing: `Tab`, `Enter`, `ArrowDown`.
    pub fn key(&mut self, key: &str, with: u32) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "Escape" => 27,
            "ArrowDown" => 40,
            "Backspace" => 8,
            " " => 32,
            other => panic!("this test does not know the key {other}"),
        };
        let text = match key {
            "Enter" => "\r",
            " " => " ",
            _ => "",
        };
        let down = if text.is_empty() { "rawKeyDown" } else { "keyDown" };
        let event = |kind: &str, text: &str| json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": with, "text": text });
        self.call("Input.dispatchKeyEvent", event(down, text));
        self.call("Input.dispatchKeyEvent", event("keyUp", ""));
    }

    /// Waits until this is the first that is offered for what is typed into a reference.
    #[track_caller]
    pub fn offers(&mut self, found: &str) {
        self.until(&format!("document.querySelector('.offered:not([hidden]) li')?.innerText === {}", json!(found)));
    }

    /// Types into a reference, and takes the first that is offered.
    #[track_caller]
    pub fn refer(&mut self, selector: &str, typed: &str, found: &str) {
        self.run(&format!("document.querySelector({}).focus(); 1", json!(selector)));
        self.type_text(typed);
        self.offers(found);
        self.key("Enter", 0);
    }

    /// Chooses files for an input of that type.
    pub fn choose_files(&mut self, selector: &str, files: &[&str]) {
        let document = self.call("DOM.getDocument", json!({}));
        let asked = json!({ "nodeId": document["root"]["nodeId"], "selector": selector });
        let node = self.call("DOM.querySelector", asked);
        self.call("DOM.setFileInputFiles", json!({ "nodeId": node["nodeId"], "files": files }));
    }

    /// Path and query string of the page.
    pub fn address(&mut self) -> String {
        self.run("location.pathname + location.search").as_str().unwrap_or_default().to_string()
    }

    /// The text of an element.
    #[track_caller]
    pub fn text(&mut self, selector: &str) -> String {
        let text = self.run(&format!("document.querySelector({}).innerText", json!(selector)));
        text.as_str().unwrap_or_default().to_string()
    }

    /// Nothing was refused by the policy, and no script has failed.
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
        self.program.take().into_iter().for_each(Program::leave);
    }
}
