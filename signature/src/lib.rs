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
//!     kernels: vec![Kernel { name: "nothing".into(), record: vec![1, 2], ..Kernel::default() }],
//!     ..Signature::default()
//! };
//! // SAFETY: this text is launched by nobody.
//! let signed = unsafe { sign(text, &signature) };
//! assert_eq!(read(&signed), Reading::Signed(signature));
//! assert_eq!(read(text), Reading::Absent);
//! assert!(matches!(read(&signed.replace("ret", "trap")), Reading::Unusable(_)));
//! ```

mod digest;
mod encoding;
mod form;
mod text;

pub use form::{Form, is_free_of_placeholders, placeholder};
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
    /// Where functions panic that several kernels have in common: the panic of number [`COMMON_PANICS`] plus `n` is the one at `n`.
    pub common_panics: Vec<Panic>,
}

/// The number of the first panic of functions that kernels have in common.
pub const COMMON_PANICS: u32 = 1 << 24;

/// A place in the source that may panic, with what it says then.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Panic {
    /// The source file's path.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The message. Where it [has values](Self::has_values), each [placeholder] in it stands for one.
    pub message: String,
    /// Whether the message has values that only the thread knows.
    pub has_values: bool,
}

impl Panic {
    /// The message with its values.
    ///
    /// ```
    /// use warpsmith_signature::{Form, Panic, placeholder};
    ///
    /// let [len, index] = [placeholder(0, Form::Unsigned), placeholder(1, Form::Signed)];
    /// let message = format!("the len is {len} but the index is {index}");
    /// let panic = Panic { message, has_values: true, ..Panic::default() };
    /// assert_eq!(panic.message_with([3, -7_i64 as u64]), "the len is 3 but the index is -7");
    /// ```
    pub fn message_with(&self, values: [u64; 2]) -> String {
        match self.has_values {
            true => form::fill(&self.message, values),
            false => self.message.clone(),
        }
    }
}

/// A kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// The entry's name.
    pub name: String,
    /// The words of its record, as `warpsmith_device::launch` describes them.
    pub record: Vec<u32>,
    /// The entry has two more parameters than the record says: where a panic is recorded, and which launch this is.
    pub takes_launch: bool,
    /// The variables that it may use, as indices into [`Signature::variables`].
    pub variables: Vec<u32>,
    /// Where its own code panics, by the numbers that its threads record.
    pub panics: Vec<Panic>,
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
