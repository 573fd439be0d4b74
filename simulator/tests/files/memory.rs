//! A small device memory for the file tests, and what kernels print.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use warpsmith_simulator::engine::{
    AccessError, AllocationInfo, DeviceMemory, Extent, Note, NoteSink, Runtime, RuntimeError,
};

/// Less where it is interpreted, word by word.
const BYTES: usize = if cfg!(miri) { 1 << 19 } else { 4 << 20 };
const HEAP: u64 = if cfg!(miri) { 4 << 10 } else { 64 << 10 };

/// The memory: allocations one after the other, with gaps between them.
pub struct Arena {
    memory: Box<[AtomicU64]>,
    allocations: Vec<AllocationInfo>,
    next: u64,
    /// Those that hold the memory of two devices, one behind the other, by their addresses.
    multicast: Vec<u64>,
    /// How many allocations are kept, and where the next one would be.
    kept: (usize, u64),
    generation: AtomicU64,
}

impl Arena {
    pub fn new() -> Arena {
        // SAFETY: an atomic integer is valid as zeros.
        let memory: Box<[AtomicU64]> = unsafe { Box::new_zeroed_slice(BYTES / 8).assume_init() };
        let next = memory.as_ptr() as u64 + 4096;
        let mut arena = Arena {
            memory,
            allocations: Vec::new(),
            next,
            multicast: Vec::new(),
            kept: (0, next),
            generation: AtomicU64::new(0),
        };
        arena.allocate(HEAP, 256, "device heap");
        arena.keep();
        arena
    }

    /// Keeps what is allocated now when the arena forgets.
    pub fn keep(&mut self) {
        self.kept = (self.allocations.len(), self.next);
    }

    /// Frees what is not kept, and makes all bytes zero.
    pub fn forget(&mut self) {
        let used = (self.next - self.memory.as_ptr() as u64) as usize / 8;
        for word in &mut self.memory[..used] {
            *word.get_mut() = 0;
        }
        self.allocations.truncate(self.kept.0);
        self.multicast.clear();
        self.next = self.kept.1;
        *self.generation.get_mut() += 1;
    }

    /// The device runtime of kernels in this memory.
    pub fn output(&self) -> Output {
        let base = self.allocations[0].base;
        Output {
            text: Mutex::default(),
            notes: Mutex::default(),
            heap: Mutex::new(base..base + HEAP),
        }
    }

    pub fn allocate(&mut self, size: u64, align: u64, what: &str) -> u64 {
        let base = self.next.next_multiple_of(align.max(256));
        self.next = base + size + 256;
        assert!(
            self.next < self.memory.as_ptr() as u64 + BYTES as u64,
            "a file test needs too much memory"
        );
        self.allocations.push(AllocationInfo {
            base,
            size,
            freed: false,
            what: what.to_owned(),
        });
        base
    }

    pub fn free(&mut self, address: u64) {
        self.allocations
            .iter_mut()
            .filter(|a| a.base == address)
            .for_each(|a| a.freed = true);
    }

    /// Makes the allocation at this address one that multimem instructions alone use.
    pub fn make_multicast(&mut self, address: u64) {
        self.multicast.push(address);
    }

    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        let start = (address - self.memory.as_ptr() as u64) as usize;
        for (index, &byte) in bytes.iter().enumerate() {
            let (word, shift) = ((start + index) / 8, (start + index) % 8 * 8);
            let value = self.memory[word].get_mut();
            *value = *value & !(0xff << shift) | u64::from(byte) << shift;
        }
    }

    pub fn read(&mut self, address: u64, length: usize) -> Vec<u8> {
        let start = (address - self.memory.as_ptr() as u64) as usize;
        (start..start + length)
            .map(|at| (*self.memory[at / 8].get_mut() >> (at % 8 * 8)) as u8)
            .collect()
    }

    /// The text with each address near an allocation written as `ARGUMENT+offset`, so that it is the same in every run.
    pub fn with_names(&self, text: &str) -> String {
        let mut result = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("0x") {
            let digits = rest[at + 2..]
                .bytes()
                .take_while(u8::is_ascii_hexdigit)
                .count();
            let (number, after) = rest[at..].split_at(2 + digits);
            result.push_str(&rest[..at]);
            let address = u64::from_str_radix(&number[2..], 16).unwrap_or(0);
            let near = self
                .allocations
                .iter()
                .find(|a| address >= a.base && address <= a.base + a.size + 128);
            match near {
                Some(allocation) => {
                    result.push_str(&format!(
                        "&{}+{}",
                        allocation.what,
                        address - allocation.base
                    ));
                }
                None => result.push_str(number),
            }
            rest = after;
        }
        result + rest
    }
}

impl DeviceMemory for Arena {
    fn arena(&self) -> (u64, u64) {
        (self.memory.as_ptr() as u64, BYTES as u64)
    }

    fn validate(&self, address: u64, size: u64, _: bool) -> Result<Extent, AccessError> {
        let found = self
            .allocations
            .iter()
            .find(|a| address >= a.base && address + size <= a.base + a.size);
        match found {
            Some(a) if a.freed => Err(AccessError::Freed),
            Some(a) if self.multicast.contains(&a.base) => Err(AccessError::Multicast),
            Some(a) => Ok(Extent {
                base: a.base,
                end: a.base + a.size,
                writable: true,
            }),
            None => Err(AccessError::OutOfBounds),
        }
    }

    fn replicas(&self, address: u64, size: u64, _: bool) -> Result<Vec<u64>, AccessError> {
        let found = self
            .allocations
            .iter()
            .find(|a| address >= a.base && address < a.base + a.size);
        let half = match found {
            Some(a) if self.multicast.contains(&a.base) => a.size / 2,
            _ => return Err(AccessError::NotMulticast),
        };
        let base = found.map_or(0, |a| a.base);
        match address + size <= base + half {
            true => Ok(vec![address, address + half]),
            false => Err(AccessError::OutOfBounds),
        }
    }

    fn nearest(&self, address: u64) -> Option<AllocationInfo> {
        let distance = |a: &&AllocationInfo| {
            if address < a.base {
                a.base - address
            } else {
                address.saturating_sub(a.base + a.size - 1)
            }
        };
        self.allocations
            .iter()
            .filter(|a| distance(a) < 4096)
            .min_by_key(distance)
            .cloned()
    }

    fn generation(&self) -> &AtomicU64 {
        &self.generation
    }
}

/// What kernels print, and their heap, which only grows.
pub struct Output {
    text: Mutex<Vec<u8>>,
    notes: Mutex<Vec<String>>,
    heap: Mutex<std::ops::Range<u64>>,
}

impl Output {
    /// The lines, sorted: threads print in any order.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let text =
            String::from_utf8_lossy(&self.text.lock().expect("no test panics while printing"))
                .into_owned();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines.into_iter()
    }
}

impl Output {
    /// The lines of the notes, in the order of the notes' texts: workers note in any order.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self
            .notes
            .lock()
            .expect("no test panics while noting")
            .clone();
        notes.sort();
        let lines = notes.iter().flat_map(|note| note.lines());
        let lines = lines.map(|line| line.strip_prefix("note: ").unwrap_or(line));
        lines.map(str::to_owned).collect()
    }
}

impl NoteSink for Output {
    fn note(&self, note: &Note) {
        self.notes
            .lock()
            .expect("no test panics while noting")
            .push(note.to_string());
    }
}

impl Runtime for Output {
    fn print(&self, text: &[u8]) {
        self.text
            .lock()
            .expect("no test panics while printing")
            .extend_from_slice(text);
    }

    fn malloc(&self, size: u64) -> u64 {
        let mut heap = self.heap.lock().expect("no test panics while allocating");
        let (start, next) = (heap.start, heap.start + size.next_multiple_of(256));
        if next > heap.end {
            return 0;
        }
        heap.start = next;
        start
    }

    fn free(&self, _: u64) -> bool {
        true
    }

    fn call(&self, _: &str, _: &[u64]) -> Result<u64, RuntimeError> {
        Err(RuntimeError::NoSuchFunction)
    }
}
