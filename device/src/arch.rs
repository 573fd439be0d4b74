//! The architecture that the device code is compiled for.
//!
//! The builder also passes the cfgs `warpsmith_arch = "sm_90a"` and, for every level up to the architecture,
//! `warpsmith_arch_at_least = "80"`, for code that must not even compile elsewhere.

/// The compute capability times ten (900 for `sm_90`), as CUDA C++'s `__CUDA_ARCH__`; `None` on the host.
///
/// Constant, so a branch on it costs nothing:
///
/// ```
/// use warpsmith_device::arch;
/// fn steps() -> u32 {
///     if arch::at_least(800) { 4 } else { 2 }
/// }
/// # assert_eq!(steps(), 2);
/// ```
pub const ARCH: Option<u32> = level();

/// Whether the code is compiled for at least this architecture (`at_least(800)` for `sm_80`); false on the host.
#[inline(always)]
pub const fn at_least(arch: u32) -> bool {
    match ARCH {
        Some(level) => level >= arch,
        None => false,
    }
}

const fn level() -> Option<u32> {
    if cfg!(not(target_arch = "nvptx64")) {
        return None;
    }
    macro_rules! highest {
        ($($level:literal => $value:literal),*) => {
            $(if cfg!(warpsmith_arch_at_least = $level) { return Some($value); })*
        };
    }
    highest!("120" => 1200, "103" => 1030, "100" => 1000, "90" => 900, "89" => 890, "87" => 870, "86" => 860,
             "80" => 800, "75" => 750, "72" => 720, "70" => 700);
    Some(700)
}
