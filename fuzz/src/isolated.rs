//! A child process that may crash, hang or grow, and is stopped when it does.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process_group};

/// What a child may use until it says something again.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Processor time of the child's own process.
    pub processor: Duration,
    /// Time, which also passes while it waits.
    pub time: Duration,
    /// Resident memory in bytes.
    pub memory: u64,
}

/// How a child ended.
#[derive(Debug)]
pub enum Ending {
    /// By itself.
    Exited(ExitStatus),
    /// It said nothing for too long.
    Hung,
    /// It used too much memory: so many bytes.
    Grew(u64),
}

impl Ending {
    /// What is wrong with it, if anything is.
    pub fn failure(&self) -> Option<String> {
        match self {
            Ending::Exited(status) if status.success() => None,
            Ending::Exited(status) => Some(match status.signal() {
                Some(signal) => format!("crashed with signal {signal}"),
                None => format!("ended with {status}"),
            }),
            Ending::Hung => Some("hung".into()),
            Ending::Grew(bytes) => Some(format!("grew to {} MiB", bytes >> 20)),
        }
    }
}

/// How a child ended, and what it wrote to standard error.
#[derive(Debug)]
pub struct Ended {
    /// How.
    pub ending: Ending,
    /// Standard error; of much text, the end.
    pub stderr: String,
}

/// Runs a child to its end and hands on each line of its standard output.
pub fn run(command: &mut Command, limits: Limits, mut line: impl FnMut(&str)) -> Result<Ended> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // What it starts is stopped with it.
        .process_group(0)
        .spawn()
        .with_context(|| format!("cannot start {}", command.get_program().display()))?;
    let lines = lines_of(child.stdout.take().expect("stdout is piped"));
    let mut stderr = child.stderr.take().expect("stderr is piped");
    let stderr = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is what there is to show.
        let _ = stderr.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let from = text.len().saturating_sub(20_000);
        let from = (from..=text.len()).find(|at| text.is_char_boundary(*at));
        text[from.unwrap_or(0)..].to_owned()
    });
    let ending = match watch(&mut child, &lines, limits, &mut line)? {
        Some(stopped) => {
            // Nothing is left of it if it has just ended.
            let group = Pid::from_child(&child);
            let _ = kill_process_group(group, Signal::KILL);
            child.wait().context("cannot wait for a child")?;
            stopped
        }
        None => Ending::Exited(child.wait().context("cannot wait for a child")?),
    };
    let stderr = stderr.join().unwrap_or_default();
    Ok(Ended { ending, stderr })
}

fn lines_of(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines() {
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Hands on lines until the child closes its standard output (no answer), or is to be stopped.
fn watch(
    child: &mut Child,
    lines: &Receiver<String>,
    limits: Limits,
    line: &mut impl FnMut(&str),
) -> Result<Option<Ending>> {
    let mut since = Instant::now();
    let mut used = processor_time(child);
    loop {
        match lines.recv_timeout(Duration::from_millis(100)) {
            Ok(text) => {
                line(&text);
                since = Instant::now();
                used = processor_time(child);
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {
                let busy = processor_time(child).saturating_sub(used);
                if since.elapsed() > limits.time || busy > limits.processor {
                    return Ok(Some(Ending::Hung));
                }
            }
        }
        let resident = resident_memory(child);
        if resident > limits.memory {
            return Ok(Some(Ending::Grew(resident)));
        }
    }
}

/// The processor time that a child's own process has used; zero where the system does not say.
fn processor_time(child: &Child) -> Duration {
    let ticks = || -> Option<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
        // The name, in parentheses, may have spaces.
        let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
        let user: u64 = fields.next()?.parse().ok()?;
        let system: u64 = fields.next()?.parse().ok()?;
        Some(user + system)
    };
    // Linux counts in hundredths of a second towards programs.
    Duration::from_millis(ticks().unwrap_or(0) * 10)
}

/// The memory that a child's own process has now; zero where the system does not say.
fn resident_memory(child: &Child) -> u64 {
    let pages = || -> Option<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/statm", child.id())).ok()?;
        text.split_whitespace().nth(1)?.parse().ok()
    };
    pages().unwrap_or(0) * rustix::param::page_size() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        processor: Duration::from_secs(1),
        time: Duration::from_secs(60),
        memory: 1 << 28,
    };

    fn shell(script: &str, limits: Limits) -> (Ended, Vec<String>) {
        let mut seen = Vec::new();
        let ended = run(Command::new("sh").args(["-c", script]), limits, |line| {
            seen.push(line.to_owned())
        });
        (ended.expect("a shell starts"), seen)
    }

    #[test]
    fn lines_and_errors_come_back() {
        let (ended, lines) = shell("echo one; echo two; echo three >&2", LIMITS);
        assert_eq!(lines, ["one", "two"]);
        assert_eq!(ended.stderr, "three\n");
        assert!(ended.ending.failure().is_none());
    }

    #[test]
    fn a_child_that_computes_for_ever_is_stopped() {
        let (ended, _) = shell("while :; do :; done", LIMITS);
        assert_eq!(ended.ending.failure().as_deref(), Some("hung"));
    }

    #[test]
    fn a_child_that_waits_for_ever_is_stopped_with_what_it_started() {
        let limits = Limits {
            time: Duration::from_millis(300),
            ..LIMITS
        };
        // Its standard output stays open as long as the inner shell lives.
        let (ended, _) = shell("sh -c 'sleep 600; echo late'", limits);
        assert_eq!(ended.ending.failure().as_deref(), Some("hung"));
    }

    #[test]
    fn a_child_that_grows_is_stopped() {
        let limits = Limits {
            memory: 1 << 16,
            ..LIMITS
        };
        let (ended, _) = shell("while :; do :; done", limits);
        assert!(
            ended
                .ending
                .failure()
                .is_some_and(|why| why.starts_with("grew to"))
        );
    }

    #[test]
    fn crashes_and_failures_are_told_apart() {
        let (ended, _) = shell("kill -SEGV $$", LIMITS);
        assert_eq!(
            ended.ending.failure().as_deref(),
            Some("crashed with signal 11")
        );
        let (ended, _) = shell("exit 3", LIMITS);
        assert!(ended.ending.failure().is_some_and(|why| why.contains('3')));
    }
}
