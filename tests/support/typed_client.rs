//! Typed client of a running server, checked by the compiler of its language, and scripts that use it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use charter_codegen::client::{self, Language};
use charter_testing::{Folder, search};
use serde_json::{Value, json};

use super::Server;

/// The folder of the scripts.
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/typed_clients");

/// A folder with the client and scripts.
pub struct TypedClient {
    folder: Folder,
    language: Language,
    token: String,
}

impl TypedClient {
    /// Writes the client from the document that the server sends, and checks the types of the client and of these
    /// scripts, which are named without their endings.
    pub async fn of(server: &Server, language: Language, scripts: &[&str]) -> TypedClient {
        let document = server.anonymous().get("/openapi.json").await.ok();
        let token = server.token(&["*"]).await;
        let scripts: Vec<String> = scripts.iter().map(|name| (*name).to_owned()).collect();
        let checked = move || TypedClient::checked(&document, language, &scripts, token);
        tokio::task::spawn_blocking(checked).await.expect("the client is checked")
    }

    fn checked(document: &Value, language: Language, scripts: &[String], token: String) -> TypedClient {
        let source = client::write(document, language).expect("a client");
        let (name, ending) = match language {
            Language::TypeScript => ("client.ts", "ts"),
            Language::Python => ("charter_client.py", "py"),
        };
        let client = TypedClient { folder: Folder::create(), language, token };
        fs::write(client.path(name), source).expect("the client is written");
        for script in scripts {
            let file = format!("{script}.{ending}");
            fs::copy(Path::new(SCRIPTS).join(&file), client.path(&file)).expect("a script");
        }
        client.compile();
        client
    }

    /// Checks the types of all files, and translates TypeScript.
    fn compile(&self) {
        match self.language {
            Language::TypeScript => {
                fs::write(self.path("tsconfig.json"), typescript_settings().to_string()).expect("the settings");
                fs::write(self.path("package.json"), r#"{"type":"module"}"#).expect("the package");
                let tsc = search::tsc().expect("CHARTER_TEST_TSC is the TypeScript compiler, which .ci/run installs");
                self.succeed(Command::new(tsc).args(["-p", "."]));
            }
            Language::Python => self.succeed(python().args(["-m", "mypy", "--strict", "."])),
        }
    }

    /// Compiles and runs a script with this text, in which the address and the token of the samples are replaced.
    pub async fn run_text(self, script: &str, text: &str, url: &str) -> String {
        let text = text.replace("https://api.example.com", url).replace("chr_...", &self.token);
        let ending = if self.language == Language::TypeScript { "ts" } else { "py" };
        fs::write(self.path(&format!("{script}.{ending}")), text).expect("the script is written");
        let compiled = move || {
            self.compile();
            self
        };
        let client = tokio::task::spawn_blocking(compiled).await.expect("the script compiles");
        client.run(script, url, &[]).await
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a script with the URL of a server, a token and these arguments, and returns its output.
    pub async fn run(&self, script: &str, url: &str, arguments: &[&str]) -> String {
        let mut command = match self.language {
            Language::TypeScript => {
                let mut node = Command::new("node");
                node.arg(format!("{script}.js"));
                node
            }
            Language::Python => {
                let mut python = python();
                python.arg(format!("{script}.py"));
                python
            }
        };
        command.args([url, &self.token]).args(arguments).current_dir(self.folder.path());
        tokio::task::spawn_blocking(move || output(&mut command)).await.expect("the script succeeds")
    }

    fn succeed(&self, command: &mut Command) {
        output(command.current_dir(self.folder.path()));
    }
}

/// Strict settings, in which the client must compile in applications too.
fn typescript_settings() -> Value {
    json!({ "compilerOptions": {
        "strict": true, "noUncheckedIndexedAccess": true, "exactOptionalPropertyTypes": true, "noImplicitOverride": true,
        "noImplicitReturns": true, "isolatedModules": true, "verbatimModuleSyntax": true, "erasableSyntaxOnly": true,
        "target": "es2022", "module": "nodenext", "lib": ["es2022", "dom", "dom.iterable"], "types": [],
    } })
}

fn python() -> Command {
    let python = search::client_python();
    Command::new(python.expect("CHARTER_TEST_CLIENT_PYTHON is Python with httpx and mypy, which .ci/run installs"))
}

fn output(command: &mut Command) -> String {
    let program = command.get_program().to_os_string();
    let output = command.output().unwrap_or_else(|error| panic!("{} does not run: {error}", shown(&program)));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{} fails ({}):\n{out}\n{err}", shown(&program), output.status);
    out
}

fn shown(program: &OsStr) -> String {
    program.to_string_lossy().into_owned()
}
