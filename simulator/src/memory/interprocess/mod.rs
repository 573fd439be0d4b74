//! What processes share by a handle of 64 bytes: plain device memory, and the recordings of events.
//!
//! Both are files in memory. A handle says where a file is found: it is an open descriptor of the process that exported it, which the
//! system shows to other processes of the same user and container. So whatever carries the bytes carries the handle, and there is no
//! name that a process could leave behind: the file is gone with the last process that has it.
//!
//! | file | what |
//! | --- | --- |
//! | `handle` | handles, and the files that they stand for |
//! | `plain` | memory of `cuMemAlloc` that other processes open |
//! | `recordings` | the recordings of an event that several processes have |

mod handle;
mod plain;
mod recordings;

pub(super) use plain::forget;
pub(crate) use plain::{close, export, open};
pub(crate) use recordings::{RecordingUnderWay, Recordings, SharedPoint};
