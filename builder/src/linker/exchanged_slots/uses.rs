//! What is done with the addresses in a slot, and which of them live on behind an exchange.

use rustc_hash::FxHashSet as HashSet;

use crate::linker::stack_slots::is_lifetime;
use crate::llvm::{Block, Value, opcode};

/// The operand of an instruction that is an address in a slot.
pub(super) struct Use<'c> {
    /// The slot, or the phi or select that chooses among addresses in it, from which the address is computed.
    pub root: Value<'c>,
    pub pointer: Value<'c>,
    pub user: Value<'c>,
    pub operand: u32,
    /// Before which instruction the address is used: the user, or the end of the block from which a phi takes it.
    pub at: Value<'c>,
}

/// All uses of a slot but those by exchanges.
pub(super) struct Uses<'c> {
    pub slot: Value<'c>,
    pub uses: Vec<Use<'c>>,
    pub lifetimes: Vec<Value<'c>>,
    /// Whether there is an address with an offset that is not constant.
    pub has_places: bool,
    /// The phis and selects of addresses.
    choices: Vec<Value<'c>>,
}

impl<'c> Uses<'c> {
    /// `None` if an address goes where it cannot be followed.
    pub(super) fn of(slot: Value<'c>, exchanges: &[Value<'c>]) -> Option<Uses<'c>> {
        let mut found = Uses {
            slot,
            uses: Vec::new(),
            lifetimes: Vec::new(),
            has_places: false,
            choices: Vec::new(),
        };
        found.follow(slot, slot, exchanges)?;
        let mut n = 0;
        while let Some(choice) = found.choices.get(n).copied() {
            found.follow(choice, choice, exchanges)?;
            n += 1;
        }
        Some(found)
    }

    fn follow(
        &mut self,
        root: Value<'c>,
        pointer: Value<'c>,
        exchanges: &[Value<'c>],
    ) -> Option<()> {
        for user in users(pointer) {
            if !user.is_instruction() {
                return None;
            }
            if exchanges.contains(&user) {
                if pointer != self.slot {
                    return None;
                }
                continue;
            }
            if is_address(user) && user.operand(0) == Some(pointer) {
                let mut indices = (1..user.operand_count()).filter_map(|n| user.operand(n));
                self.has_places |= indices.any(|index| index.as_integer().is_none());
                self.follow(root, user, exchanges)?;
                continue;
            }
            if is_lifetime(user) {
                if pointer != self.slot {
                    return None;
                }
                self.lifetimes.push(user);
                continue;
            }
            for operand in (0..user.operand_count()).filter(|n| user.operand(*n) == Some(pointer)) {
                let at = match user.opcode() {
                    opcode::PHI => user.incoming().get(operand as usize)?.1.terminator()?,
                    _ => user,
                };
                if !is_followed(user, operand) {
                    return None;
                }
                if user.is_choice() && !self.choices.contains(&user) {
                    self.has_places = true;
                    self.choices.push(user);
                }
                self.uses.push(Use {
                    root,
                    pointer,
                    user,
                    operand,
                    at,
                });
            }
        }
        Some(())
    }

    /// Whether no address that is chosen is used behind one of these calls, unless it is chosen anew.
    pub(super) fn fit_between(&self, calls: &[Value<'c>]) -> bool {
        self.choices.iter().all(|choice| {
            let uses = self.uses.iter().filter(|one| one.root == *choice);
            let uses: Vec<_> = uses.map(|one| one.at).collect();
            let found = |of_block: &[Value<'c>]| {
                let mut all = of_block.iter();
                all.find_map(|one| match () {
                    () if one == choice => Some(false),
                    () => uses.contains(one).then_some(true),
                })
            };
            calls.iter().all(|call| !is_found_behind(*call, &found))
        })
    }
}

/// Whether something is found on a way that begins behind a call: of the instructions of each block, or of the rest of the call's, is asked whether it is
/// among them, or whether the way ends there.
pub(super) fn is_found_behind<'c>(
    call: Value<'c>,
    found: &dyn Fn(&[Value<'c>]) -> Option<bool>,
) -> bool {
    let block = call.block();
    let instructions = block.instructions();
    let behind = instructions.iter().position(|one| *one == call);
    let behind = behind.map_or(&[][..], |at| &instructions[at + 1..]);
    let mut open: Vec<Block<'c>> = match found(behind) {
        Some(is_found) => return is_found,
        None => block.successors(),
    };
    let mut seen = HashSet::default();
    while let Some(block) = open.pop() {
        if !seen.insert(block) {
            continue;
        }
        match found(&block.instructions()) {
            Some(true) => return true,
            Some(false) => {}
            None => open.extend(block.successors()),
        }
    }
    false
}

/// Each instruction that uses an address, once.
fn users(pointer: Value<'_>) -> Vec<Value<'_>> {
    let mut users: Vec<Value<'_>> = Vec::new();
    for user in pointer.users() {
        if !users.contains(&user) {
            users.push(user);
        }
    }
    users
}

fn is_address(value: Value<'_>) -> bool {
    value.opcode() == opcode::GET_ELEMENT_POINTER
}

/// Whether an instruction only accesses memory at this operand, compares it, or chooses it.
fn is_followed(user: Value<'_>, operand: u32) -> bool {
    let is_plain = || !user.is_volatile() && !user.is_atomic();
    match user.opcode() {
        opcode::LOAD => is_plain(),
        opcode::STORE => operand == 1 && is_plain(),
        opcode::ICMP => true,
        opcode::PHI | opcode::SELECT => user.is_pointer(),
        opcode::CALL => {
            user.is_call_of(&["llvm.memcpy.", "llvm.memmove.", "llvm.memset."]) && operand < 2
        }
        _ => false,
    }
}
