//! Emission of instructions: every operand is checked against what the operation declares.

use super::builder::{Builder, Control, Lowered, Registers};
use super::field::{Field, Named};
use crate::engine::exec::op::Code;
use crate::engine::exec::operand::{Address, Operands, ReadList, SINK, Slot, Width, WriteList};

impl Builder<'_, '_> {
    /// A list of sources.
    pub fn read_list<T>(&mut self, fields: &[Field]) -> ReadList<T> {
        let start = self.list_words.len() as u32;
        self.list_words
            .extend(fields.iter().map(|field| field.word()));
        ReadList::new(start, fields.len() as u32)
    }

    /// A list of destinations.
    pub fn write_list<T>(&mut self, fields: &[Field]) -> WriteList<T> {
        let start = self.list_words.len() as u32;
        self.list_words
            .extend(fields.iter().map(|field| field.word()));
        WriteList::new(start, fields.len() as u32)
    }

    /// Emits an instruction with the current guard. Each operand is checked against what the operation expects.
    ///
    /// # Panics
    /// If an operand does not have the kind or width that the operation declares: a mistake of the family's lowering.
    pub fn emit<O: Operands>(&mut self, code: Code, operands: O) -> &mut Lowered {
        assert!(
            code.slots == O::SLOTS,
            "{}: the operation has other operands",
            self.names[usize::from(self.name)]
        );
        let start = self.words.len();
        self.words.resize(start + size_of::<O>() / 4, 0);
        let words = &mut self.words[start..];
        // SAFETY: `O` is `repr(C)` with fields of `u32` alone (the condition of `Operands`), so all its bytes are initialised; `words` was
        // extended by its size above.
        unsafe {
            let from = (&raw const operands).cast::<u8>();
            from.copy_to_nonoverlapping(words.as_mut_ptr().cast(), words.len() * 4);
        }
        self.emit_words(code, start)
    }

    /// Emits an instruction whose operands are registers and constants only, in the order of its slots.
    pub fn emit_fields(&mut self, code: Code, fields: &[Field]) -> &mut Lowered {
        self.emit_fields_with(code, fields, &[])
    }

    /// An address operand with this base.
    pub fn address_word(&self, base: Field, offset: u32, access: u32) -> Address {
        Address::new(base.word(), offset, access)
    }

    /// Emits an access: fields, the address, and further fields, in the order of its slots.
    pub fn emit_access(
        &mut self,
        code: Code,
        before: &[Field],
        address: Address,
        behind: &[Field],
    ) -> &mut Lowered {
        let start = self.words.len();
        self.words.extend(before.iter().map(|field| field.word()));
        self.words.extend(address.words());
        self.words.extend(behind.iter().map(|field| field.word()));
        self.emit_words(code, start)
    }

    /// As [`Builder::emit_fields`], with numbers behind the fields.
    pub fn emit_fields_with(
        &mut self,
        code: Code,
        fields: &[Field],
        numbers: &[u32],
    ) -> &mut Lowered {
        let start = self.words.len();
        self.words.extend(fields.iter().map(|field| field.word()));
        self.words.extend(numbers);
        self.emit_words(code, start)
    }

    /// Emits an instruction whose words have been pushed from here on.
    fn emit_words(&mut self, code: Code, words: usize) -> &mut Lowered {
        let mut at = words;
        for &slot in code.slots {
            assert!(
                at + slot.words() <= self.words.len(),
                "{}",
                self.misfit(slot)
            );
            match slot {
                Slot::Read(width) => self.check_read(self.words[at], width, slot),
                Slot::Write(width) => {
                    if self.words[at] == SINK {
                        self.words[at] = self.new_register(width).0;
                    }
                    self.check_write(self.words[at], width, slot);
                }
                Slot::WriteOptional(width) => {
                    if self.words[at] != SINK {
                        self.check_write(self.words[at], width, slot);
                    }
                }
                Slot::ReadArea | Slot::WriteArea => {
                    let Named::Register(register) = Named::of(self.words[at]) else {
                        panic!("{}", self.misfit(slot));
                    };
                    let width = self.widths.get(register.0 as usize);
                    assert!(
                        matches!(width, Some(Width::Area(_))),
                        "{}",
                        self.misfit(slot)
                    );
                }
                Slot::ReadList(width) | Slot::WriteList(width) => {
                    let (start, len) = (self.words[at] as usize, self.words[at + 1] as usize);
                    for entry in start..start + len {
                        let word = self.list_words[entry];
                        match slot {
                            Slot::WriteList(_) if word == SINK => {}
                            Slot::WriteList(_) => self.check_write(word, width, slot),
                            _ => self.check_read(word, width, slot),
                        }
                    }
                }
                Slot::Address => {
                    let wide = self.words[at + 2] & Address::WIDE != 0;
                    let width = if wide { Width::W64 } else { Width::W32 };
                    self.check_read(self.words[at], width, slot);
                }
                Slot::Number | Slot::Label | Slot::Labels | Slot::Call => {}
            }
            at += slot.words();
        }
        assert!(at == self.words.len(), "{}", self.misfit(Slot::Number));
        self.push(code, words)
    }

    fn check_read(&self, word: u32, expected: Width, slot: Slot) {
        let found = match Named::of(word) {
            Named::Register(register) => self.widths.get(register.0 as usize).copied(),
            Named::Constant(number) => self.constants.width(number),
            Named::Sink => None,
        };
        assert!(
            found.is_some_and(|w| w.fits(expected)),
            "{}",
            self.misfit(slot)
        );
    }

    fn check_write(&self, word: u32, expected: Width, slot: Slot) {
        let found = match Named::of(word) {
            Named::Register(register) => self.widths.get(register.0 as usize).copied(),
            Named::Constant(_) | Named::Sink => None,
        };
        assert!(
            found.is_some_and(|w| w.fits(expected)),
            "{}",
            self.misfit(slot)
        );
    }

    /// What is said of an operand that is not what the operation expects.
    fn misfit(&self, slot: Slot) -> String {
        let name = &self.names[usize::from(self.name)];
        format!(
            "line {}: `{name}` was lowered with another operand than {slot:?}",
            self.at.line
        )
    }

    fn push(&mut self, code: Code, words: usize) -> &mut Lowered {
        self.code.push(Lowered {
            code,
            guard: self.guard,
            words,
            control: Control::Next,
            registers: Registers::Used,
            at: self.at,
            location: self.location,
            name: self.name,
        });
        self.code.last_mut().expect("just pushed")
    }
}

#[cfg(test)]
#[path = "emit_tests.rs"]
mod tests;
