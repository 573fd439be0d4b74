//! The ranks of one communicator: shared memory by which they meet, exchange bytes, and notice that one is gone.
//!
//! The memory is a file whose name follows from the communicator's id. The first rank that comes makes it; the last one that comes removes
//! its name. It holds a slot for each rank, and a ring of bytes for each ordered pair of ranks, which the first of the two alone writes and
//! the second alone reads. A rank that ends is noticed by a descriptor of its process.

mod key;
mod layout;

use std::ffi::c_void;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FallocateFlags;
use rustix::mm::{MapFlags, ProtFlags};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

pub(crate) use self::key::{key_of, new_key, random};
pub(crate) use self::layout::Part;
use self::layout::{COMING, EMPTY, FAILED, HERE, Header, LEFT, RING, Ring, Slot, size_of_world};
use crate::failure::{Failure, Result};

/// How often other ranks are looked after.
const LOOK: Duration = Duration::from_millis(5);

/// One rank's view of the memory that all of them share.
pub(crate) struct World {
    base: NonNull<u8>,
    bytes: usize,
    pub(crate) rank: usize,
    pub(crate) ranks: usize,
    path: PathBuf,
    /// Whether this rank's slot is its own. One that was refused leaves the slot, and the file's name, to the others.
    has_come: bool,
    /// The other ranks' processes, as far as they were seen.
    processes: Mutex<Vec<Option<OwnedFd>>>,
    looked: Mutex<Instant>,
}

// SAFETY: the mapping is reached by atomics, and the bytes of a ring by its one writer and its one reader, in turns by `written` and
// `read`; `Exchange` is the only one to do so, and a communicator has one at a time.
unsafe impl Send for World {}
// SAFETY: the mapping is reached by atomics, and the bytes of a ring by `Exchange` alone, of which a communicator has one at a
// time; the other fields are locked or do not change.
unsafe impl Sync for World {}

/// Where the file of an id is.
fn path_of(key: &str) -> PathBuf {
    let shared = PathBuf::from("/dev/shm");
    let folder = if shared.is_dir() {
        shared
    } else {
        std::env::temp_dir()
    };
    folder.join(format!("warpsmith-nccl-{key}"))
}

fn too_many(ranks: usize) -> Failure {
    Failure::argument(format!(
        "the simulator's NCCL has no room for {ranks} ranks: start fewer"
    ))
}

impl World {
    /// Comes in as `rank` of `ranks` on the device of this key, which two ranks may not share, and waits until all others have come.
    pub(crate) fn join(
        key: &str,
        rank: usize,
        ranks: usize,
        device: u64,
        stopped: &dyn Fn() -> bool,
    ) -> Result<World> {
        let path = path_of(key);
        // Before there is a file.
        size_of_world(ranks).ok_or_else(|| too_many(ranks))?;
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|error| Failure::system(&path.display().to_string(), error))?;
        let mut world = World::map(&file, path, rank, ranks)?;
        world.come_in(device)?;
        world.wait_for_all(stopped)?;
        Ok(world)
    }

    fn map(file: &File, path: PathBuf, rank: usize, ranks: usize) -> Result<World> {
        let bytes = size_of_world(ranks).ok_or_else(|| too_many(ranks))?;
        let failed = |error: rustix::io::Errno| Failure::system("shared memory", error);
        // This never makes the file smaller, whatever another rank takes for its size.
        rustix::fs::fallocate(file, FallocateFlags::empty(), bytes as u64 - 1, 1)
            .map_err(failed)?;
        // SAFETY: the address is the system's choice, so nothing else is there; the file has `bytes` bytes and never fewer.
        let base = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                file,
                0,
            )
        }
        .map_err(failed)?;
        let base = NonNull::new(base.cast::<u8>())
            .ok_or_else(|| Failure::system("shared memory", "the address is null"))?;
        Ok(World {
            base,
            bytes,
            rank,
            ranks,
            path,
            has_come: false,
            processes: Mutex::new((0..ranks).map(|_| None).collect()),
            looked: Mutex::new(Instant::now()),
        })
    }

    fn header(&self) -> &Header {
        // SAFETY: the mapping begins with a header, of atomics alone, and lives as long as `self`. A page's start is aligned.
        unsafe { self.base.cast().as_ref() }
    }

    fn slot(&self, rank: usize) -> &Slot {
        assert!(rank < self.ranks);
        let offset = size_of::<Header>() + rank * size_of::<Slot>();
        // SAFETY: the slots follow the header, one for each rank, of atomics alone; the mapping lives as long as `self`.
        unsafe { self.base.add(offset).cast().as_ref() }
    }

    fn ring(&self, from: usize, to: usize) -> *const Ring {
        assert!(from < self.ranks && to < self.ranks);
        let offset = size_of::<Header>()
            + self.ranks * size_of::<Slot>()
            + (from * self.ranks + to) * size_of::<Ring>();
        // SAFETY: the rings follow the slots, one for each pair of ranks, within the mapping (`size_of_world`).
        unsafe { self.base.add(offset).as_ptr().cast_const().cast() }
    }

    fn come_in(&mut self, device: u64) -> Result<()> {
        let header = self.header();
        let ranks = self.ranks as u32;
        if let Err(known) =
            header
                .ranks
                .compare_exchange(0, ranks, Ordering::SeqCst, Ordering::SeqCst)
            && known != ranks
        {
            return Err(Failure::argument(format!(
                "rank {} says that there are {ranks} ranks, another one says {known}",
                self.rank
            )));
        }
        let slot = self.slot(self.rank);
        if slot
            .state
            .compare_exchange(EMPTY, COMING, Ordering::SeqCst, Ordering::SeqCst)
            .is_err()
        {
            return Err(Failure::usage(format!(
                "rank {} has come already: each rank comes once, with an id of its own for each communicator",
                self.rank
            )));
        }
        slot.process.store(std::process::id(), Ordering::SeqCst);
        slot.device.store(device, Ordering::SeqCst);
        slot.state.store(HERE, Ordering::SeqCst);
        header.come.fetch_add(1, Ordering::SeqCst);
        self.has_come = true;
        Ok(())
    }

    fn wait_for_all(&self, stopped: &dyn Fn() -> bool) -> Result<()> {
        let have_come = || self.header().come.load(Ordering::SeqCst) >= self.ranks as u32;
        while !have_come() {
            if let Err(failure) = self.look(stopped, &|_| true)
                && !have_come()
            {
                return Err(failure);
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        let _ = std::fs::remove_file(&self.path);
        self.look_after(&|_| true)?;
        let device = self.slot(self.rank).device.load(Ordering::SeqCst);
        let shared = (0..self.ranks).find(|&other| {
            other != self.rank && self.slot(other).device.load(Ordering::SeqCst) == device
        });
        match shared {
            None => Ok(()),
            Some(other) => Err(Failure::usage(format!(
                "ranks {} and {other} use the same device: each rank needs one of its own (on the simulator WARPSMITH_SIMULATOR_DEVICES makes more)",
                self.rank
            ))),
        }
    }

    /// From time to time: refuses to go on where this rank was told to stop, or another one that is awaited is gone without a word.
    pub(crate) fn look(
        &self,
        stopped: &dyn Fn() -> bool,
        awaited: &dyn Fn(usize) -> bool,
    ) -> Result<()> {
        refuse_if(stopped)?;
        {
            let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
            if looked.elapsed() < LOOK {
                return Ok(());
            }
            *looked = Instant::now();
        }
        self.look_after(awaited)
    }

    /// As [`look`](Self::look), however short the time since the last look.
    pub(crate) fn look_now(
        &self,
        stopped: &dyn Fn() -> bool,
        awaited: &dyn Fn(usize) -> bool,
    ) -> Result<()> {
        refuse_if(stopped)?;
        self.look_after(awaited)
    }

    fn look_after(&self, awaited: &dyn Fn(usize) -> bool) -> Result<()> {
        let mut processes = self
            .processes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for (rank, known) in processes.iter_mut().enumerate() {
            if rank == self.rank || !awaited(rank) {
                continue;
            }
            let slot = self.slot(rank);
            match slot.state.load(Ordering::SeqCst) {
                FAILED => {
                    return Err(Failure::remote(format!(
                        "rank {rank} has failed or was aborted"
                    )));
                }
                HERE => {}
                _ => continue,
            }
            let process = slot.process.load(Ordering::SeqCst);
            if process == std::process::id() {
                continue;
            }
            let gone = || {
                Err(Failure::remote(format!(
                    "the process of rank {rank} is gone"
                )))
            };
            if known.is_none() {
                let Some(pid) = Pid::from_raw(process as i32) else {
                    return gone();
                };
                match pidfd_open(pid, PidfdFlags::empty()) {
                    Ok(descriptor) => *known = Some(descriptor),
                    Err(rustix::io::Errno::SRCH) => return gone(),
                    // A system without such descriptors: nothing can be said.
                    Err(_) => continue,
                }
            }
            if let Some(descriptor) = known {
                let mut asked = [PollFd::new(descriptor, PollFlags::IN)];
                let now = Timespec {
                    tv_sec: 0,
                    tv_nsec: 0,
                };
                // It may have left in good order just before it ended.
                if matches!(poll(&mut asked, Some(&now)), Ok(1..))
                    && slot.state.load(Ordering::SeqCst) == HERE
                {
                    return gone();
                }
            }
        }
        Ok(())
    }

    /// Whether a rank has given its communicator back.
    pub(crate) fn has_left(&self, rank: usize) -> bool {
        self.slot(rank).state.load(Ordering::SeqCst) == LEFT
    }

    /// Says that this rank is done and takes no further part.
    pub(crate) fn leave(&self) {
        let _ = self.slot(self.rank).state.compare_exchange(
            HERE,
            LEFT,
            Ordering::SeqCst,
            Ordering::SeqCst,
        );
    }

    /// Says that this rank has failed: whoever waits for it fails, too.
    pub(crate) fn fail(&self) {
        let _ = self.slot(self.rank).state.compare_exchange(
            HERE,
            FAILED,
            Ordering::SeqCst,
            Ordering::SeqCst,
        );
    }

    /// Says this rank's part in the split of this number; splits are numbered from 1 on, and it has read all parts of the one before.
    pub(crate) fn say_part(&self, number: u64, part: &Part) {
        let slot = self.slot(self.rank);
        let said = &slot.parts[(number % 2) as usize];
        said.color.store(part.color as u32, Ordering::Relaxed);
        said.key.store(part.key as u32, Ordering::Relaxed);
        said.calls.store(part.calls, Ordering::Relaxed);
        let id = u128::from_ne_bytes(part.id);
        said.id[0].store(id as u64, Ordering::Relaxed);
        said.id[1].store((id >> 64) as u64, Ordering::Relaxed);
        slot.splits.store(number, Ordering::Release);
    }

    /// A rank's part in the split of this number, `None` before it has said it.
    pub(crate) fn part_of(&self, rank: usize, number: u64) -> Option<Part> {
        let slot = self.slot(rank);
        if slot.splits.load(Ordering::Acquire) < number {
            return None;
        }
        let said = &slot.parts[(number % 2) as usize];
        let [low, high] = [0, 1].map(|half: usize| said.id[half].load(Ordering::Relaxed));
        Some(Part {
            color: said.color.load(Ordering::Relaxed) as i32,
            key: said.key.load(Ordering::Relaxed) as i32,
            calls: said.calls.load(Ordering::Relaxed),
            id: (u128::from(high) << 64 | u128::from(low)).to_ne_bytes(),
        })
    }

    /// Writes as much of `data` as there is room for on the way to this rank, and says how much.
    pub(crate) fn write(&self, to: usize, data: &[u8]) -> usize {
        let ring = self.ring(self.rank, to);
        // SAFETY: the mapping lives as long as `self`; these two are atomics.
        let (written, read) = unsafe { (&(*ring).written, &(*ring).read) };
        let begin = written.load(Ordering::Relaxed);
        let room = RING - (begin - read.load(Ordering::Acquire)) as usize;
        let count = room.min(data.len());
        let at = begin as usize % RING;
        let first = count.min(RING - at);
        // SAFETY: only this rank writes here, and the reader reads nothing behind `written`, so these bytes are this rank's until the
        // store below; both parts are within the ring.
        unsafe {
            let bytes = (&raw const (*ring).bytes).cast::<u8>().cast_mut();
            bytes.add(at).copy_from_nonoverlapping(data.as_ptr(), first);
            bytes.copy_from_nonoverlapping(data.as_ptr().add(first), count - first);
        }
        written.store(begin + count as u64, Ordering::Release);
        count
    }

    /// Reads as much of `data` as has come from this rank, and says how much.
    pub(crate) fn read(&self, from: usize, data: &mut [u8]) -> usize {
        let ring = self.ring(from, self.rank);
        // SAFETY: the mapping lives as long as `self`; these two are atomics.
        let (written, read) = unsafe { (&(*ring).written, &(*ring).read) };
        let begin = read.load(Ordering::Relaxed);
        let there = (written.load(Ordering::Acquire) - begin) as usize;
        let count = there.min(data.len());
        let at = begin as usize % RING;
        let first = count.min(RING - at);
        // SAFETY: the writer has written these bytes before `written`, and writes none of them again before `read` says so; both parts are
        // within the ring.
        unsafe {
            let bytes = (&raw const (*ring).bytes).cast::<u8>();
            data.as_mut_ptr()
                .copy_from_nonoverlapping(bytes.add(at), first);
            data.as_mut_ptr()
                .add(first)
                .copy_from_nonoverlapping(bytes, count - first);
        }
        read.store(begin + count as u64, Ordering::Release);
        count
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if self.has_come {
            self.fail();
            if self.header().come.load(Ordering::SeqCst) < self.ranks as u32 {
                // Not all have come, and none will without this one.
                let _ = std::fs::remove_file(&self.path);
            }
        }
        // SAFETY: `map` made the mapping, whose references end with `self`.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast::<c_void>(), self.bytes) };
    }
}

fn refuse_if(stopped: &dyn Fn() -> bool) -> Result<()> {
    match stopped() {
        true => Err(Failure::remote("the communicator was aborted")),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests;
