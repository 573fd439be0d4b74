//! The order of work on a device: who uses what, and when.

pub(crate) mod uses;
