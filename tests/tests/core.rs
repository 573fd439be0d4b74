//! The core of the device library on a device: parameters, views, shared memory, barriers, warps, floats, memory, output.
//!
//! One program for all of it, since each links the whole host library.

#[path = "core/barriers.rs"]
mod barriers;
#[path = "core/basics.rs"]
mod basics;
#[path = "core/checks.rs"]
mod checks;
#[path = "core/elements.rs"]
mod elements;
#[path = "core/exchanges.rs"]
mod exchanges;
#[path = "core/faults.rs"]
mod faults;
#[path = "core/floats.rs"]
mod floats;
#[path = "core/index32.rs"]
mod index32;
#[path = "core/insertions.rs"]
mod insertions;
#[path = "core/language.rs"]
mod language;
#[path = "core/levels.rs"]
mod levels;
#[path = "core/local_arrays.rs"]
mod local_arrays;
#[path = "core/long_copies.rs"]
mod long_copies;
#[path = "core/loops.rs"]
mod loops;
#[path = "core/memory.rs"]
mod memory;
#[path = "core/narrow.rs"]
mod narrow;
#[path = "core/output.rs"]
mod output;
#[path = "core/panics.rs"]
mod panics;
#[path = "core/rounds.rs"]
mod rounds;
#[path = "core/safe.rs"]
mod safe;
#[path = "core/shared_memory.rs"]
mod shared_memory;
#[path = "core/statics.rs"]
mod statics;
#[path = "core/steps.rs"]
mod steps;
#[path = "core/stores.rs"]
mod stores;
#[path = "core/switches.rs"]
mod switches;
#[path = "core/tables.rs"]
mod tables;
#[path = "core/texture/mod.rs"]
mod texture;
#[path = "core/utf16.rs"]
mod utf16;
#[path = "core/views.rs"]
mod views;
#[path = "core/warps.rs"]
mod warps;
#[path = "core/wide_integers.rs"]
mod wide_integers;
