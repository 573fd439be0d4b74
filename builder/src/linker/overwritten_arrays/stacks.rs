//! Arrays that are used as stacks: an element is read only below a depth that rises with what is stored there.
//!
//! ```text
//! let mut stack = [0; 32];
//! stack[0] = root;
//! let mut depth = 1;
//! while depth > 0 {
//!     depth -= 1;
//!     let node = stack[depth];
//!     .. { stack[depth] = child; depth += 1; } ..
//! }
//! ```
//!
//! A phi is a depth if all elements below it, and so many above it as are read there, are stored to whenever it has a new value. So they are if, on each way
//! into it, it becomes a constant (and what is below stays), or another depth with what was added to it, where that many elements more were stored to on the
//! way, or with what was subtracted from it, where an access on the way shows that the subtraction did not wrap: one to what is no element is undefined
//! behaviour. For the same reason a depth is never above the number of elements.

use rustc_hash::FxHashSet as HashSet;

use super::accesses::Accesses;
use crate::linker::array_places::{Place, Sum};
use crate::linker::loops;
use crate::linker::narrow::dominators::Dominators;
use crate::llvm::{Block, Module, Value, ValueKind, opcode};

/// How many elements are stored to at once at most.
const MOST_AT_ONCE: i64 = 64;

/// The number of bytes from an array's first one on that are read, after a block in which it begins, before something else is stored there; `None` if it may be
/// any.
pub(super) fn read_from_start<'c>(
    module: &Module<'c>,
    dominators: &Dominators<'c>,
    array: &Accesses<'c>,
    block: Block<'c>,
) -> Option<u64> {
    let behind = loops::behind(block);
    let is_beginning = |access: Value<'c>| {
        let mut beginnings = array.beginnings.iter();
        beginnings.any(|beginning| beginning.instruction == access)
    };
    let mut accesses = array.reads.iter().chain(&array.stores);
    let is_begun = accesses.all(|access| access.block() != block || is_beginning(*access));
    if !is_begun || behind.contains(&block) {
        return None;
    }
    let is_later = |access: &&Value<'c>| behind.contains(&access.block());
    let mut stack = Stack {
        dominators,
        accesses: Vec::new(),
        stride: 0,
        above: 0,
        read: HashSet::default(),
        start: 0,
        depths: Vec::new(),
    };
    for &read in array.reads.iter().filter(is_later) {
        let is_load = read.opcode() == opcode::LOAD;
        let place = is_load.then(|| Place::of(module, array.slot, read.operand(0)?))??;
        let bytes = module.size_of(read.ty()).try_into().ok()?;
        stack.add_read(place, bytes)?;
        stack.accesses.push(Access {
            block: read.block(),
            place,
            stored: 0,
        });
    }
    for &store in array.stores.iter().filter(is_later) {
        if let Some(place) = Place::of(module, array.slot, store.operand(1)?)
            && let Some(bytes) = module.stored_size_of(store.operand(0)?.ty())
        {
            stack.accesses.push(Access {
                block: store.block(),
                place,
                stored: bytes.try_into().ok()?,
            });
        }
    }
    let mut n = 0;
    while let Some(&depth) = stack.depths.get(n) {
        stack.check(depth)?;
        n += 1;
    }
    let start = stack.start.try_into().ok()?;
    (start < array.size).then_some(start)
}

struct Stack<'s, 'c> {
    dominators: &'s Dominators<'c>,
    accesses: Vec<Access<'c>>,
    /// The size of an element.
    stride: i64,
    /// How many elements from the one on whose number a depth is are stored to, too.
    above: i64,
    /// Those bytes of an element that are read by a depth.
    read: HashSet<i64>,
    /// How many bytes from the first one on must be there from the beginning.
    start: i64,
    /// The phis that must be depths.
    depths: Vec<Value<'c>>,
}

struct Access<'c> {
    block: Block<'c>,
    place: Place<'c>,
    /// How many bytes it stores.
    stored: i64,
}

impl<'c> Stack<'_, 'c> {
    /// Notes a read of so many bytes; `None` if it is not known what it is of.
    fn add_read(&mut self, place: Place<'c>, bytes: i64) -> Option<()> {
        let end = place.bytes + bytes;
        let Some((depth, stride)) = place.element else {
            self.start = self.start.max(end);
            return Some(());
        };
        if self.depths.is_empty() {
            self.stride = stride;
        }
        if stride != self.stride || stride <= 0 {
            return None;
        }
        // Rounded up.
        let above = -(-end).div_euclid(stride);
        self.above = self.above.max(above);
        let read = (place.bytes..end).map(|byte| byte.rem_euclid(stride));
        self.read.extend(read);
        self.add_depth(depth)
    }

    fn add_depth(&mut self, depth: Value<'c>) -> Option<()> {
        if depth.kind() != ValueKind::Instruction || depth.opcode() != opcode::PHI {
            return None;
        }
        if !self.depths.contains(&depth) {
            self.depths.push(depth);
        }
        Some(())
    }

    /// Looks at the ways into a phi; `None` if it is no depth.
    fn check(&mut self, depth: Value<'c>) -> Option<()> {
        for (value, from) in depth.incoming() {
            let Sum {
                variable,
                added,
                is_resized,
            } = Sum::of(value)?;
            let Some(other) = variable else {
                let elements = added.checked_add(self.above)?;
                let end = elements.checked_mul(self.stride)?;
                self.start = self.start.max(end);
                // What is below zero by more is above all numbers.
                if elements < 0 {
                    return None;
                }
                continue;
            };
            self.add_depth(other)?;
            let is_right = match added {
                0 => !is_resized || self.above == 0,
                _ if is_resized => false,
                1.. => {
                    let mut more = 0..added;
                    added <= MOST_AT_ONCE && more.all(|n| self.is_stored(other, n, from))
                }
                _ => self.is_accessed(other, added, from),
            };
            if !is_right {
                return None;
            }
        }
        Some(())
    }

    /// Whether whoever leaves a block has stored what is read of an element, so many behind those that are stored to by a depth.
    fn is_stored(&self, depth: Value<'c>, n: i64, from: Block<'c>) -> bool {
        let mut left = self.read.clone();
        for access in self.accesses_by(depth, from) {
            let start = access.place.bytes - (self.above + n) * self.stride;
            left.retain(|byte| !(start..start + access.stored).contains(byte));
        }
        left.is_empty()
    }

    /// Whether whoever leaves a block has made an access that shows that a depth, with what is added to it, is not below zero by more than `above`.
    fn is_accessed(&self, depth: Value<'c>, added: i64, from: Block<'c>) -> bool {
        let mut accesses = self.accesses_by(depth, from);
        accesses.any(|access| access.place.bytes < (added + self.above + 1) * self.stride)
    }

    /// The accesses by a depth that every way out of a block has gone through.
    fn accesses_by(&self, depth: Value<'c>, from: Block<'c>) -> impl Iterator<Item = &Access<'c>> {
        self.accesses.iter().filter(move |access| {
            let is_such = access.place.element == Some((depth, self.stride));
            is_such && self.dominators.dominates(access.block, from)
        })
    }
}
