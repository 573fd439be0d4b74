//! How a local array is accessed.

use rustc_hash::FxHashSet as HashSet;

use crate::linker::offsets::whole;
use crate::linker::stack_slots;
use crate::llvm::{Module, Value, ValueKind, opcode};

/// All accesses to a local array.
pub(super) struct Accesses<'c> {
    pub slot: Value<'c>,
    /// Its size, in bytes.
    pub size: u64,
    /// What reads of it.
    pub reads: Vec<Value<'c>>,
    /// The plain stores.
    pub stores: Vec<Value<'c>>,
    /// What stores numbers at constant places.
    pub beginnings: Vec<Beginning<'c>>,
}

/// A plain store, or a `memset`, at a constant place.
pub(super) struct Beginning<'c> {
    pub instruction: Value<'c>,
    /// The address of its first byte.
    pointer: Value<'c>,
    /// The number of its first byte.
    pub start: u64,
    /// How many there are.
    pub bytes: u64,
}

impl<'c> Accesses<'c> {
    /// Those of a slot of so many bytes; `None` if its address is used for anything else.
    pub(super) fn of(module: &Module<'c>, slot: Value<'c>, size: u64) -> Option<Accesses<'c>> {
        let mut accesses = Accesses {
            slot,
            size,
            reads: Vec::new(),
            stores: Vec::new(),
            beginnings: Vec::new(),
        };
        let mut open = vec![slot];
        let mut seen = HashSet::default();
        while let Some(pointer) = open.pop() {
            if !seen.insert(pointer) {
                continue;
            }
            for user in pointer.users() {
                if user.kind() != ValueKind::Instruction {
                    return None;
                }
                match user.opcode() {
                    opcode::GET_ELEMENT_POINTER
                    | opcode::ADDRESS_SPACE_CAST
                    | opcode::PHI
                    | opcode::SELECT => open.push(user),
                    _ => accesses.add(module, pointer, user)?,
                }
            }
        }
        Some(accesses)
    }

    /// Adds what is done through a pointer; `None` if it is no access.
    fn add(&mut self, module: &Module<'c>, pointer: Value<'c>, user: Value<'c>) -> Option<()> {
        let is_operand = |n| user.operand(n) == Some(pointer);
        match user.opcode() {
            opcode::LOAD => self.reads.push(user),
            opcode::STORE if is_operand(0) => return None,
            // Not left out, and not what overwrites others.
            opcode::STORE if user.is_volatile() || user.is_atomic() => {}
            opcode::STORE => {
                self.stores.push(user);
                if let Some(bytes) = module.stored_size_of(user.operand(0)?.ty()) {
                    self.add_beginning(module, pointer, user, bytes);
                }
            }
            opcode::ICMP => {}
            opcode::CALL if stack_slots::is_lifetime(user) => {}
            opcode::CALL if stack_slots::is_split(user) => {
                if user.is_call_of(&["llvm.memset."]) {
                    let bytes = user.operand(2)?.as_integer()?;
                    self.add_beginning(module, pointer, user, bytes);
                } else if is_operand(1) {
                    self.reads.push(user);
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn add_beginning(
        &mut self,
        module: &Module<'c>,
        pointer: Value<'c>,
        instruction: Value<'c>,
        bytes: u64,
    ) {
        let start = start_in(module, self.slot, pointer);
        let is_inside = |start: &u64| start.checked_add(bytes).is_some_and(|end| end <= self.size);
        if let Some(start) = start.filter(is_inside) {
            self.beginnings.push(Beginning {
                instruction,
                pointer,
                start,
                bytes,
            });
        }
    }
}

impl<'c> Beginning<'c> {
    /// Leaves it out, or what of its end is overwritten.
    pub(super) fn leave_out(&self, overwritten: &[bool]) {
        let own = self.start as usize..(self.start + self.bytes) as usize;
        let left = overwritten[own]
            .iter()
            .rposition(|is_overwritten| !is_overwritten);
        let length = self.instruction.operand(2);
        match (left, length) {
            (None, _) => {
                self.instruction.erase();
                // Later passes count a kernel's instructions.
                if self.pointer.is_instruction()
                    && self.pointer.opcode() == opcode::GET_ELEMENT_POINTER
                    && self.pointer.is_unused()
                {
                    self.pointer.erase();
                }
            }
            (Some(last), Some(length)) if self.instruction.is_call() => {
                let shorter = Value::integer_like(last as u64 + 1, length);
                self.instruction.set_operand(2, shorter);
            }
            _ => {}
        }
    }
}

/// The number of the array's byte that a pointer leads to, if it is a constant.
fn start_in<'c>(module: &Module<'c>, slot: Value<'c>, pointer: Value<'c>) -> Option<u64> {
    let (base, start) = whole(module, pointer);
    if base == slot {
        return Some(start);
    }
    let is_cast = base.is_instruction() && base.opcode() == opcode::ADDRESS_SPACE_CAST;
    let inner = is_cast.then(|| start_in(module, slot, base.operand(0)?))??;
    inner.checked_add(start)
}
