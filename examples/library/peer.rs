//! Another system in a process of its own, which is asked one thing after the other.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::de::DeserializeOwned;
use serde::Serialize;

use super::support::Failure;

/// The process, and the pipes to it: a line of JSON for another one.
pub struct Peer {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts a script.
    pub fn start(python: &Path, script: &str) -> Result<Peer, Failure> {
        let mut command = Command::new(python);
        let started = command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process =
            started.map_err(|e| Failure::Sizes(format!("{} can't be run: {e}", python.display())))?;
        match (process.stdin.take(), process.stdout.take()) {
            (Some(requests), Some(answers)) => {
                Ok(Peer { process, requests, answers: BufReader::new(answers) })
            }
            _ => Err(Failure::Sizes("no pipe to the interpreter of Python".into())),
        }
    }

    /// Its answer to a request.
    pub fn ask<T: DeserializeOwned>(&mut self, request: &impl Serialize) -> Result<T, Failure> {
        let answer = self.exchange(request);
        // it has said on stderr why it ended
        answer.map_err(|e| Failure::Sizes(format!("the program in Python doesn't answer: {e}")))
    }

    fn exchange<T: DeserializeOwned>(&mut self, request: &impl Serialize) -> io::Result<T> {
        let mut line = serde_json::to_string(request)?;
        line.push('\n');
        self.requests.write_all(line.as_bytes())?;
        line.clear();
        self.answers.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // there is nothing to do about a process that is gone already
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
