//! The macros of the device library: `#[kernel]`, `gpu_print!`, `gpu_println!`.
//!
//! Use them through `warpsmith_device::prelude`; the documentation stands there too. Nothing in what they expand to
//! needs an unstable feature in the crate that uses them.

mod kernel;

use proc_macro::TokenStream;

/// Makes a function a GPU kernel, and generates its typed launcher for the host.
///
/// The full documentation is that of `warpsmith_device::kernel`.
#[proc_macro_attribute]
pub fn kernel(attributes: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(attributes.into(), item.into()).into()
}
