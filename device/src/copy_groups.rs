//! The instructions of a thread's asynchronous copies, which it waits for by groups: `cp.async`. Before sm_80 there are none: what begins
//! a copy makes it, and nothing is waited for.

/// Whether instructions for global memory alone reach a slice. Parameters, which such instructions do not all reach, count as elsewhere.
#[inline(always)]
pub(crate) fn is_in_global_memory<T>(slice: &[T]) -> bool {
    #[cfg(all(target_arch = "nvptx64", warpsmith_arch_at_least = "80"))]
    {
        let start = slice.as_ptr();
        crate::space::is_global(start) && !crate::space::is_grid_constant(start)
    }
    #[cfg(not(all(target_arch = "nvptx64", warpsmith_arch_at_least = "80")))]
    {
        let _ = slice;
        false
    }
}

/// Starts to copy an element of 4, 8 or 16 bytes; where the architecture cannot, copies it.
///
/// # Safety
/// `from` leads to global memory that nobody writes until the thread has waited for the copy; `to` to shared memory of the block that
/// nobody uses until then, both aligned to the element's size.
#[inline(always)]
pub(crate) unsafe fn start<T: Copy>(from: *const T, to: *mut T) {
    #[cfg(all(target_arch = "nvptx64", warpsmith_arch_at_least = "80"))]
    {
        use core::arch::asm;
        let (to, from) = (crate::space::to_shared(to), crate::space::to_global(from));
        // SAFETY: `size_of::<T>()` bytes, for which the caller vouches.
        unsafe {
            match const { size_of::<T>() } {
                4 => {
                    asm!("cp.async.ca.shared.global [{}], [{}], 4;", in(reg64) to, in(reg64) from, options(nostack))
                }
                8 => {
                    asm!("cp.async.ca.shared.global [{}], [{}], 8;", in(reg64) to, in(reg64) from, options(nostack))
                }
                _ => {
                    asm!("cp.async.cg.shared.global [{}], [{}], 16;", in(reg64) to, in(reg64) from, options(nostack))
                }
            }
        }
    }
    #[cfg(not(all(target_arch = "nvptx64", warpsmith_arch_at_least = "80")))]
    {
        // SAFETY: the caller vouches for both.
        unsafe { to.write(*from) }
    }
}

/// `cp.async.commit_group`, where there is one.
#[inline(always)]
pub(crate) fn commit() {
    #[cfg(all(target_arch = "nvptx64", warpsmith_arch_at_least = "80"))]
    // SAFETY: it only numbers the copies that were begun.
    unsafe {
        core::arch::asm!("cp.async.commit_group;", options(nostack));
    }
}

/// Waits for all groups but the latest so many, or for more.
#[inline(always)]
pub(crate) fn wait_for_all_but(later: u32) {
    #[cfg(all(target_arch = "nvptx64", warpsmith_arch_at_least = "80"))]
    {
        macro_rules! wait {
            ($count:literal) => {
                // SAFETY: it accesses no memory but what the copies do.
                unsafe {
                    core::arch::asm!(
                        concat!("cp.async.wait_group ", $count, ";"),
                        options(nostack)
                    )
                }
            };
        }
        match later {
            0 => wait!("0"),
            1 => wait!("1"),
            2 => wait!("2"),
            3 => wait!("3"),
            _ => wait!("4"),
        }
    }
    #[cfg(not(all(target_arch = "nvptx64", warpsmith_arch_at_least = "80")))]
    let _ = later;
}

/// Waits for all copies of the thread.
#[inline(always)]
pub(crate) fn settle() {
    #[cfg(all(target_arch = "nvptx64", warpsmith_arch_at_least = "80"))]
    // SAFETY: it accesses no memory but what the copies do.
    unsafe {
        core::arch::asm!("cp.async.wait_all;", options(nostack));
    }
}
