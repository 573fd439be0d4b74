//! Computes integers and addresses that depend on constants and on numbers that are known.

use rustc_hash::FxHashMap as HashMap;

use crate::llvm::{Module, Value, ValueKind, opcode, predicate};

/// What is known of a function's values in one round of each loop around.
#[derive(Clone)]
pub(super) struct Numbers<'m, 'c> {
    module: &'m Module<'c>,
    /// The phis that are known.
    given: HashMap<Value<'c>, u64>,
    /// What was computed from them.
    computed: HashMap<Value<'c>, Option<u64>>,
}

impl<'m, 'c> Numbers<'m, 'c> {
    /// With no phi known.
    pub(super) fn new(module: &'m Module<'c>) -> Numbers<'m, 'c> {
        Numbers {
            module,
            given: HashMap::default(),
            computed: HashMap::default(),
        }
    }

    /// The same with other values of these phis.
    pub(super) fn with(
        &self,
        phis: impl IntoIterator<Item = (Value<'c>, Option<u64>)>,
    ) -> Numbers<'m, 'c> {
        let mut given = self.given.clone();
        for (phi, number) in phis {
            match number {
                Some(number) => given.insert(phi, number),
                None => given.remove(&phi),
            };
        }
        Numbers {
            module: self.module,
            given,
            computed: HashMap::default(),
        }
    }

    /// A value, if it is known.
    pub(super) fn of(&mut self, value: Value<'c>) -> Option<u64> {
        if let Some(number) = self.given.get(&value) {
            return Some(*number);
        }
        if let Some(known) = self.computed.get(&value) {
            return *known;
        }
        // In code that is never reached a value may depend on itself.
        self.computed.insert(value, None);
        let number = self.compute(value);
        self.computed.insert(value, number);
        number
    }

    fn compute(&mut self, value: Value<'c>) -> Option<u64> {
        let bits = value.integer_bits().filter(|bits| *bits <= 64)?;
        if let Some(number) = value.as_integer() {
            return Some(number);
        }
        if value.kind() != ValueKind::Instruction {
            return value.is_pointer().then(|| self.address(value));
        }
        let number = match value.opcode() {
            opcode::ALLOCA => self.address(value),
            opcode::ZEXT | opcode::TRUNC | opcode::FREEZE => self.of(value.operand(0)?)?,
            opcode::ADDRESS_SPACE_CAST if bits == 64 => self.of(value.operand(0)?)?,
            opcode::SEXT => self.signed(value.operand(0)?)? as u64,
            opcode::SELECT => match self.of(value.operand(0)?)? {
                0 => self.of(value.operand(2)?)?,
                _ => self.of(value.operand(1)?)?,
            },
            opcode::GET_ELEMENT_POINTER if value.operand_count() == 2 => {
                let index = self.signed(value.operand(1)?)? as u64;
                let size = self.module.size_of(value.element_type());
                let base = self.of(value.operand(0)?)?;
                base.wrapping_add(index.wrapping_mul(size))
            }
            opcode::ICMP => self.comparison(value)?.into(),
            operation => {
                let is_binary = opcode::UNSIGNED_ARITHMETIC.contains(&operation);
                let right = is_binary.then(|| self.of(value.operand(1)?))??;
                binary(operation, self.of(value.operand(0)?)?, right, bits)?
            }
        };
        Some(number & ones(bits))
    }

    /// A stand-in for the address of an object that does not change: far from all others, and the same each time.
    fn address(&self, object: Value<'c>) -> u64 {
        (object.raw as u64) << 16
    }

    fn signed(&mut self, value: Value<'c>) -> Option<i64> {
        let bits = value.integer_bits()?;
        Some(signed(self.of(value)?, bits))
    }

    fn comparison(&mut self, value: Value<'c>) -> Option<bool> {
        let (left, right) = (value.operand(0)?, value.operand(1)?);
        let (a, b) = (self.of(left)?, self.of(right)?);
        let signed = (self.signed(left)?, self.signed(right)?);
        Some(match value.predicate() {
            predicate::EQUAL => a == b,
            predicate::NOT_EQUAL => a != b,
            predicate::GREATER => a > b,
            predicate::GREATER_OR_EQUAL => a >= b,
            predicate::LESS => a < b,
            predicate::LESS_OR_EQUAL => a <= b,
            predicate::SIGNED_GREATER => signed.0 > signed.1,
            predicate::SIGNED_GREATER_OR_EQUAL => signed.0 >= signed.1,
            predicate::SIGNED_LESS => signed.0 < signed.1,
            predicate::SIGNED_LESS_OR_EQUAL => signed.0 <= signed.1,
            _ => return None,
        })
    }
}

fn binary(operation: i32, a: u64, b: u64, bits: u32) -> Option<u64> {
    Some(match operation {
        opcode::ADD => a.wrapping_add(b),
        opcode::SUB => a.wrapping_sub(b),
        opcode::MUL => a.wrapping_mul(b),
        opcode::UDIV => a.checked_div(b)?,
        opcode::UREM => a.checked_rem(b)?,
        opcode::SHL if b < bits.into() => a << b,
        opcode::LSHR if b < bits.into() => a >> b,
        opcode::AND => a & b,
        opcode::OR => a | b,
        opcode::XOR => a ^ b,
        _ => return None,
    })
}

/// A number of so many bits as a signed one.
pub(super) fn signed(number: u64, bits: u32) -> i64 {
    (number << (64 - bits)) as i64 >> (64 - bits)
}

fn ones(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}
