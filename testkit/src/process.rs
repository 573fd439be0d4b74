//! Child processes: for tests that break what a process has once (a device's context, an environment variable that is read once,
//! standard output), and for tests of programs.

use std::ffi::OsStr;
use std::fmt;
use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Holds, in the environment of a child, the name of the test that it runs.
const CHILD_OF: &str = "WARPSMITH_TEST_CHILD";

/// How long a test in a process of its own may take.
pub const LIMIT: Duration = Duration::from_secs(300);
/// How long a cargo may take that builds whole projects.
pub const BUILD_LIMIT: Duration = Duration::from_secs(1800);

/// In which of a test's two processes the caller is.
#[derive(Debug)]
pub enum Side {
    /// In the test's own process, which does what the test is about.
    Child,
    /// In the process of all tests. The child has ended and has passed the test.
    Parent(ProcessOutput),
}

/// Runs the calling test again in a process of its own, with `variables` set; that process sees [`Side::Child`].
///
/// ```no_run
/// # use warpsmith_testkit::{Side, own_process};
/// // In a test:
/// let Side::Child = own_process(&[("WARPSMITH_REPORT", "0")]) else {
///     return;
/// };
/// // What is to be done in a process of its own.
/// ```
///
/// # Panics
/// If the child fails the test, or does not end within [`LIMIT`]; the message holds what it wrote. Also outside of a test: the test's name
/// is its thread's.
pub fn own_process(variables: &[(&str, &str)]) -> Side {
    if is_child() {
        Side::Child
    } else {
        Side::Parent(run_in_child(&calling_test(), variables))
    }
}

/// Whether this process is the calling test's child.
///
/// # Panics
/// Outside of a test: the test's name is its thread's.
pub fn is_child() -> bool {
    std::env::var(CHILD_OF).as_deref() == Ok(&calling_test())
}

/// Runs a test of this program, by its whole name, in a process of its own with `variables` set; there [`is_child`] holds.
///
/// For the usual case there is [`own_process`]; this one is for tests with several children.
///
/// # Panics
/// If there is no such test, or the child fails it, or does not end within [`LIMIT`]; the message holds what it wrote.
pub fn run_in_child(test: &str, variables: &[(&str, &str)]) -> ProcessOutput {
    let mut command = Command::new(std::env::current_exe().expect("a test knows its program"));
    command
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD_OF, test)
        .envs(variables.iter().copied());
    let output = output(&mut command, LIMIT).expect_success();
    assert!(
        output.stdout.contains("1 passed"),
        "the child did not run `{test}`:\n{output}"
    );
    output
}

/// The whole name of the test that calls, as [`run_in_child`] takes it.
///
/// # Panics
/// Outside of a test, and in threads that a test has started: the test's name is its thread's.
pub fn calling_test() -> String {
    let thread = std::thread::current();
    let name = thread.name();
    name.expect("tests run in threads that are named after them")
        .to_owned()
}

/// What a child wrote, and how it ended.
#[derive(Debug)]
pub struct ProcessOutput {
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output; bytes that are not UTF-8 are replaced.
    pub stdout: String,
    /// Its standard error; bytes that are not UTF-8 are replaced.
    pub stderr: String,
}

impl ProcessOutput {
    /// Itself, if the child ended well.
    ///
    /// # Panics
    /// If it did not, with what it wrote.
    #[track_caller]
    pub fn expect_success(self) -> ProcessOutput {
        assert!(self.status.success(), "a child failed: {self}");
        self
    }

    /// Both streams, standard output first.
    pub fn text(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}

impl fmt::Display for ProcessOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}{}", self.status, self.stdout, self.stderr)
    }
}

/// Runs a program to its end and collects what it writes.
///
/// # Panics
/// If it does not start, or does not end within `limit`; it is killed then.
#[track_caller]
pub fn output(command: &mut Command, limit: Duration) -> ProcessOutput {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .unwrap_or_else(|error| panic!("{} does not start: {error}", name(command)));
    let stdout = collect(child.stdout.take().expect("stdout is piped"));
    let stderr = collect(child.stderr.take().expect("stderr is piped"));
    let end = Instant::now() + limit;
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            break Some(status);
        }
        if Instant::now() >= end {
            break None;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    if status.is_none() {
        child.kill().expect("a child can be killed");
        child.wait().expect("a child can be waited for");
    }
    let text = |reader: JoinHandle<Vec<u8>>| {
        let bytes = reader.join().expect("reading a pipe does not panic");
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (stdout, stderr) = (text(stdout), text(stderr));
    match status {
        Some(status) => ProcessOutput {
            status,
            stdout,
            stderr,
        },
        None => panic!(
            "{} did not end within {limit:?}:\n{stdout}{stderr}",
            name(command)
        ),
    }
}

/// Reads a pipe to its end, in a thread of its own: a child must not wait for room in one pipe while the other is read.
fn collect(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is kept: it is what the message shows.
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

fn name(command: &Command) -> String {
    let program: &OsStr = command.get_program();
    program.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_runs_again_in_a_process_of_its_own() {
        let before = std::process::id().to_string();
        match own_process(&[("WARPSMITH_TESTKIT_PARENT", &before)]) {
            Side::Child => {
                let parent = std::env::var("WARPSMITH_TESTKIT_PARENT").unwrap();
                assert_ne!(parent, std::process::id().to_string());
                println!("the child of {parent}");
                eprintln!("and its other stream");
            }
            Side::Parent(output) => {
                assert!(output.stdout.contains(&format!("the child of {before}\n")));
                assert!(output.stderr.contains("and its other stream\n"));
                assert_eq!(output.text(), output.stdout.clone() + &output.stderr);
            }
        }
    }

    #[test]
    #[should_panic(expected = "for the parent to see")]
    fn a_childs_panic_is_the_tests() {
        if let Side::Child = own_process(&[]) {
            // Not a panic: the child is to fail the test, which expects one.
            println!("for the parent to see");
            std::process::exit(3);
        }
    }

    #[test]
    fn programs_give_their_output_and_status() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo err >&2; exit 4"]);
        let output = output(&mut command, LIMIT);
        assert_eq!(output.status.code(), Some(4));
        assert_eq!(
            (output.stdout.as_str(), output.stderr.as_str()),
            ("out\n", "err\n")
        );
    }

    #[test]
    #[should_panic(expected = "did not end within")]
    fn a_child_that_takes_too_long_is_killed() {
        let mut command = Command::new("sleep");
        output(command.arg("60"), Duration::from_millis(100));
    }
}
