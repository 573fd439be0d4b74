//! Wrong arguments for everything that is not memory: each entry point is called with arguments that are right, and then again with one of
//! them wrong, in each way in which its type can be wrong.
//!
//! `calls` has one call a function; `wrong` finds from the header's signature what can be wrong with each argument; `answers` says what the
//! simulator answers, and `real` where a GPU's driver answers otherwise. Where that one follows a handle without a look at it, the simulator
//! alone is asked. `children` runs the rows.

#[path = "../common/mod.rs"]
mod common;

mod answers;
mod calls;
mod children;
mod codes;
mod health;
mod particular;
mod real;
mod run;
mod signatures;
mod table;
mod world;
mod wrong;
