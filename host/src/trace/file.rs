//! The spans of a process and the file that they become: JSON in the trace event format, which Perfetto (<https://ui.perfetto.dev>) and
//! Chrome (`chrome://tracing`) read.
//!
//! The file is written beside its place and then renamed, so what stands there is complete at any time.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};

use super::track::NameOfTrack;
use super::work::{Sizes, Work};
use crate::error::{Code, Error, Result};
use crate::sync::lock;

/// More spans than this are not kept: it is some hundreds of megabytes, and more than a viewer takes.
const MOST_SPANS: usize = 2_000_000;

/// The file of this process, which the first device that is opened sets.
static OF_PROCESS: Mutex<Option<Arc<TraceFile>>> = Mutex::new(None);

/// What becomes the file.
pub(crate) struct TraceFile {
    path: PathBuf,
    /// The time 0.
    beginning: Instant,
    contents: Mutex<Contents>,
}

#[derive(Default)]
struct Contents {
    /// The names of the devices, each as often as it was opened.
    devices: Vec<String>,
    spans: Vec<Span>,
    /// Pieces of work without a span.
    left_out: usize,
}

/// A piece of work, and when it ran.
pub(super) struct Span {
    pub(super) device: u32,
    pub(super) track: u64,
    /// Microseconds since the beginning.
    pub(super) start: f64,
    /// Microseconds.
    pub(super) duration: f64,
    pub(super) work: Work<'static>,
}

impl TraceFile {
    /// The file of this process: from the first call on that of the first call. It is written at once, without spans.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub(super) fn of_process(path: &Path) -> Result<Arc<TraceFile>> {
        let mut known = lock(&OF_PROCESS);
        if let Some(file) = &*known {
            return Ok(file.clone());
        }
        let file = Arc::new(TraceFile {
            // Where a program changes its folder, the file stays.
            path: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
            beginning: Instant::now(),
            contents: Mutex::default(),
        });
        file.write()?;
        *known = Some(file.clone());
        Ok(file)
    }

    /// The file of this process, once a device was opened that is traced.
    pub(super) fn known() -> Option<Arc<TraceFile>> {
        lock(&OF_PROCESS).clone()
    }

    /// Adds a device; gives its number.
    pub(super) fn add_device(&self, name: String) -> u32 {
        let contents = &mut *lock(&self.contents);
        let known = contents.devices.iter().position(|known| *known == name);
        let index = known.unwrap_or_else(|| {
            contents.devices.push(name);
            contents.devices.len() - 1
        });
        index as u32
    }

    /// Microseconds since the beginning; none for what was before it.
    pub(super) fn time_of(&self, instant: Instant) -> f64 {
        let since = instant.saturating_duration_since(self.beginning);
        since.as_secs_f64() * 1e6
    }

    /// Whether another span is kept.
    pub(super) fn has_room(&self) -> bool {
        lock(&self.contents).spans.len() < MOST_SPANS
    }

    pub(super) fn add(&self, span: Span) {
        let contents = &mut *lock(&self.contents);
        match contents.spans.len() < MOST_SPANS {
            true => contents.spans.push(span),
            false => contents.left_out += 1,
        }
    }

    /// Notes pieces of work that have no span.
    pub(super) fn leave_out(&self, count: usize) {
        lock(&self.contents).left_out += count;
    }

    /// Writes all spans that there are, in place of what the file held.
    ///
    /// # Errors
    ///
    /// The system refuses; the file is as it was.
    pub(crate) fn write(&self) -> Result<()> {
        // Locked until it is renamed: two threads that write do not mix.
        let contents = &*lock(&self.contents);
        self.replace(contents).map_err(|error| {
            Error::misuse(
                "WARPSMITH_TRACE",
                Code::FILE_NOT_FOUND,
                format!("the trace `{}` cannot be written: {error}", self.path.display()),
                "name a file in a folder that exists and may be written to; `%p` in the name stands for the process's number",
            )
        })
    }

    fn replace(&self, contents: &Contents) -> io::Result<()> {
        let mut beside = self.path.clone().into_os_string();
        beside.push(format!(".{}.partial", std::process::id()));
        let beside = PathBuf::from(beside);
        let replaced =
            write_document(&beside, contents).and_then(|()| std::fs::rename(&beside, &self.path));
        if replaced.is_err() {
            // Whether or not it was made.
            let _ = std::fs::remove_file(&beside);
        }
        replaced
    }
}

fn write_document(path: &Path, contents: &Contents) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let document = Document {
        events: Events(contents),
        unit: "ns",
        other: OtherData {
            left_out: contents.left_out,
        },
    };
    serde_json::to_writer(&mut file, &document)?;
    file.flush()
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(rename = "traceEvents")]
    events: Events<'a>,
    #[serde(rename = "displayTimeUnit")]
    unit: &'static str,
    #[serde(rename = "otherData")]
    other: OtherData,
}

#[derive(Serialize)]
struct OtherData {
    left_out: usize,
}

/// A device as a process of the trace: viewers keep 0 for themselves.
fn process(device: u32) -> u32 {
    device + 1
}

/// The names of devices and tracks, then the spans.
struct Events<'a>(&'a Contents);

#[derive(Serialize)]
#[serde(tag = "ph")]
enum Event<'a> {
    #[serde(rename = "M")]
    Name {
        name: &'static str,
        pid: u32,
        tid: u64,
        args: Name<'a>,
    },
    #[serde(rename = "X")]
    Span {
        name: &'a str,
        cat: &'static str,
        pid: u32,
        tid: u64,
        ts: f64,
        dur: f64,
        args: Arguments<'a>,
    },
}

#[derive(Serialize)]
struct Arguments<'a> {
    #[serde(flatten)]
    sizes: &'a Sizes,
    #[serde(skip_serializing_if = "Option::is_none")]
    may_serialise: Option<&'static str>,
}

#[derive(Serialize)]
struct Name<'a> {
    name: &'a str,
}

impl Serialize for Events<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let Contents { devices, spans, .. } = self.0;
        let mut list = serializer.serialize_seq(None)?;
        for (pid, name) in (process(0)..).zip(devices) {
            list.serialize_element(&Event::Name {
                name: "process_name",
                pid,
                tid: 0,
                args: Name { name },
            })?;
        }
        let tracks: BTreeSet<(u32, u64)> =
            spans.iter().map(|span| (span.device, span.track)).collect();
        for (device, tid) in tracks {
            list.serialize_element(&Event::Name {
                name: "thread_name",
                pid: process(device),
                tid,
                args: Name {
                    name: &NameOfTrack(tid).to_string(),
                },
            })?;
        }
        for span in spans {
            list.serialize_element(&Event::Span {
                name: &span.work.name,
                cat: span.work.category,
                pid: process(span.device),
                tid: span.track,
                ts: span.start,
                dur: span.duration,
                args: Arguments {
                    sizes: &span.work.sizes,
                    may_serialise: span.work.may_serialise,
                },
            })?;
        }
        list.end()
    }
}
