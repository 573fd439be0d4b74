//! Whether what a slot holds is read again.

use rustc_hash::FxHashMap as HashMap;

use super::uses::{Use, Uses, is_found_behind};
use crate::linker::copies::{FROM, SIZE};
use crate::linker::offsets;
use crate::llvm::{Module, Value, opcode};

/// Of longer slots is not asked whether they are written to as a whole.
const MOST_BYTES: u64 = 4096;

/// Whether nothing reads what a slot holds behind a call that copies it: its life ends, or a block writes to all of it.
pub(super) fn ends_behind<'c>(module: &Module<'c>, slot: Value<'c>, call: Value<'c>) -> bool {
    let bytes = module.size_of(slot.allocated_type());
    let Some(uses) = Uses::of(slot, &[call]).filter(|_| bytes <= MOST_BYTES) else {
        return false;
    };
    let mut all: HashMap<Value<'c>, Vec<&Use<'c>>> = HashMap::default();
    for one in &uses.uses {
        all.entry(one.at).or_default().push(one);
    }
    let found = |of_block: &[Value<'c>]| {
        let mut left = Left::all(bytes);
        for one in of_block {
            if uses.lifetimes.contains(one) || left.is_none() {
                return Some(false);
            }
            // In the next round, what was left by this one.
            if *one == call {
                return Some(true);
            }
            for one in all.get(one).into_iter().flatten() {
                match Write::of(module, slot, one) {
                    Some(write) => left.take(&write),
                    None => return Some(true),
                }
            }
        }
        left.is_none().then_some(false)
    };
    !is_found_behind(call, &found)
}

/// The bytes of a slot that are written to, or none that are known.
struct Write {
    from: u64,
    bytes: u64,
}

impl Write {
    /// `None` if a slot is not, or not only, written to.
    fn of<'c>(module: &Module<'c>, slot: Value<'c>, one: &Use<'c>) -> Option<Write> {
        let user = one.user;
        let bytes = match user.opcode() {
            opcode::STORE => module.size_of(user.operand(0)?.ty()),
            opcode::CALL if one.operand == 0 && user.operand(FROM) != Some(one.pointer) => {
                user.operand(SIZE)?.as_integer().unwrap_or(0)
            }
            _ => return None,
        };
        let (base, from) = offsets::whole(module, one.pointer);
        let is_known = base == slot;
        Some(Write {
            from: if is_known { from } else { 0 },
            bytes: if is_known { bytes } else { 0 },
        })
    }
}

/// The bytes that are not written to yet.
struct Left(Vec<bool>);

impl Left {
    fn all(bytes: u64) -> Left {
        Left(vec![true; bytes as usize])
    }

    fn take(&mut self, write: &Write) {
        let from = write.from as usize;
        let written = self.0.iter_mut().skip(from).take(write.bytes as usize);
        written.for_each(|byte| *byte = false);
    }

    fn is_none(&self) -> bool {
        !self.0.contains(&true)
    }
}
