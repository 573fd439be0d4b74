//! Conflicts between whole pieces of work: kernels, copies, fills, operations of streams on words, allocations and frees.
//!
//! Each piece has a [`Place`]: a line (a stream's queue, a node of one launch of a graph), its number there, and a [`Clock`]
//! of all that comes before it by streams, events, edges and waits of the host. Two pieces of which neither comes before the
//! other may run at the same time, in whatever order they happened to run. If both touch a byte, and one of them writes it, that is
//! a conflict.
//!
//! | file | what |
//! | --- | --- |
//! | `clock` | lines, and what a point comes after |
//! | `place` | the place of a piece, also inside of graphs |
//! | `touched` | which bytes a piece has read and written, by pages |
//! | `piece` | a piece, and what it may have heard of another one through memory |
//! | `shadow` | who has touched the bytes of memory last |
//! | `coherence` | what no barrier makes coherent inside one grid |
//!
//! # What may meet
//!
//! Strong accesses (atomic, volatile, relaxed ...) of a device may meet, and everywhere those of system scope. Copies and fills of a few
//! bytes, and the operations of streams on words, may meet strong accesses, too: they are how flags are set and read.
//!
//! Pieces that speak with each other through memory are in no race, although nothing orders them as a whole. The clocks of their threads
//! are not followed here. So of two pieces that strong accesses join, directly or by others, nothing is reported (`piece`): real
//! races of such pieces are missed, and no right program is accused. A free must come after the whole pieces that use the memory, and
//! an allocation before (CUDA C++ Programming Guide, "Stream-Ordered Memory Allocator", "Virtual Aliasing Support"): what pieces say to
//! each other does not help there.

mod clock;
mod coherence;
mod piece;
mod place;
mod shadow;
mod touched;

pub use clock::{Clock, Line};
pub use coherence::{Incoherent, PhysicalPage, incoherent};
pub use piece::{Agent, Piece};
pub use place::Place;
pub use shadow::{Conflict, Others, Shadow};
pub use touched::{Class, PAGE, Recorder, Touched, TouchedPage};

#[cfg(test)]
mod tests;
