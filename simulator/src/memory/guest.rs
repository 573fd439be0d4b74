//! Bulk access to the bytes of guest memory: the only place outside of the engine that reads or writes them.
//!
//! Guest memory is what kernels and the program share: device, managed and page-locked allocations in the arena, and the program's own
//! memory at the other end of a copy. Several threads of the simulator touch it at the same time (workers of a launch, threads of
//! streams), and a program that forgot a synchronisation races on it. Such a race is an error of the guest and must not become
//! undefined behaviour of the simulator. Therefore
//!
//! - no Rust reference to guest memory is made, here or elsewhere, but a shared one to an atomic for the time of one access: code that
//!   has an address calls one of these functions;
//! - the bytes are moved by instructions that Rust's memory model sees as relaxed atomic accesses: string instructions in an `asm!`
//!   block, which may be described as a loop of relaxed atomic byte accesses, or such a loop itself. Relaxed atomic accesses that race
//!   with one another have defined behaviour: each byte is one of the values written to it.
//!
//! The pages stay mapped as long as the process lives: the arena is never unmapped, and a freed allocation that nobody holds (`hold`) reads
//! as zeros.

use std::ptr::with_exposed_provenance;
#[cfg(all(target_arch = "x86_64", not(miri)))]
use std::ptr::with_exposed_provenance_mut;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// What a copy reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Memory that the device reaches, too. It is writable.
    Guest,
    /// Memory of the host that only copies reach: the program's, which does not change it meanwhile by the driver call's contract, or the
    /// simulator's own. It may be read-only, so that there must be no reference to an atomic in it.
    Host,
}

/// Copies `bytes` bytes; the ranges may overlap, as with `memmove`.
///
/// # Safety
///
/// Both ranges are mapped, the first readable and the second writable: they lie in live allocations of the arena, or the program has
/// promised so with the driver call.
pub(crate) unsafe fn copy(to: usize, from: usize, source: Source, bytes: usize) {
    // A forward copy is right unless the destination starts inside of the source.
    if to.wrapping_sub(from) >= bytes {
        // SAFETY: the ranges are mapped by the caller's contract, and going forward reads no byte after it was overwritten.
        unsafe { copy_forward(to, from, source, bytes) };
    } else {
        // SAFETY: the ranges are mapped by the caller's contract, and going backward reads no byte after it was overwritten.
        unsafe { copy_backward(to, from, source, bytes) };
    }
}

/// Writes bytes of the simulator's own.
///
/// # Safety
///
/// As many bytes at `to` are mapped and writable.
pub(crate) unsafe fn write(to: usize, bytes: &[u8]) {
    let from = bytes.as_ptr().expose_provenance();
    // SAFETY: as many bytes at `to` are mapped and writable by the caller's contract; the source is a slice, which no guest knows.
    unsafe { copy_forward(to, from, Source::Host, bytes.len()) };
}

/// One element of a fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FillValue {
    /// One byte.
    U8(u8),
    /// Two bytes.
    U16(u16),
    /// Four bytes.
    U32(u32),
}

/// Writes `count` equal elements in a row.
///
/// # Safety
///
/// The elements are mapped and writable, and `to` is a multiple of an element's size.
pub(crate) unsafe fn fill(to: usize, value: FillValue, count: usize) {
    // SAFETY: the elements are mapped and writable and `to` is aligned by the caller's contract.
    unsafe { fill_elements(to, value, count) };
}

/// How wide a word is that streams wait for and write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordSize {
    /// 32 bits.
    Four,
    /// 64 bits.
    Eight,
}

/// Reads a word; what was written before it was written is visible afterwards.
///
/// # Safety
///
/// The word is mapped and readable, and `from` is a multiple of its size.
pub(crate) unsafe fn load_word(from: usize, size: WordSize) -> u64 {
    // SAFETY: the word is mapped, readable and aligned by the caller's contract; atomics are valid for all values, and every access to
    // guest memory is an atomic one.
    unsafe {
        match size {
            WordSize::Four => (*with_exposed_provenance::<AtomicU32>(from))
                .load(Ordering::Acquire)
                .into(),
            WordSize::Eight => {
                (*with_exposed_provenance::<AtomicU64>(from)).load(Ordering::Acquire)
            }
        }
    }
}

/// Writes a word; what was written before is visible to who reads it. Of a 32-bit word's value the low half counts.
///
/// # Safety
///
/// The word is mapped and writable, and `to` is a multiple of its size.
pub(crate) unsafe fn store_word(to: usize, size: WordSize, value: u64) {
    // SAFETY: the word is mapped, writable and aligned by the caller's contract; atomics are valid for all values, and every access to
    // guest memory is an atomic one.
    unsafe {
        match size {
            WordSize::Four => {
                (*with_exposed_provenance::<AtomicU32>(to)).store(value as u32, Ordering::Release)
            }
            WordSize::Eight => {
                (*with_exposed_provenance::<AtomicU64>(to)).store(value, Ordering::Release);
            }
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
unsafe fn copy_forward(to: usize, from: usize, _: Source, bytes: usize) {
    // SAFETY: the instruction reads and writes the two ranges of the caller's contract and nothing else; the direction flag is clear
    // on entry to every `asm!` block.
    unsafe {
        core::arch::asm!(
            "rep movsb",
            inout("rdi") with_exposed_provenance_mut::<u8>(to) => _,
            inout("rsi") with_exposed_provenance::<u8>(from) => _,
            inout("rcx") bytes => _,
            options(nostack, preserves_flags),
        );
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
unsafe fn fill_elements(to: usize, value: FillValue, count: usize) {
    let to = with_exposed_provenance_mut::<u8>(to);
    macro_rules! store {
        ($instruction:literal, $register:tt, $value:expr) => {
            // SAFETY: the instruction writes `count` elements at `to`, which are mapped and writable by the caller's contract; the
            // direction flag is clear on entry to every `asm!` block.
            unsafe {
                core::arch::asm!(
                    $instruction,
                    inout("rdi") to => _,
                    inout("rcx") count => _,
                    in($register) $value,
                    options(nostack, preserves_flags),
                )
            }
        };
    }
    match value {
        FillValue::U8(value) => store!("rep stosb", "al", value),
        FillValue::U16(value) => store!("rep stosw", "ax", value),
        FillValue::U32(value) => store!("rep stosd", "eax", value),
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
unsafe fn copy_forward(to: usize, from: usize, source: Source, bytes: usize) {
    for index in 0..bytes {
        // SAFETY: `index` lies inside the ranges of the caller's contract.
        unsafe { copy_byte(to + index, from + index, source) };
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
unsafe fn fill_elements(to: usize, value: FillValue, count: usize) {
    use std::sync::atomic::AtomicU16;
    macro_rules! store {
        ($atomic:ty, $value:expr) => {
            for index in 0..count {
                // SAFETY: the element is mapped, writable and aligned by the caller's contract; atomics are valid for all values.
                unsafe { &*with_exposed_provenance::<$atomic>(to).add(index) }
                    .store($value, Ordering::Relaxed);
            }
        };
    }
    match value {
        FillValue::U8(value) => store!(AtomicU8, value),
        FillValue::U16(value) => store!(AtomicU16, value),
        FillValue::U32(value) => store!(AtomicU32, value),
    }
}

/// Overlapping copies are rare, so a plain loop does; string instructions are slow backward.
unsafe fn copy_backward(to: usize, from: usize, source: Source, bytes: usize) {
    for index in (0..bytes).rev() {
        // SAFETY: `index` lies inside the ranges of the caller's contract.
        unsafe { copy_byte(to + index, from + index, source) };
    }
}

unsafe fn copy_byte(to: usize, from: usize, source: Source) {
    let byte = match source {
        Source::Guest => {
            // SAFETY: the byte is mapped and readable by the caller's contract; a shared reference to an atomic may be aliased by other
            // atomic accesses, and every access to guest memory is one.
            unsafe { &*with_exposed_provenance::<AtomicU8>(from) }.load(Ordering::Relaxed)
        }
        // SAFETY: the byte is mapped and readable by the caller's contract, and nobody changes it (`Source::Host`).
        Source::Host => unsafe { with_exposed_provenance::<u8>(from).read() },
    };
    // SAFETY: the byte is mapped and writable by the caller's contract.
    unsafe { store_byte(to, byte) };
}

unsafe fn store_byte(to: usize, byte: u8) {
    // SAFETY: the byte is mapped and writable by the caller's contract; a shared reference to an atomic may be aliased by other atomic
    // accesses, and every access to guest memory is one.
    unsafe { &*with_exposed_provenance::<AtomicU8>(to) }.store(byte, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered() -> Vec<u8> {
        (0..=255).collect()
    }

    #[test]
    fn copies_go_to_the_right_place_also_where_the_ranges_overlap() {
        for (from, to, count) in [
            (0, 100, 50),
            (0, 7, 100),
            (7, 0, 100),
            (3, 3, 20),
            (5, 9, 0),
        ] {
            let mut bytes = numbered();
            let base = bytes.as_mut_ptr().expose_provenance();
            // SAFETY: both ranges lie in `bytes`, which is not used meanwhile.
            unsafe { copy(base + to, base + from, Source::Guest, count) };
            let mut expected = numbered();
            expected.copy_within(from..from + count, to);
            assert_eq!(bytes, expected, "{count} bytes from {from} to {to}");
        }
    }

    #[test]
    fn fills_repeat_the_element() {
        let mut words = [0u32; 8];
        let base = words.as_mut_ptr().expose_provenance();
        // SAFETY: the elements lie in `words`, which is not used meanwhile.
        unsafe {
            fill(base + 4, FillValue::U32(0x0102_0304), 2);
            fill(base + 12, FillValue::U16(0x0506), 3);
            fill(base + 20, FillValue::U8(7), 5);
        }
        assert_eq!(
            words,
            [
                0,
                0x0102_0304,
                0x0102_0304,
                0x0506_0506,
                0x0506,
                0x0707_0707,
                7,
                0
            ]
        );
    }

    #[test]
    fn words_are_as_wide_as_asked_for() {
        let mut words = [u64::MAX; 2];
        let base = words.as_mut_ptr().expose_provenance();
        // SAFETY: the words lie in `words`, which is not used meanwhile.
        unsafe {
            store_word(base, WordSize::Four, 0x5_0000_0007);
            store_word(base + 8, WordSize::Eight, 0x5_0000_0007);
            assert_eq!(load_word(base, WordSize::Four), 7);
            assert_eq!(load_word(base, WordSize::Eight), 0xffff_ffff_0000_0007);
            assert_eq!(load_word(base + 8, WordSize::Eight), 0x5_0000_0007);
        }
    }

    #[test]
    fn own_bytes_are_written() {
        let mut guest = [0u8; 16];
        let base = guest.as_mut_ptr().expose_provenance();
        // SAFETY: the range lies in `guest`, which is not used meanwhile.
        unsafe { write(base + 3, &[1, 2, 3, 4]) };
        assert_eq!(guest[2..8], [0, 1, 2, 3, 4, 0]);
    }
}
