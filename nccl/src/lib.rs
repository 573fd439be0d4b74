//! Collectives over several GPUs and processes, by NCCL.
//!
//! NCCL is loaded at run time: nothing links to it. A program on the simulator gets the simulator's own implementation of the same
//! functions, over shared memory between threads and processes, so that it runs and is tested with no GPU.
//!
//! ```
//! use warpsmith_host::prelude::*;
//! use warpsmith_nccl::{Communicator, Reduction, group};
//!
//! # fn main() -> Result<(), warpsmith_nccl::Error> {
//! # // The simulator reads it when it starts; nothing runs beside this.
//! # unsafe { std::env::set_var("WARPSMITH_SIMULATOR_DEVICES", "2") };
//! # unsafe { std::env::set_var("WARPSMITH_DEVICE", "simulator") };
//! let gpus = Gpu::devices()?.iter().map(|device| Gpu::open(device.choice)).collect::<Result<Vec<_>>>()?;
//! let communicators = Communicator::all(&gpus)?;
//! let streams = gpus.iter().map(Gpu::stream).collect::<Result<Vec<_>>>()?;
//! let mut buffers = Vec::new();
//! for (rank, stream) in streams.iter().enumerate() {
//!     buffers.push(stream.upload(&[rank as f32 + 1.0; 4])?);
//! }
//! // One thread speaks for several ranks: in a group, whose calls wait for each other.
//! group(|group| {
//!     for ((communicator, stream), buffer) in communicators.iter().zip(&streams).zip(&mut buffers) {
//!         group.all_reduce_in_place(communicator, stream, buffer, Reduction::Sum)?;
//!     }
//!     Ok(())
//! })?;
//! assert_eq!(streams[1].download(&buffers[1])?, [3.0; 4]);
//! # Ok(())
//! # }
//! ```
//!
//! # Order
//!
//! A call enqueues work in a stream and returns. It comes after all earlier uses of its buffers that it conflicts with, in any stream,
//! and later uses come after it, as with all work of the host library. In a stream that is captured it becomes part of the graph, which
//! keeps buffers and communicator. All ranks make the same calls on a communicator in the same order.
//!
//! # When a rank does not come
//!
//! Whoever waits for a rank that never calls waits on the device, as NCCL does. [`Communicator::wait`] waits for a stream with a limit,
//! and ends the communicator when the time is over or NCCL reports an error: the work on the device ends, and so does that of the other
//! ranks. Coming together has a limit, too ([`Options::timeout`]).

mod alone;
mod at_exit;
mod bandwidth;
mod call;
mod collective;
mod communicator;
mod element;
mod environment;
mod error;
mod group;
mod id;
mod inner;
mod join;
mod launcher;
mod library;
mod meeting;
mod methods;
mod options;
mod reduction;
mod registered;
mod registrations;
mod rooted;
mod varying;

pub use bandwidth::{Collective, bus_bandwidth};
pub use call::{functions, version};
pub use communicator::Communicator;
pub use element::Element;
pub use error::{Error, Library, Misuse, NcclError, Result};
pub use group::{Group, group, try_group};
pub use id::UniqueId;
pub use launcher::Launcher;
pub use library::{Functions, NewerFunctions, Version};
pub use options::Options;
pub use reduction::{PremultipliedSum, PremultipliedSumOnDevice, Reduce, Reduction};
pub use warpsmith_nccl_abi::{F8E4M3, F8E5M2};

/// The book's page on this crate: its examples are compiled.
#[cfg(doctest)]
#[doc = include_str!("../../docs/src/howto/several-gpus.md")]
struct HowTo;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn communicators_go_to_other_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<Communicator>();
        shared::<UniqueId>();
        shared::<Error>();
    }
}
