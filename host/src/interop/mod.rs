//! What other libraries and languages exchange arrays with.

pub mod dlpack;
