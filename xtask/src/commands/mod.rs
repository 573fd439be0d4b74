//! The commands, one module each.

pub mod bundle;
pub mod new;
pub mod run;
pub mod setup;
pub mod simulator;
pub mod test;
