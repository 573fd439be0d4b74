//! Access to memory: the one path that every operation takes ([`path`]).
//!
//! What an instruction does to memory is declared when it is lowered, as an [`Effect`](warpsmith_isa::effect::Effect) in its address
//! operand ([`declared`]). The path finds the bytes ([`resolve`], [`locate`]), tells the checks what is declared ([`check`]), orders the
//! access as declared, and only then hands the bytes to the operation. An operation has no other way to them.

mod bounds;
pub(crate) mod bytes;
pub(crate) mod check;
mod collision;
pub(crate) mod completion;
pub(crate) mod declared;
mod discarded;
pub(crate) mod finding;
pub(crate) mod followed;
pub(crate) mod locate;
mod narrow;
pub(crate) mod path;
mod replicas;
pub(crate) mod resolve;
pub(crate) mod texel;
mod told;
pub(crate) mod values;
