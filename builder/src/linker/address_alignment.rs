//! Loads and stores have the alignment that their addresses are known to have.
//!
//! ```text
//! at = phi [x + 8 * i, ..], [at + 8, ..]      at = phi [x + 8 * i, ..], [at + 8, ..]
//! a  = load i32 at, align 4                   a  = load i32 at, align 8
//! b  = load i32 at + 4, align 4               b  = load i32 at + 4, align 4
//! ```
//!
//! where `x` is a kernel's parameter that is a multiple of 8. The two loads become one of 64 bits: LLVM joins them only if the first one is so aligned. Its
//! own `infer-alignment` sees what an address consists of, but not that a phi has a multiple of 8 in each round.

use rustc_hash::FxHashMap as HashMap;

use crate::llvm::{Attribute, Module, Value, ValueKind, opcode};

/// The widest access of one instruction: two to the power of this, in bytes.
const WIDEST: u32 = 4;

/// What an index is made of is looked at so far.
const MOST_DEPTH: usize = 8;

/// Raises the alignments of all accesses.
pub(super) fn raise(module: &Module<'_>) {
    for function in module.functions() {
        let accesses: Vec<_> = function
            .instructions()
            .into_iter()
            .filter_map(|i| match i.opcode() {
                opcode::LOAD => Some((i, i.operand(0)?)),
                opcode::STORE => Some((i, i.operand(1)?)),
                _ => None,
            })
            .collect();
        let known = Addresses::of(module, accesses.iter().map(|(_, address)| *address));
        for (access, address) in accesses {
            let alignment = 1 << known.zeros(address);
            if access.alignment() < alignment {
                access.set_alignment(alignment);
            }
        }
    }
}

/// The alignment that an address is known to have.
pub(super) fn of<'c>(module: &Module<'c>, address: Value<'c>) -> u32 {
    1 << Addresses::of(module, std::iter::once(address)).zeros(address)
}

/// How many of their lowest bits are zero in addresses.
struct Addresses<'m, 'c> {
    module: &'m Module<'c>,
    zeros: HashMap<Value<'c>, u32>,
}

impl<'m, 'c> Addresses<'m, 'c> {
    /// Of these addresses, and of what they are computed from.
    fn of(module: &'m Module<'c>, all: impl Iterator<Item = Value<'c>>) -> Addresses<'m, 'c> {
        let mut known = Addresses {
            module,
            zeros: HashMap::default(),
        };
        let mut order = Vec::new();
        let mut open: Vec<_> = all.collect();
        while let Some(address) = open.pop() {
            // What a phi begins with and what each round makes of it decide together: it is taken to be aligned until one of them is not.
            if known.zeros.insert(address, WIDEST).is_none() {
                order.push(address);
                open.extend(known.bases(address));
            }
        }
        let mut is_changed = true;
        while is_changed {
            is_changed = false;
            for &address in &order {
                let zeros = known.computed(address);
                is_changed |= known.zeros.insert(address, zeros) != Some(zeros);
            }
        }
        known
    }

    fn zeros(&self, address: Value<'c>) -> u32 {
        self.zeros.get(&address).copied().unwrap_or(0)
    }

    /// The addresses that an address is computed from.
    fn bases(&self, address: Value<'c>) -> Vec<Value<'c>> {
        if !address.is_instruction() {
            return Vec::new();
        }
        match address.opcode() {
            opcode::GET_ELEMENT_POINTER | opcode::ADDRESS_SPACE_CAST | opcode::FREEZE => {
                address.operand(0).into_iter().collect()
            }
            opcode::SELECT => [1, 2]
                .into_iter()
                .filter_map(|n| address.operand(n))
                .collect(),
            opcode::PHI => address
                .incoming()
                .into_iter()
                .map(|(value, _)| value)
                .collect(),
            _ => Vec::new(),
        }
    }

    /// What follows for an address from what is taken to be known of others.
    fn computed(&self, address: Value<'c>) -> u32 {
        let own = match address.kind() {
            ValueKind::Global => address.alignment(),
            ValueKind::Instruction if address.opcode() == opcode::ALLOCA => address.alignment(),
            _ => address.as_parameter().map_or(1, |(function, n)| {
                let alignment = function.number(Attribute::Parameter(n), "align");
                alignment.map_or(1, |alignment| alignment as u32)
            }),
        };
        let bases = self.bases(address);
        let least = bases.into_iter().map(|base| self.zeros(base)).min();
        let zeros = least.unwrap_or(own.max(1).trailing_zeros());
        let is_sum = address.is_instruction() && address.opcode() == opcode::GET_ELEMENT_POINTER;
        let offset = if is_sum { self.offset(address) } else { WIDEST };
        zeros.min(offset).min(WIDEST)
    }

    /// How many zeros what is added to an address ends in.
    fn offset(&self, address: Value<'c>) -> u32 {
        let only = (address.operand_count() == 2).then(|| address.operand(1));
        only.flatten().map_or(0, |index| {
            let size = self.module.size_of(address.element_type());
            trailing_zeros(index, 0) + size.trailing_zeros()
        })
    }
}

/// How many zeros a number is known to end in.
fn trailing_zeros(number: Value<'_>, depth: usize) -> u32 {
    if let Some(constant) = number.as_integer() {
        return constant.trailing_zeros();
    }
    if !number.is_instruction() || depth > MOST_DEPTH {
        return 0;
    }
    let of = |n| {
        number
            .operand(n)
            .map_or(0, |one| trailing_zeros(one, depth + 1))
    };
    match number.opcode() {
        opcode::MUL => of(0) + of(1),
        opcode::SHL => {
            let by = number.operand(1).and_then(Value::as_integer);
            of(0) + by.map_or(0, |by| by.min(64) as u32)
        }
        opcode::ADD | opcode::SUB | opcode::OR | opcode::XOR => of(0).min(of(1)),
        opcode::AND => of(0).max(of(1)),
        opcode::SELECT => of(1).min(of(2)),
        opcode::ZEXT | opcode::SEXT | opcode::TRUNC | opcode::FREEZE => of(0),
        _ => 0,
    }
}
