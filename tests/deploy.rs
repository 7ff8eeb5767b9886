//! The files of `deploy/`: their settings, the confinement of the server, and requests through both proxies.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use charter_runtime::config::{SETTINGS, Setting};
use charter_testing::postgres::free_port;
use charter_testing::{Folder, needs_deployment, search};
use serde_json::Value;

use crate::routes::attachments::{Form, member};
use crate::support::{Database, Server, run};

fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The services of a compose file, by name, with their aliases resolved.
fn services(name: &str) -> serde_json::Map<String, Value> {
    let file: Value = serde_yaml::from_str(&text(name)).expect("it is YAML");
    file["services"].as_object().expect("services").clone()
}

/// A server that meets an unknown variable does not start.
#[test]
fn every_variable_of_the_files_is_a_setting() {
    let known: BTreeSet<String> = SETTINGS.iter().map(Setting::variable).collect();
    for name in ["Dockerfile", "compose.sqlite.yaml", "compose.postgres.yaml", "charter.service", "Caddyfile"] {
        let text = text(name);
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let named: BTreeSet<&str> = words.filter(|word| word.starts_with("CHARTER_")).collect();
        let unknown: Vec<_> = named.iter().filter(|variable| !known.contains(**variable)).collect();
        assert!(unknown.is_empty(), "{name}: {unknown:?}");
    }
}

#[test]
fn compose_files_confine_the_server() {
    for (file, servers) in [("compose.sqlite.yaml", 1), ("compose.postgres.yaml", 2)] {
        let services = services(file);
        let charter: Vec<&Value> =
            services.iter().filter(|(name, _)| name.starts_with("charter")).map(|(_, service)| service).collect();
        assert_eq!(charter.len(), servers, "{file}");
        for service in charter {
            assert_eq!(service["read_only"], true, "{file}");
            assert_eq!(service["cap_drop"][0], "ALL", "{file}");
            assert!(service.get("ports").is_none(), "{file}: only the proxy is reachable");
        }
    }
}

/// The image has no other libraries than those of the C compiler.
#[cfg(target_os = "linux")]
#[test]
fn program_needs_only_the_libraries_of_the_image() {
    let listed = Command::new("ldd").arg(env!("CARGO_BIN_EXE_charter")).output().expect("ldd runs");
    let listed = String::from_utf8(listed.stdout).expect("text");
    for line in listed.lines().map(str::trim) {
        let known =
            ["linux-vdso.so", "libgcc_s.so", "libm.so", "libc.so", "/lib", "libpthread.so", "libdl.so", "librt.so"];
        assert!(known.iter().any(|library| line.starts_with(library)), "{listed}");
    }
}

/// A proxy, stopped when this is dropped.
struct Proxy(Child);

impl Drop for Proxy {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(program: &str, folder: &Folder, arguments: &[&str], variables: &[(&str, String)]) -> Proxy {
    let mut command = Command::new(search::program(program).expect("it is installed"));
    command.args(arguments).current_dir(folder.path()).envs(variables.iter().map(|(name, value)| (name, value)));
    command.env("HOME", folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
    Proxy(command.spawn().expect("it runs"))
}

/// A user at work through a proxy: a record, the largest file, and an export.
async fn use_through(port: u16, server: &Server, program: &str) {
    let direct = server.admin();
    let address = format!("127.0.0.1:{port}").parse().expect("an address");
    let client = direct.at(address);
    let started = Instant::now();
    while std::net::TcpStream::connect(address).is_err() {
        assert!(started.elapsed() < Duration::from_secs(20), "{program} does not start");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let member = member(server).await;
    let file = vec![b'x'; 20 * 1024 * 1024];
    let uploaded = Form::default().on(&member).file("large.txt", &file).send(&client).await;
    assert_eq!(uploaded.created("attachment")["file_size"], file.len(), "{program}");
    let exported = client.with("accept", "text/csv").get("/members").await;
    assert!(exported.status == 200 && exported.text.lines().count() > 1, "{program}: {}", exported.text);
}

needs_deployment! {
    #[test]
    fn requests_and_uploads_pass_nginx() {
        run(Database::Sqlite, |server: Server| async move {
            let (folder, port) = (Folder::create(), free_port());
            // Without TLS, whose certificate the operator brings.
            let settings: String = text("nginx.conf")
                .replace("listen 443 ssl http2;", &format!("listen 127.0.0.1:{port};"))
                .replace("listen 80;", &format!("listen 127.0.0.1:{};", free_port()))
                .replace("127.0.0.1:8000", &server.address.to_string())
                .lines()
                .filter(|line| !line.trim_start().starts_with("ssl_certificate"))
                .map(|line| format!("{line}\n"))
                .collect();
            let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(|kind| format!("{kind}_temp_path {kind};\n"));
            let whole = format!(
                "pid nginx.pid;\nerror_log error.log;\nevents {{}}\nhttp {{\naccess_log off;\n{}{settings}}}\n",
                temporary.concat()
            );
            std::fs::write(folder.path().join("nginx.conf"), whole).expect("the folder can be written");
            let prefix = folder.path().display().to_string();
            let arguments = ["-p", &prefix, "-c", "nginx.conf", "-g", "daemon off; master_process off;"];
            let _nginx = start("nginx", &folder, &arguments, &[]);
            use_through(port, &server, "nginx").await;
        });
    }

    #[test]
    fn requests_and_uploads_pass_caddy() {
        run(Database::Sqlite, |server: Server| async move {
            let (folder, port) = (Folder::create(), free_port());
            let settings = format!("{{\n\tadmin off\n}}\n{}", text("Caddyfile"));
            std::fs::write(folder.path().join("Caddyfile"), settings).expect("the folder can be written");
            // An address with http:// has no certificate.
            let variables = [("DOMAIN", format!("http://127.0.0.1:{port}")), ("UPSTREAMS", server.address.to_string())];
            let arguments = ["run", "--config", "Caddyfile", "--adapter", "caddyfile"];
            let _caddy = start("caddy", &folder, &arguments, &variables);
            use_through(port, &server, "caddy").await;
        });
    }

    #[test]
    fn unit_of_systemd_is_valid() {
        let folder = Folder::create();
        let unit = text("charter.service").replace("/usr/local/bin/charter", env!("CARGO_BIN_EXE_charter"));
        let path = folder.path().join("charter.service");
        std::fs::write(&path, unit).expect("the folder can be written");
        let analyze = search::program("systemd-analyze").expect("it is installed");
        let verified = Command::new(analyze).arg("verify").arg(&path).output().expect("it runs");
        assert!(verified.status.success() && verified.stderr.is_empty(), "{}", String::from_utf8_lossy(&verified.stderr));
    }
}
