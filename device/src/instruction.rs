//! `instruction!`: inline PTX on the device, a panic with a clear message on the host.
//!
//! Kernel crates compile for the host too (editors, generated launchers), where PTX has no meaning. Every intrinsic
//! of this crate therefore goes through this macro instead of `core::arch::asm!`.
//!
//! # State spaces
//!
//! A pointer in Rust is a generic address. Where the text holds `/*space={pointer}*/`, where a state space stands,
//! the PTX linker replaces the comment by `.shared` or `.global` when it can prove where the pointer leads, and by
//! nothing otherwise; PTX read without that help is still right, only generic.

/// Inline PTX, with the operands of [`core::arch::asm!`]; on the host it diverges.
macro_rules! instruction {
    ($($asm:tt)*) => {{
        #[cfg(target_arch = "nvptx64")]
        // The caller's `unsafe` block states why the instruction is sound.
        {
            ::core::arch::asm!($($asm)*)
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            $crate::__private::called_on_the_host()
        }
    }};
}
