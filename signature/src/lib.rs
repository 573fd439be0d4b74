//! What the builder says about a module's kernels and variables, in comments at the end of its PTX, for the host library.
//!
//! PTX says how many parameters an entry has and how large they are. It does not say what they mean: which pointer goes with which
//! length, what a kernel writes, in how many dimensions it may be launched. A typed launch in safe code needs all of that, so the builder
//! signs the text: it adds each kernel's record, which `#[kernel]` made on the device's side of the build, and the host library
//! compares it with the record that `#[kernel]` made on the host's side. A digest over the whole text shows whether it was changed
//! afterwards.
//!
//! ```
//! use warpsmith_signature::{Kernel, Reading, Signature, read, sign};
//!
//! let text = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }\n";
//! let signature = Signature {
//!     kernels: vec![Kernel { name: "nothing".into(), record: vec![1, 2], takes_launch: false, variables: vec![] }],
//!     variables: vec![],
//! };
//! // SAFETY: this text is launched by nobody.
//! let signed = unsafe { sign(text, &signature) };
//! assert_eq!(read(&signed), Reading::Signed(signature));
//! assert_eq!(read(text), Reading::Absent);
//! assert!(matches!(read(&signed.replace("ret", "trap")), Reading::Unusable(_)));
//! ```

mod digest;
mod text;

pub use text::{read, sign, unsigned};

/// Symbols of the device library begin with this: they are not for the host's user.
pub const INTERNAL: &str = "__warpsmith";

/// What the builder knows of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// The kernels that `#[kernel]` made.
    pub kernels: Vec<Kernel>,
    /// The variables that the host may set and read.
    pub variables: Vec<Variable>,
}

/// A kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The entry's name.
    pub name: String,
    /// The words of its record, as `warpsmith_device::launch` describes them.
    pub record: Vec<u32>,
    /// The entry has two more parameters than the record says: where a panic is recorded, and which launch this is.
    pub takes_launch: bool,
    /// The variables that it may use, as indices into [`Signature::variables`].
    pub variables: Vec<u32>,
}

/// A variable that the host may set and read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// What a text's signature says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// There is none: the text was not made by the builder.
    Absent,
    /// There is one that says nothing, for this reason.
    Unusable(&'static str),
    /// It is valid.
    Signed(Signature),
}
