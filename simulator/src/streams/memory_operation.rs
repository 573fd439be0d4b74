//! Operations of a stream on words of memory: waits until a word has a value, and writes of one.
//!
//! A wait looks at the word again and again ([`super::patience`]), because anybody may write it: a kernel, a copy, another stream, the
//! host without a call.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use super::patience::wait_until;
use crate::check::stream_order::Class;
use crate::context::Context;
use crate::device;
use crate::error::{Result, code};
use crate::memory::{Word, WordSize};
use warpsmith_abi::{
    CUdevice_attribute as Attribute, CUstreamBatchMemOpParams as Parameters,
    CUstreamBatchMemOpType as Type, CUstreamMemoryBarrier_flags as BarrierFlags,
    CUstreamWaitValue_flags as WaitFlags, CUstreamWriteValue_flags as WriteFlags,
};

/// Which of the two interfaces an operation was issued by; a device says for each of them what it can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interface {
    /// That before CUDA 11.7, which no capture takes.
    First,
    Second,
}

impl Interface {
    /// Refuses an interface that a device does not have.
    pub(crate) fn check(self, device: usize) -> Result {
        let abilities = Abilities {
            device,
            interface: self,
        };
        abilities.need(
            Attribute::CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1,
            None,
        )
    }
}

/// Operations that a stream executes in order.
#[derive(Clone)]
pub(crate) struct MemoryBatch {
    operations: Arc<[MemoryOperation]>,
    /// As the program gave them.
    parameters: Arc<[Parameters]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemoryOperation {
    Wait {
        word: Word,
        condition: Condition,
        value: u64,
    },
    Write {
        word: Word,
        value: u64,
    },
    Barrier,
}

/// When a wait ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    /// The word is as large or larger, on the circle of numbers.
    AtLeast,
    Equal,
    /// They have a bit in common.
    And,
    /// Some bit is set in neither.
    Nor,
}

impl Condition {
    fn is_met(self, found: u64, value: u64, size: usize) -> bool {
        // A 32-bit word fills the upper half, so that signs and bits are where a 64-bit word has them.
        let shift = 64 - 8 * size as u32;
        let (found, value) = (found << shift, value << shift);
        match self {
            Self::AtLeast => found.wrapping_sub(value) as i64 >= 0,
            Self::Equal => found == value,
            Self::And => found & value != 0,
            Self::Nor => !(found | value) >> shift << shift != 0,
        }
    }

    /// The condition as the manual writes it, without the word.
    fn sign(self) -> &'static str {
        match self {
            Self::AtLeast => ">=",
            Self::Equal => "==",
            Self::And => "&",
            Self::Nor => "nor",
        }
    }
}

impl MemoryBatch {
    /// Checks operations for a device.
    pub(crate) fn new(
        parameters: &[Parameters],
        device: usize,
        interface: Interface,
    ) -> Result<Self> {
        if parameters.is_empty() {
            return Err(code::INVALID_VALUE);
        }
        let can = Abilities { device, interface };
        let operations = parameters.iter().map(|given| can.operation(given));
        Ok(Self {
            operations: operations.collect::<Result<_>>()?,
            parameters: parameters.into(),
        })
    }

    /// The operations as the program gave them. They stay where they are as long as a clone of the batch lives.
    pub(crate) fn parameters(&self) -> &[Parameters] {
        &self.parameters
    }

    /// Whether some operation waits.
    pub(crate) fn waits(&self) -> bool {
        self.operations
            .iter()
            .any(|operation| matches!(operation, MemoryOperation::Wait { .. }))
    }

    /// Whether an executable graph may have `other` instead: the same kinds of operation on words of the same size.
    pub(crate) fn may_become(&self, other: &Self) -> bool {
        use MemoryOperation::{Barrier, Wait, Write};
        let fits = |pair: (&MemoryOperation, &MemoryOperation)| match pair {
            (Wait { word, .. }, Wait { word: other, .. })
            | (Write { word, .. }, Write { word: other, .. }) => word.bytes() == other.bytes(),
            (Barrier, Barrier) => true,
            _ => false,
        };
        self.operations.len() == other.operations.len()
            && self.operations.iter().zip(&*other.operations).all(fits)
    }

    /// Tells which words it reads and writes.
    pub(super) fn touches(&self, mut tell: impl FnMut(Class, u64, u64)) {
        for operation in &*self.operations {
            let (class, word) = match operation {
                MemoryOperation::Wait { word, .. } => (Class::SystemRead, word),
                MemoryOperation::Write { word, .. } => (Class::SystemWrite, word),
                MemoryOperation::Barrier => continue,
            };
            tell(class, word.address() as u64, word.bytes() as u64);
        }
    }

    /// Executes all operations, unless the context ends meanwhile.
    pub(super) fn execute(&self, context: &Context) -> core::result::Result<(), String> {
        for operation in &*self.operations {
            match *operation {
                MemoryOperation::Barrier => fence(Ordering::SeqCst),
                MemoryOperation::Write { word, value } => {
                    // What the stream did before comes before the write for all who see it.
                    fence(Ordering::SeqCst);
                    word.store(value).ok_or_else(|| gone("a write", word))?;
                }
                MemoryOperation::Wait {
                    word,
                    condition,
                    value,
                } => {
                    if !wait(context, word, condition, value)? {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }
}

/// Waits; `false` where the context ends first.
fn wait(
    context: &Context,
    word: Word,
    condition: Condition,
    value: u64,
) -> core::result::Result<bool, String> {
    let found = Cell::new(0);
    let is_met = || {
        found.set(word.load().ok_or_else(|| gone("a wait", word))?);
        Ok(condition.is_met(found.get(), value, word.bytes()))
    };
    let told = || {
        format!(
            "the {}-bit word at {:#x}: it is {:#x}, the wait is for `{} {value:#x}`; a deadlock, unless somebody still writes it",
            8 * word.bytes(),
            word.address(),
            found.get(),
            condition.sign(),
        )
    };
    let is_over = wait_until(context, is_met, told)?;
    // What comes after sees what came before the write that ends the wait.
    fence(Ordering::SeqCst);
    Ok(is_over)
}

fn gone(what: &str, word: Word) -> String {
    format!(
        "{what} of a stream for the {}-bit word at {:#x} found its memory freed or unmapped",
        8 * word.bytes(),
        word.address()
    )
}

/// What a device can do by an interface.
struct Abilities {
    device: usize,
    interface: Interface,
}

impl Abilities {
    fn need(&self, first: Attribute, second: Option<Attribute>) -> Result {
        let attribute = match self.interface {
            Interface::First => Some(first),
            Interface::Second => second,
        };
        match attribute {
            Some(attribute) if device::profile(self.device).limit(attribute) == 0 => {
                Err(code::NOT_SUPPORTED)
            }
            _ => Ok(()),
        }
    }

    fn need_flush(&self) -> Result {
        let attribute = Attribute::CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES;
        self.need(attribute, Some(attribute))
    }

    fn word_size(&self, is_wide: bool) -> Result<WordSize> {
        self.interface.check(self.device)?;
        if !is_wide {
            return Ok(WordSize::Four);
        }
        self.need(
            Attribute::CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V1,
            Some(Attribute::CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS),
        )?;
        Ok(WordSize::Eight)
    }

    fn operation(&self, given: &Parameters) -> Result<MemoryOperation> {
        // SAFETY: every field of the union consists of plain numbers, for which any bytes are valid; all of them begin with the type.
        let (kind, wait, write, flush, barrier) = unsafe {
            (
                given.operation,
                given.waitValue,
                given.writeValue,
                given.flushRemoteWrites,
                given.memoryBarrier,
            )
        };
        match kind {
            Type::CU_STREAM_MEM_OP_WAIT_VALUE_32 | Type::CU_STREAM_MEM_OP_WAIT_VALUE_64 => {
                let is_wide = kind == Type::CU_STREAM_MEM_OP_WAIT_VALUE_64;
                let size = self.word_size(is_wide)?;
                let condition = self.condition(wait.flags)?;
                Ok(MemoryOperation::Wait {
                    word: Word::to_read(wait.address as usize, size)?,
                    condition,
                    // SAFETY: both fields are plain numbers, for which any bytes are valid.
                    value: unsafe {
                        match is_wide {
                            true => wait.__bindgen_anon_1.value64,
                            false => wait.__bindgen_anon_1.value.into(),
                        }
                    },
                })
            }
            Type::CU_STREAM_MEM_OP_WRITE_VALUE_32 | Type::CU_STREAM_MEM_OP_WRITE_VALUE_64 => {
                let is_wide = kind == Type::CU_STREAM_MEM_OP_WRITE_VALUE_64;
                let size = self.word_size(is_wide)?;
                // Without the barrier writes may be reordered, which they need not be.
                let unordered = WriteFlags::CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER.0;
                if write.flags & !unordered != 0
                    || (write.flags != 0 && self.interface == Interface::Second)
                {
                    return Err(code::INVALID_VALUE);
                }
                Ok(MemoryOperation::Write {
                    word: Word::to_write(write.address as usize, size)?,
                    // SAFETY: both fields are plain numbers, for which any bytes are valid.
                    value: unsafe {
                        match is_wide {
                            true => write.__bindgen_anon_1.value64,
                            false => write.__bindgen_anon_1.value.into(),
                        }
                    },
                })
            }
            Type::CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES => {
                self.need_flush()?;
                match flush.flags {
                    0 => Ok(MemoryOperation::Barrier),
                    _ => Err(code::INVALID_VALUE),
                }
            }
            Type::CU_STREAM_MEM_OP_BARRIER => {
                let known = [
                    BarrierFlags::CU_STREAM_MEMORY_BARRIER_TYPE_SYS.0,
                    BarrierFlags::CU_STREAM_MEMORY_BARRIER_TYPE_GPU.0,
                ];
                match known.contains(&barrier.flags) && self.interface == Interface::Second {
                    true => Ok(MemoryOperation::Barrier),
                    false => Err(code::INVALID_VALUE),
                }
            }
            // Newer than the simulated driver.
            Type::CU_STREAM_MEM_OP_ATOMIC_REDUCTION => Err(code::NOT_SUPPORTED),
            _ => Err(code::INVALID_VALUE),
        }
    }

    fn condition(&self, flags: u32) -> Result<Condition> {
        let flush = WaitFlags::CU_STREAM_WAIT_VALUE_FLUSH.0;
        let condition = match WaitFlags(flags & !flush) {
            WaitFlags::CU_STREAM_WAIT_VALUE_GEQ => Condition::AtLeast,
            WaitFlags::CU_STREAM_WAIT_VALUE_EQ => Condition::Equal,
            WaitFlags::CU_STREAM_WAIT_VALUE_AND => Condition::And,
            WaitFlags::CU_STREAM_WAIT_VALUE_NOR => {
                self.need(
                    Attribute::CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1,
                    Some(Attribute::CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR),
                )?;
                Condition::Nor
            }
            _ => return Err(code::INVALID_VALUE),
        };
        if flags & flush != 0 {
            self.need_flush()?;
        }
        Ok(condition)
    }
}

#[cfg(test)]
mod tests {
    use super::Condition::{And, AtLeast, Equal, Nor};

    #[test]
    fn conditions_are_those_of_the_manual() {
        // As `(int32_t)(*addr - value) >= 0` and its like say.
        for (condition, found, value, met) in [
            (AtLeast, 5, 5, true),
            (AtLeast, 4, 5, false),
            (AtLeast, 0, 0xffff_ffff, true),
            (AtLeast, 0x8000_0000, 0, false),
            (AtLeast, 0x7fff_ffff, 0, true),
            (Equal, 7, 7, true),
            (Equal, 8, 7, false),
            (And, 6, 2, true),
            (And, 4, 2, false),
            (Nor, 0xffff_ffff, 0, false),
            (Nor, 0xffff_0000, 0x0000_ffff, false),
            (Nor, 0xffff_0000, 0x0000_fff0, true),
        ] {
            assert_eq!(
                condition.is_met(found, value, 4),
                met,
                "{found:#x} {condition:?} {value:#x}"
            );
        }
        for (condition, found, value, met) in [
            (AtLeast, 0xffff_ffff, 0x1_0000_0000, false),
            (AtLeast, 1 << 63, 0, false),
            (AtLeast, 0, u64::MAX, true),
            (Equal, 1 << 32, 0, false),
            (And, 1 << 32, 1 << 32, true),
            (Nor, 0xffff_ffff, 0, true),
            (Nor, u64::MAX, 0, false),
        ] {
            assert_eq!(
                condition.is_met(found, value, 8),
                met,
                "{found:#x} {condition:?} {value:#x}"
            );
        }
    }
}
