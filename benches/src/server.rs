//! A server under measurement: started, asked, and its CPU and memory read from the kernel.

// Several programs include this file, and none of them uses all of it.
#![allow(dead_code)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Builds the server, unless the variable SERVER says where another build of it is, and answers where it is.
pub fn built(root: &Path) -> PathBuf {
    std::env::var("SERVER").map_or_else(
        |_| {
            build(root, &["--package", "charter", "--bin", "charter"]);
            root.join("target/release/charter")
        },
        PathBuf::from,
    )
}

/// Builds what the arguments say, for release.
pub fn build(root: &Path, arguments: &[&str]) {
    let status = Command::new(env!("CARGO")).args(["build", "--release"]).args(arguments).current_dir(root).status();
    assert!(status.expect("cargo runs").success(), "the build failed");
}

/// Runs one of the server's commands to its end, and answers what it prints.
pub fn run(program: &Path, environment: &[(&str, &str)], arguments: &[&str]) -> String {
    let output =
        Command::new(program).envs(environment.iter().copied()).args(arguments).output().expect("the command runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("its output is text")
}

pub struct Server {
    child: Child,
    pub address: String,
    token: Option<String>,
}

impl Server {
    /// Starts a program that listens where the variable `listen` says, and waits until it does.
    pub fn start(program: &Path, environment: &[(&str, &str)], listen: &str, token: Option<&str>) -> Server {
        let free =
            TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("its address").to_string();
        let child = Command::new(program)
            .envs(environment.iter().copied())
            .env(listen, &free)
            .stdout(Stdio::null())
            .spawn()
            .expect("the server starts");
        let begun = Instant::now();
        while TcpStream::connect(&free).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(30), "{} does not listen", program.display());
            std::thread::sleep(Duration::from_millis(20));
        }
        Server { child, address: free, token: token.map(String::from) }
    }

    /// The bytes of a request.
    pub fn request(&self, path: &str) -> Vec<u8> {
        let token = self.token.as_ref().map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
        format!("GET {path} HTTP/1.1\r\nHost: bench\r\n{token}\r\n").into_bytes()
    }

    /// The body of one answer.
    pub fn get(&self, path: &str) -> Vec<u8> {
        let mut stream = TcpStream::connect(&self.address).expect("the server listens");
        let request = String::from_utf8(self.request(path)).expect("text").replacen(
            "\r\n\r\n",
            "\r\nConnection: close\r\n\r\n",
            1,
        );
        stream.write_all(request.as_bytes()).expect("the request is sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("the answer arrives");
        let body = answer.windows(4).position(|window| window == b"\r\n\r\n").expect("an answer has a body") + 4;
        assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
        answer.split_off(body)
    }

    /// The bytes of memory that the process holds now.
    #[allow(dead_code, reason = "not every program that includes this file asks for it")]
    pub fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("the server runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("Linux tells it");
        let kib: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number of kB");
        kib * 1024
    }

    /// Leaves it one CPU.
    pub fn pin(&self, cpu: &str) {
        let process = self.child.id().to_string();
        let done = Command::new("taskset").args(["-a", "-p", "-c", cpu, &process]).output();
        assert!(done.is_ok_and(|done| done.status.success()), "taskset is there");
    }

    /// User and system time of the process so far.
    pub fn cpu_seconds(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).expect("the server runs");
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks: f64 = [11, 12].iter().map(|index| fields[*index].parse::<f64>().expect("a number of ticks")).sum();
        // Linux counts a hundred ticks a second wherever user space can see them.
        ticks / 100.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
