//! Devices and their primary contexts.

pub(crate) mod attribute;
pub(crate) mod capability;
pub(crate) mod choice;
pub(crate) mod keeper;
pub(crate) mod limits;
pub(crate) mod primary;
pub(crate) mod uuid;
