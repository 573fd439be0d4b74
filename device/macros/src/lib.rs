//! The macros of the device library: `#[kernel]`, `gpu_print!`, `gpu_println!`, `gpu_assert!`.
//!
//! Use them through `warpsmith_device::prelude`; the documentation stands there too. Nothing in what they expand to
//! needs an unstable feature in the crate that uses them.

mod kernel;
mod print;

use proc_macro::TokenStream;

/// Makes a function a GPU kernel, and generates its typed launcher for the host.
///
/// The full documentation is that of `warpsmith_device::kernel`.
#[proc_macro_attribute]
pub fn kernel(attributes: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(attributes.into(), item.into()).into()
}

/// Prints from the device, as `print!` does; see `warpsmith_device::gpu_println`.
#[proc_macro]
pub fn gpu_print(tokens: TokenStream) -> TokenStream {
    print::print(tokens.into(), print::Purpose::Print).into()
}

/// Prints a line from the device, as `println!` does.
///
/// The full documentation is that of `warpsmith_device::gpu_println`.
#[proc_macro]
pub fn gpu_println(tokens: TokenStream) -> TokenStream {
    print::print(tokens.into(), print::Purpose::PrintLine).into()
}

/// Stops the grid if a condition does not hold.
///
/// The full documentation is that of `warpsmith_device::gpu_assert`.
#[proc_macro]
pub fn gpu_assert(tokens: TokenStream) -> TokenStream {
    print::assert(tokens.into()).into()
}

/// The format string that `gpu_print!` would hand to printf: for the library's own tests.
#[doc(hidden)]
#[proc_macro]
pub fn __gpu_format(tokens: TokenStream) -> TokenStream {
    print::print(tokens.into(), print::Purpose::Format).into()
}
