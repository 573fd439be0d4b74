//! Panics on the device: the log through which they reach the host.
//!
//! The host library gives each stream, and each executable graph, a [`PanicLog`] in host memory, and passes its address with each launch,
//! along with a number that tells the launch. Both are parameters of the entry that the PTX linker adds to kernels that can panic, and
//! passes on to whatever in them may; a kernel that does not panic never looks at them.
//!
//! The first thread of a launch that panics claims a [`PanicRecord`] of the log and fills it; every panicking thread then ends. The host
//! looks at the logs at each wait that covers the launch, and turns the record into an `Err`, whose record is then free for later launches;
//! it may do so while another launch runs. The builder chooses how much of this is compiled in:
//!
//! | `warpsmith_panic` | the record has | what a kernel pays that can panic |
//! | --- | --- | --- |
//! | `"message"` | message, location, block, thread | at least 14 registers; where a message has other arguments than two plain values, up to 255 registers and a stack for `core`'s formatting |
//! | `"location"` | location, block, thread, and the message where it needs no formatting | at least 14 registers |
//! | `"trap"` | nothing (there is none) | nothing: one `trap` instruction |
//!
//! (Measured with ptxas 13 for `sm_90`. 32 still let a multiprocessor be filled. Of bounds checks, slices, `unwrap`, `expect`, literal messages and those with at
//! most two plain values the record has a number, and the host has the text.)
//!
//! and `warpsmith_after_panic` whether the thread then ends alone (`"exit"`: the rest of the grid goes on, and the CUDA
//! context stays alive) or takes the grid with it (`"trap"`: for kernels in which others would wait for it for ever;
//! the driver reports `CUDA_ERROR_LAUNCH_FAILED`, and the context is lost). In a cluster of several blocks it is always the latter: a
//! block whose threads have ended takes its shared memory with it, while its neighbours may still be about to read it.

#[cfg(all(target_arch = "nvptx64", not(warpsmith_panic = "trap")))]
mod cheap;
#[cfg(all(target_arch = "nvptx64", not(warpsmith_panic = "trap")))]
mod claim;
#[cfg(all(target_arch = "nvptx64", not(warpsmith_panic = "trap")))]
mod report;
#[cfg(all(target_arch = "nvptx64", not(warpsmith_panic = "trap")))]
mod site;

/// How many records a log has.
pub const RECORDS: usize = 64;
/// How many texts a log has, for panics that are not at places which the linker knows.
pub const TEXTS: usize = 4;

/// [`PanicRecord::state`]: the record is not complete.
pub const EMPTY: u32 = 0;
/// [`PanicRecord::state`]: the record is complete.
pub const COMPLETE: u32 = 1;

/// A launch's id has the kernel's number in this many low bits, the launch's number in those above.
pub const KERNEL_BITS: u32 = 24;

/// Where the kernels of a stream or of a graph tell of panics; in host memory that the device can reach.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub struct PanicLog {
    /// Of a graph, whose kernels' parameters are the same at each launch: the number of the launch that is running. 0 for streams.
    pub graph_launch: u32,
    /// The [claim word](claim_word) of the last launch of which a thread began to look for a record. Its other threads then need not: those
    /// that come later could find one that was freed meanwhile, and take it from the launches that follow.
    pub last_claim: u32,
    /// For each record the [claim word](claim_word) of the launch that has it; 0 while it is free.
    pub claims: [u32; RECORDS],
    /// The complement of the least number of a launch that found no free record; 0 for none.
    pub first_unrecorded: u32,
    /// The greatest number of a launch that found no free record; 0 for none.
    pub last_unrecorded: u32,
    /// The kernel's number of one of these launches.
    pub unrecorded_kernel: u32,
    /// Reserved; 0.
    pub reserved: u32,
    /// What the launches' first panicking threads leave.
    pub records: [PanicRecord; RECORDS],
    /// Places and messages that have no number.
    pub texts: [PanicText; TEXTS],
}

/// The word by which a launch claims a record, from what its kernel was passed and from [`PanicLog::graph_launch`]: never 0, and another one
/// for each launch of a stream until 2^32 have followed, and for each kernel of a graph's launch.
///
/// Half of an id: a kernel that can panic needs registers for it.
#[inline(always)]
pub const fn claim_word(launch: u64, graph_launch: u32) -> u32 {
    /// 2^32 over the golden ratio: multiples of it by small numbers lie far from each other.
    const SPREAD: u32 = 0x9e37_79b9;
    // A graph's kernels pass 0 as the number of the launch.
    let number = (launch >> KERNEL_BITS) as u32;
    let word = match number {
        0 => graph_launch
            .wrapping_add((launch as u32 & ((1 << KERNEL_BITS) - 1)).wrapping_mul(SPREAD)),
        number => number,
    };
    if word == 0 { 1 } else { word }
}

/// What the first panicking thread of a launch leaves for the host.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub struct PanicRecord {
    /// What was passed as the launch's id.
    pub launch: u64,
    /// [`EMPTY`] or [`COMPLETE`].
    pub state: u32,
    /// 1 more than the number of the place among those that the module's signature has for the kernel; 0 if a text says it.
    pub site: u32,
    /// The numbers of the message at such a place.
    pub numbers: [u64; 2],
    /// The block's position in the grid.
    pub block: [u32; 3],
    /// The thread's position in the block.
    pub thread: [u32; 3],
    /// The grid's extent in blocks.
    pub grid_dim: [u32; 3],
    /// The block's extent in threads.
    pub block_dim: [u32; 3],
    /// [`PanicLog::graph_launch`].
    pub graph_launch: u32,
    /// 1 more than the index of the text among [`PanicLog::texts`]; 0 for none.
    pub text: u32,
}

impl PanicRecord {
    /// The launch's id.
    pub fn launch_id(&self) -> u64 {
        self.launch | u64::from(self.graph_launch) << KERNEL_BITS
    }
}

/// The place and the message of a panic that has no number.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub struct PanicText {
    /// 1 from its claim by a thread until the host has read it; 0 while it is free.
    pub claimed: u32,
    /// The line in the source, from 1; 0 if unknown.
    pub line: u32,
    /// The column, from 1; 0 if unknown.
    pub column: u32,
    /// How much of `file` is used.
    pub file_len: u32,
    /// How much of `message` is used.
    pub message_len: u32,
    /// The source file's path, UTF-8, cut off at the beginning where it does not fit.
    pub file: [u8; 256],
    /// The message, UTF-8, cut off where it does not fit.
    pub message: [u8; 512],
}

impl PanicText {
    /// The source file's path.
    pub fn file(&self) -> &str {
        valid_prefix(&self.file, self.file_len)
    }

    /// The message; empty if the build leaves messages out.
    pub fn message(&self) -> &str {
        valid_prefix(&self.message, self.message_len)
    }
}

/// The text in the first `length` bytes, as far as it is whole characters.
fn valid_prefix(bytes: &[u8], length: u32) -> &str {
    let bytes = &bytes[..bytes.len().min(length as usize)];
    match core::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => core::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}

#[cfg(all(target_arch = "nvptx64", not(warpsmith_panic = "trap")))]
#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    // Only the location is handed on where messages are left out: then nothing refers to the message's parts, and the
    // formatting functions, whose addresses are in them, vanish from the program.
    #[cfg(warpsmith_panic = "location")]
    report::without_message(info.location());
    #[cfg(warpsmith_panic = "message")]
    report::with_message(info.location(), &info.message());
    end()
}

#[cfg(all(target_arch = "nvptx64", warpsmith_panic = "trap"))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    crate::thread::trap()
}

/// What a panicking thread does last.
#[cfg(all(target_arch = "nvptx64", not(warpsmith_panic = "trap")))]
#[inline(always)]
fn end() -> ! {
    if stops_the_grid() {
        crate::thread::trap()
    } else {
        crate::thread::exit_uncounted()
    }
}

/// Whether a panic takes the grid with it.
#[cfg(all(target_arch = "nvptx64", not(warpsmith_panic = "trap")))]
#[inline(always)]
fn stops_the_grid() -> bool {
    cfg!(warpsmith_after_panic = "trap") || has_neighbours()
}

/// Whether other blocks can reach the shared memory of the thread's block: it is gone once the block's last thread has ended, and
/// `barrier.cluster` waits for threads that have not exited only (PTX ISA), so that neighbours would go on and access it. A thread that
/// panics has left its work anywhere, between the halves of the cluster's barrier, too, so it cannot count as one that returned.
#[cfg(all(target_arch = "nvptx64", not(warpsmith_panic = "trap")))]
#[inline(always)]
fn has_neighbours() -> bool {
    #[cfg(warpsmith_arch_at_least = "90")]
    return crate::cluster::blocks() > 1;
    #[cfg(not(warpsmith_arch_at_least = "90"))]
    return false;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_end_where_a_character_would_be_cut() {
        let mut text: PanicText = bytemuck::Zeroable::zeroed();
        assert_eq!(text.message(), "");
        // The last character is cut in its middle.
        text.message[..5].copy_from_slice(&"aé€".as_bytes()[..5]);
        text.message_len = 5;
        assert_eq!(text.message(), "aé");
        text.message_len = 10_000;
        assert!(text.message().starts_with("aé"));
    }
}
