//! What random driver calls are made with: handles, addresses and sizes, some of them good.

use std::ffi::c_void;

use warpsmith_driver::raw::*;
use warpsmith_testkit::Random;

use crate::choose::Choose;

/// What a handle is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    Context,
    Module,
    Function,
    Stream,
    Event,
    /// Device memory.
    Memory,
    /// Page-locked memory of the host.
    Host,
    Graph,
    Node,
    Exec,
    Pool,
}

/// All of them.
const KINDS: [Of; 11] = [
    Of::Context,
    Of::Module,
    Of::Function,
    Of::Stream,
    Of::Event,
    Of::Memory,
    Of::Host,
    Of::Graph,
    Of::Node,
    Of::Exec,
    Of::Pool,
];

/// So many handles of a kind are remembered.
const MOST: usize = 40;
/// Bytes of the host's buffers; copies to and from them are smaller.
const BYTES: usize = 1 << 16;

/// What the calls share.
pub struct State {
    /// Draws the arguments of the call at hand.
    pub random: Random,
    /// Handles by kind; some are of what is destroyed.
    handles: [Vec<u64>; KINDS.len()],
    /// Device memory that calls have allocated, whether it lives or not.
    allocated: Vec<CUdeviceptr>,
    /// Where calls write what is not looked at, and what copies read and write.
    buffers: [Vec<u64>; 2],
}

impl State {
    pub fn new() -> State {
        State {
            random: Random::new(0),
            handles: Default::default(),
            allocated: Vec::new(),
            buffers: [(); 2].map(|()| vec![0; BYTES / 8]),
        }
    }

    /// A handle: mostly one of its kind, now and then none, one of another kind, or any number.
    pub fn handle(&mut self, of: Of) -> u64 {
        let of = match self.random.index(100) {
            0..=4 => return 0,
            5..=7 => {
                let any = self.random.bits();
                return *self
                    .random
                    .one_of(&[1, 2, 0x10, 0xdead_beef, u64::MAX, any >> 16]);
            }
            8..=10 => *self.random.one_of(&KINDS),
            _ => of,
        };
        let handles = &self.handles[of as usize];
        if handles.is_empty() {
            return 0;
        }
        *self.random.one_of(handles)
    }

    /// A stream, or the default one.
    pub fn stream(&mut self) -> CUstream {
        if self.random.percent(20) {
            return std::ptr::null_mut();
        }
        self.handle(Of::Stream) as CUstream
    }

    /// An address in device memory, or near it.
    pub fn address(&mut self) -> CUdeviceptr {
        match self.handle(Of::Memory) {
            0 => 0,
            address => {
                address.wrapping_add(*self.random.one_of(&[0, 0, 0, 4, 1, 255, 4096, u64::MAX]))
            }
        }
    }

    /// Any size.
    pub fn size(&mut self) -> usize {
        let small = self.random.index(5000);
        *self.random.one_of(&[
            0,
            1,
            3,
            4,
            16,
            63,
            256,
            4096,
            65536,
            1 << 20,
            1 << 26,
            1 << 45,
            usize::MAX / 2,
            usize::MAX,
            usize::MAX - 7,
            small,
        ])
    }

    /// A size that the host's buffers have.
    pub fn small(&mut self) -> usize {
        *self.random.one_of(&[0, 1, 4, 16, 64, 256, 1024, 4096])
    }

    /// Any number.
    pub fn number(&mut self) -> u32 {
        let small = self.random.below(200);
        *self.random.one_of(&[
            0,
            1,
            2,
            3,
            4,
            8,
            32,
            64,
            127,
            128,
            1024,
            65535,
            0x7fff_ffff,
            0x8000_0000,
            u32::MAX,
            small,
        ])
    }

    /// A number that an enumeration may have.
    pub fn choice(&mut self) -> u32 {
        match self.random.index(20) {
            0 => self.number(),
            _ => self.random.below(30),
        }
    }

    /// A buffer of the host, large enough for what any call writes.
    pub fn buffer<T>(&mut self) -> *mut T {
        let buffer = self.random.index(2);
        self.buffers[buffer].as_mut_ptr().cast()
    }

    /// Remembers what a call made.
    pub fn keep(&mut self, of: Of, result: CUresult, handle: u64) -> CUresult {
        if result == CUresult::CUDA_SUCCESS && handle != 0 {
            if of == Of::Memory {
                self.allocated.push(handle);
            }
            let handles = &mut self.handles[of as usize];
            if handles.len() < MOST {
                handles.push(handle);
            } else {
                let place = self.random.index(MOST);
                handles[place] = handle;
            }
        }
        result
    }

    /// A handle that a call is to destroy; now and then it stays known.
    pub fn take(&mut self, of: Of) -> u64 {
        let handle = self.handle(of);
        if self.random.percent(80) {
            self.handles[of as usize].retain(|other| *other != handle);
        }
        handle
    }

    /// Forgets all handles; answers the contexts, and the memory that was allocated.
    pub fn forget(&mut self) -> (Vec<u64>, Vec<CUdeviceptr>) {
        let contexts = std::mem::take(&mut self.handles[Of::Context as usize]);
        self.handles = Default::default();
        (contexts, std::mem::take(&mut self.allocated))
    }

    /// Some nodes, in memory that outlives the call, and how many.
    pub fn nodes(&mut self, most: usize) -> (Vec<CUgraphNode>, usize) {
        let count = self.random.index(most + 1);
        let nodes = (0..count.max(1)).map(|_| self.handle(Of::Node) as CUgraphNode);
        (nodes.collect(), count)
    }
}

/// Values of a kernel's parameters, and pointers to them; the calls copy both.
pub struct Parameters {
    values: [u64; 2],
    pointers: [*mut c_void; 2],
}

impl Parameters {
    /// An address and any number.
    pub fn random(state: &mut State) -> Box<Parameters> {
        let mut parameters = Box::new(Parameters {
            values: [state.address(), state.random.bits()],
            pointers: [std::ptr::null_mut(); 2],
        });
        let first = parameters.values.as_mut_ptr();
        parameters.pointers = [first.cast(), first.wrapping_add(1).cast()];
        parameters
    }

    /// For the call.
    pub fn pointers(&mut self) -> *mut *mut c_void {
        self.pointers.as_mut_ptr()
    }
}
