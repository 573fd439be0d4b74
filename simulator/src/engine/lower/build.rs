//! The builder of one function: statements in, lowered instructions out.

use std::collections::HashMap;

use warpsmith_isa::Match;
use warpsmith_isa::effect::Effect;

use super::modifiers::Ty;
use super::module::Context;
use super::scope::{Scope, Symbol, duplicate};
use crate::engine::exec::level::Code;
pub(crate) use crate::engine::exec::operand::Width;
use crate::engine::exec::operand::{
    Address, Labels, Operands, Read, ReadArea, ReadList, ReadPredicate, SINK, Slot, Write,
    WriteArea, WriteList, WriteOptional, WritePredicate, WritePredicateOptional,
};
use crate::engine::isa;
use crate::ptx::ast::{Function, Instruction, Linkage, Position, Space, Statement, Variable};
use crate::ptx::{Error, Result};

/// A virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Register(pub u32);

impl Width {
    /// The width of a register of this type.
    pub fn of(ty: Ty) -> Width {
        match ty.width() {
            1 => Width::Pred,
            8 | 16 => Width::W16,
            32 => Width::W32,
            64 => Width::W64,
            _ => Width::W128,
        }
    }
}

/// A field of a lowered instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// Nothing, or any number the operation understands.
    Raw(u32),
    /// A register.
    Register(Register),
    /// A constant of the pool.
    Constant(Constant),
    /// `_`.
    Sink,
}

impl Field {
    /// An unused field.
    pub const NONE: Field = Field::Raw(0);

    /// The word of an operand that is this field, until allocation replaces it. A raw field is no such operand: it becomes a
    /// word that [`Builder::emit`] refuses.
    fn word(self) -> u32 {
        match self {
            Field::Register(register) => register.0,
            Field::Constant(constant) => CONSTANT_WORD | constant.number,
            Field::Sink => SINK,
            Field::Raw(_) => RAW_WORD,
        }
    }
}

/// A constant of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Constant {
    /// Its number.
    number: u32,
    /// Its offset in the pool.
    pub offset: u32,
}

/// Set in the word of a constant.
const CONSTANT_WORD: u32 = 1 << 31;
/// A word that no register or constant has.
const RAW_WORD: u32 = u32::MAX - 1;

/// What an operand's word names before allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    Register(Register),
    /// A constant: its number.
    Constant(u32),
    Sink,
}

impl Named {
    /// What the word names.
    pub fn of(word: u32) -> Named {
        match word {
            SINK => Named::Sink,
            word if word & CONSTANT_WORD != 0 => Named::Constant(word & !CONSTANT_WORD),
            word => Named::Register(Register(word)),
        }
    }
}

macro_rules! from_field {
    ($($name:ident $(<$t:ident>)?)*) => { $(impl $(<$t>)? From<Field> for $name $(<$t>)? {
        fn from(field: Field) -> Self { Self::from_word(field.word()) }
    })* };
}
from_field! {
    Read<T> Write<T> WriteOptional<T> ReadPredicate WritePredicate WritePredicateOptional ReadArea WriteArea
}

/// What the last field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// A number.
    Raw(u32),
    /// A label's place.
    Label(u32),
    /// A list of operands: its start.
    List(u32),
    /// A list of labels.
    Labels(u32),
    /// A call.
    Call(u32),
}

/// Where control goes after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// To the next instruction.
    Next,
    /// To its label; to the next instruction too, if it is guarded.
    Jump,
    /// To any label of its list.
    Switch,
    /// Nowhere (unless it is guarded).
    End,
}

/// A lowered instruction, before allocation.
#[derive(Clone, Debug)]
pub(crate) struct Lowered {
    pub code: Code,
    pub guard: Option<(Register, bool)>,
    /// The words of its operands: where they start in the builder's words.
    pub words: usize,
    /// Operands that are not declared by types.
    pub untyped: Option<Box<Untyped>>,
    pub control: Control,
    pub at: Position,
    pub location: u32,
    pub name: u16,
}

/// Operands that are not declared by types: five fields, and a list.
#[derive(Clone, Debug)]
pub(crate) struct Untyped {
    pub d: Field,
    pub a: Field,
    pub b: Field,
    pub c: Field,
    pub x: Link,
    /// Whether `d` is a destination; if not, it is read.
    pub writes_d: bool,
    /// Entries of its list: (start, count).
    pub list: (u32, u32),
}

/// A call before allocation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call {
    pub callee: Option<u32>,
    pub runtime: Option<String>,
    pub arguments: Vec<(Field, u32)>,
    pub results: Vec<(Field, u32)>,
}

/// The builder.
pub(crate) struct Builder<'a, 'm> {
    /// The module.
    pub module: &'m mut Context<'a>,
    /// Number of the function.
    pub number: u32,
    pub entry: bool,
    pub scopes: Vec<Scope<'a>>,
    pub widths: Vec<Width>,
    pub code: Vec<Lowered>,
    /// The words of typed operands.
    pub words: Vec<u32>,
    /// Lists of typed operands.
    pub word_lists: Vec<u32>,
    /// Operand lists of untyped instructions: field, and whether it is written.
    pub lists: Vec<(Field, bool)>,
    /// What is said of typed operands besides.
    ignored: Untyped,
    /// Lists of labels.
    pub label_lists: Vec<Vec<u32>>,
    /// For each label: the instruction it stands before.
    pub labels: Vec<Option<u32>>,
    pub label_names: Vec<(String, Position)>,
    pub constants: Vec<u64>,
    /// Of each constant: its offset in the pool, and its width.
    pub constant_places: Vec<(u32, Width)>,
    constant_index: HashMap<(u64, u64, Width), Constant>,
    pub local_bytes: u32,
    pub local_align: u32,
    pub calls: Vec<Call>,
    /// Areas with the instructions they are alive for.
    pub areas: Vec<(Register, u32, u32)>,
    pub formals: Vec<Register>,
    pub returns: Vec<Register>,
    pub names: Vec<String>,
    name_index: HashMap<String, u16>,
    location: u32,
    at: Position,
    guard: Option<(Register, bool)>,
    name: u16,
    /// The form of the instruction that is being lowered.
    form: Option<Match>,
}

impl<'a, 'm> Builder<'a, 'm> {
    /// A builder for a function.
    pub fn new(module: &'m mut Context<'a>, number: u32) -> Self {
        Builder {
            module,
            number,
            entry: false,
            scopes: vec![Scope::default()],
            widths: Vec::new(),
            code: Vec::new(),
            words: Vec::new(),
            word_lists: Vec::new(),
            lists: Vec::new(),
            ignored: Untyped {
                d: Field::NONE,
                a: Field::NONE,
                b: Field::NONE,
                c: Field::NONE,
                x: Link::Raw(0),
                writes_d: false,
                list: (0, 0),
            },
            label_lists: Vec::new(),
            labels: Vec::new(),
            label_names: Vec::new(),
            constants: Vec::new(),
            constant_places: Vec::new(),
            constant_index: HashMap::new(),
            local_bytes: 0,
            local_align: 16,
            calls: Vec::new(),
            areas: Vec::new(),
            formals: Vec::new(),
            returns: Vec::new(),
            names: Vec::new(),
            name_index: HashMap::new(),
            location: 0,
            at: Position::default(),
            guard: None,
            name: 0,
            form: None,
        }
    }

    /// Lowers the whole function.
    pub fn function(&mut self, function: &'a Function<'a>) -> Result<()> {
        self.entry = function.entry;
        self.at = function.at;
        self.parameters(function)?;
        let body = function.body.as_deref().unwrap_or(&[]);
        self.statements(body)?;
        // Control that falls off the end returns.
        self.guard = None;
        self.name = self.name_number("ret");
        isa::control::emit_return(self);
        for (index, place) in self.labels.iter().enumerate() {
            if place.is_none() {
                let (name, at) = &self.label_names[index];
                return Err(Error::new(
                    *at,
                    format!("the label `{name}` is not defined"),
                ));
            }
        }
        let end = self.code.len() as u32;
        let pinned: Vec<_> = self.formals.iter().chain(&self.returns).copied().collect();
        for register in pinned {
            self.areas.push((register, 0, end));
        }
        Ok(())
    }

    fn parameters(&mut self, function: &'a Function<'a>) -> Result<()> {
        if self.entry {
            let mut offset = 0u32;
            for parameter in &function.parameters {
                let (size, at) = (super::variables::size_of(parameter)?, parameter.at);
                offset = offset.next_multiple_of(parameter.align.max(1));
                let symbol = Symbol::Parameter { offset, size };
                if !self.scope().insert(parameter.name, symbol) {
                    return Err(duplicate(parameter.name, at));
                }
                offset = offset
                    .checked_add(size)
                    .filter(|&o| o <= 1 << 16)
                    .ok_or_else(|| {
                        Error::new(at, "the parameters of this kernel need more than 64 KiB")
                    })?;
            }
            return Ok(());
        }
        for (list, is_return) in [(&function.returns, true), (&function.parameters, false)] {
            for parameter in list {
                let register = self.passing_variable(parameter, true)?;
                if is_return {
                    self.returns.push(register)
                } else {
                    self.formals.push(register)
                }
            }
        }
        Ok(())
    }

    /// A parameter of a function, or a `.param` variable for a call: memory of each lane, or a register.
    fn passing_variable(&mut self, variable: &'a Variable<'a>, formal: bool) -> Result<Register> {
        if variable.space == Space::Register {
            let register = self.new_register(Width::of(variable.ty.into()));
            let symbol = Symbol::Register {
                register,
                ty: variable.ty,
            };
            if !self.scope().insert(variable.name, symbol) {
                return Err(duplicate(variable.name, variable.at));
            }
            return Ok(register);
        }
        let size = super::variables::size_of(variable)?;
        let register = self.new_register(Width::Area(size));
        let symbol = Symbol::Area {
            register,
            size,
            formal,
        };
        if !self.scope().insert(variable.name, symbol) {
            return Err(duplicate(variable.name, variable.at));
        }
        Ok(register)
    }

    fn statements(&mut self, statements: &'a [Statement<'a>]) -> Result<()> {
        for statement in statements {
            let (name, at) = match statement {
                Statement::Label(name, at) => (*name, *at),
                Statement::BranchTargets(name, _)
                | Statement::CallTargets(name, _)
                | Statement::Prototype { name, .. } => (*name, self.at),
                _ => continue,
            };
            let symbol = match statement {
                Statement::Label(..) => Symbol::Label(self.new_label(name, at)),
                _ => Symbol::Prototype,
            };
            if !self.scope().insert(name, symbol) {
                return Err(duplicate(name, at));
            }
        }
        // Jump tables name labels that may stand after them.
        for statement in statements {
            if let Statement::BranchTargets(name, targets) = statement {
                let mut labels = Vec::new();
                for &(target, at) in targets {
                    labels.push(self.label(target, at)?);
                }
                self.scope().replace(name, Symbol::Targets(labels));
            }
        }
        for statement in statements {
            match statement {
                Statement::Label(name, at) => {
                    let label = self.label(name, *at)?;
                    self.labels[label as usize] = Some(self.code.len() as u32);
                }
                Statement::Variable(variable) => self.variable(variable)?,
                Statement::Instruction(instruction) => self.instruction(instruction)?,
                Statement::Block(inner) => {
                    let start = self.code.len() as u32;
                    self.scopes.push(Scope {
                        start,
                        ..Scope::default()
                    });
                    self.statements(inner)?;
                    let scope = self.scopes.pop().unwrap_or_default();
                    let end = self.code.len() as u32;
                    self.areas
                        .extend(scope.areas.into_iter().map(|area| (area, scope.start, end)));
                }
                Statement::Location(location) => self.location = self.module.location(*location),
                Statement::BranchTargets(..)
                | Statement::CallTargets(..)
                | Statement::Prototype { .. } => {}
            }
        }
        if self.scopes.len() == 1 {
            let end = self.code.len() as u32;
            let areas = std::mem::take(&mut self.scope().areas);
            self.areas
                .extend(areas.into_iter().map(|area| (area, 0, end)));
        }
        Ok(())
    }

    fn variable(&mut self, variable: &'a Variable<'a>) -> Result<()> {
        let (name, at) = (variable.name, variable.at);
        let symbol = match variable.space {
            Space::Register => {
                let width = Width::of(variable.ty.into());
                if let Some(count) = variable.range {
                    let first = self.new_registers(width, count, at)?;
                    if !self.scope().insert_range(name, first, count, variable.ty) {
                        return Err(duplicate(name, at));
                    }
                    return Ok(());
                }
                if variable.vector > 1 {
                    let first = self.new_registers(width, variable.vector, at)?;
                    Symbol::Vector {
                        first,
                        count: variable.vector,
                    }
                } else {
                    Symbol::Register {
                        register: self.new_register(width),
                        ty: variable.ty,
                    }
                }
            }
            Space::Parameter => {
                let register = self.passing_variable(variable, false)?;
                self.scope().areas.push(register);
                return Ok(());
            }
            Space::Local => {
                let size = super::variables::size_of(variable)?;
                self.local_align = self.local_align.max(variable.align);
                let offset = self.local_bytes.next_multiple_of(variable.align);
                self.local_bytes = offset
                    .checked_add(size)
                    .filter(|&end| end <= 512 << 10)
                    .ok_or_else(|| Error::new(at, "local variables need more than 512 KiB"))?;
                Symbol::Local { offset }
            }
            Space::Shared | Space::Global | Space::Const => {
                self.module.function_variable(self.number, variable)?
            }
        };
        if !self.scope().insert(name, symbol) {
            return Err(duplicate(name, at));
        }
        Ok(())
    }

    fn instruction(&mut self, instruction: &'a Instruction<'a>) -> Result<()> {
        self.at = instruction.at;
        self.name = self.name_number(&instruction.name());
        self.guard = match instruction.guard {
            None => None,
            Some((name, negated, at)) => Some((self.predicate_named(name, at)?, negated)),
        };
        isa::lower(self, instruction)
    }

    fn name_number(&mut self, name: &str) -> u16 {
        if let Some(&number) = self.name_index.get(name) {
            return number;
        }
        let number = self.names.len().min(usize::from(u16::MAX)) as u16;
        if usize::from(number) == self.names.len() {
            self.names.push(name.to_owned());
        }
        self.name_index.insert(name.to_owned(), number);
        number
    }

    /// The innermost scope.
    pub fn scope(&mut self) -> &mut Scope<'a> {
        self.scopes
            .last_mut()
            .expect("the function's own scope is never left")
    }

    /// What a name means here.
    pub fn find(&self, name: &str) -> Option<Symbol<'a>> {
        self.scopes
            .iter()
            .rev()
            .find_map(|scope| scope.get(name))
            .or_else(|| self.module.scope.get(name))
    }

    /// A new register.
    pub fn new_register(&mut self, width: Width) -> Register {
        self.widths.push(width);
        Register(self.widths.len() as u32 - 1)
    }

    fn new_registers(&mut self, width: Width, count: u32, at: Position) -> Result<Register> {
        let first = self.widths.len();
        if first + count as usize > 1 << 20 {
            return Err(Error::new(at, "more than a million registers"));
        }
        self.widths.resize(first + count as usize, width);
        Ok(Register(first as u32))
    }

    fn new_label(&mut self, name: &str, at: Position) -> u32 {
        self.labels.push(None);
        self.label_names.push((name.to_owned(), at));
        self.labels.len() as u32 - 1
    }

    /// The label of this name.
    pub fn label(&self, name: &str, at: Position) -> Result<u32> {
        match self.find(name) {
            Some(Symbol::Label(label)) => Ok(label),
            _ => Err(Error::new(
                at,
                format!("`{name}` is not a label of this function"),
            )),
        }
    }

    /// A constant in all lanes.
    pub fn constant(&mut self, bits: u64, width: Width) -> Field {
        self.constant_wide(bits, 0, width)
    }

    /// A constant of up to 128 bits in all lanes.
    pub fn constant_wide(&mut self, bits: u64, high: u64, width: Width) -> Field {
        let key = (bits, high, width);
        if let Some(&constant) = self.constant_index.get(&key) {
            return Field::Constant(constant);
        }
        let constant = Constant {
            number: self.constant_places.len() as u32,
            offset: (self.constants.len() * 8) as u32,
        };
        self.constant_places.push((constant.offset, width));
        match width {
            Width::Pred => {
                self.constants.push(if bits != 0 { u64::MAX } else { 0 });
                self.constants.resize(self.constants.len() + 7, 0);
            }
            Width::W16 => self
                .constants
                .extend([(bits & 0xFFFF) * 0x0001_0001_0001_0001; 8]),
            Width::W32 => self
                .constants
                .extend([(bits & 0xFFFF_FFFF) * 0x1_0000_0001; 16]),
            Width::W128 | Width::Area(_) => {
                for _ in 0..32 {
                    self.constants.extend([bits, high]);
                }
            }
            Width::W64 => self.constants.extend([bits; 32]),
        }
        self.constant_index.insert(key, constant);
        Field::Constant(constant)
    }

    /// Starts a list of operands.
    pub fn list(&mut self, fields: &[(Field, bool)]) -> (u32, u32) {
        let start = self.lists.len() as u32;
        self.lists.extend_from_slice(fields);
        (start, fields.len() as u32)
    }

    /// A list of sources.
    pub fn read_list<T>(&mut self, fields: &[Field]) -> ReadList<T> {
        let start = self.word_lists.len() as u32;
        self.word_lists
            .extend(fields.iter().map(|field| field.word()));
        ReadList::new(start, fields.len() as u32)
    }

    /// A list of destinations.
    pub fn write_list<T>(&mut self, fields: &[Field]) -> WriteList<T> {
        let start = self.word_lists.len() as u32;
        self.word_lists
            .extend(fields.iter().map(|field| field.word()));
        WriteList::new(start, fields.len() as u32)
    }

    /// A list of labels.
    pub fn label_list(&mut self, labels: Vec<u32>) -> Labels {
        let (number, len) = (self.label_lists.len() as u32, labels.len() as u32);
        self.label_lists.push(labels);
        Labels::new(number, len)
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
        let mut words = vec![0u32; size_of::<O>() / 4];
        // SAFETY: `Operands` are structs of so many `u32`, so that they can be copied as such.
        unsafe {
            let from = (&raw const operands).cast::<u8>();
            from.copy_to_nonoverlapping(words.as_mut_ptr().cast(), words.len() * 4);
        }
        self.emit_words(code, &words)
    }

    /// Emits an instruction whose operands are registers and constants only, in the order of its slots.
    pub fn emit_fields(&mut self, code: Code, fields: &[Field]) -> &mut Lowered {
        let words: Vec<u32> = fields.iter().map(|field| field.word()).collect();
        self.emit_words(code, &words)
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
        let mut words: Vec<u32> = before.iter().map(|field| field.word()).collect();
        words.extend(address.words());
        words.extend(behind.iter().map(|field| field.word()));
        self.emit_words(code, &words)
    }

    /// As [`Builder::emit_fields`], with numbers behind the fields.
    pub fn emit_fields_with(
        &mut self,
        code: Code,
        fields: &[Field],
        numbers: &[u32],
    ) -> &mut Lowered {
        let mut words: Vec<u32> = fields.iter().map(|field| field.word()).collect();
        words.extend(numbers);
        self.emit_words(code, &words)
    }

    fn emit_words(&mut self, code: Code, given: &[u32]) -> &mut Lowered {
        let words = self.words.len();
        self.words.extend_from_slice(given);
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
                        let word = self.word_lists[entry];
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
                Slot::Number | Slot::Label | Slot::Labels | Slot::Call | Slot::Untyped => {}
            }
            at += slot.words();
        }
        assert!(at == self.words.len(), "{}", self.misfit(Slot::Number));
        self.push(code, words, None)
    }

    fn check_read(&self, word: u32, expected: Width, slot: Slot) {
        let found = match Named::of(word) {
            Named::Register(register) => self.widths.get(register.0 as usize).copied(),
            Named::Constant(number) => self
                .constant_places
                .get(number as usize)
                .map(|&(_, width)| width),
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

    /// Emits an untyped instruction `d = code(a, b, c)`, with the current guard.
    pub fn emit_untyped(
        &mut self,
        code: Code,
        d: Field,
        a: Field,
        b: Field,
        c: Field,
    ) -> &mut Untyped {
        if code.slots != [Slot::Untyped] {
            self.emit_fields(code, &[d, a, b, c][..code.slots.len()]);
            return &mut self.ignored;
        }
        let untyped = Untyped {
            d,
            a,
            b,
            c,
            x: Link::Raw(0),
            writes_d: true,
            list: (0, 0),
        };
        let words = self.words.len();
        let lowered = self.push(code, words, Some(Box::new(untyped)));
        lowered.untyped.as_deref_mut().expect("just given")
    }

    fn push(&mut self, code: Code, words: usize, untyped: Option<Box<Untyped>>) -> &mut Lowered {
        self.code.push(Lowered {
            code,
            guard: self.guard,
            words,
            untyped,
            control: Control::Next,
            at: self.at,
            location: self.location,
            name: self.name,
        });
        self.code.last_mut().expect("just pushed")
    }

    /// The current guard.
    pub fn guard(&self) -> Option<(Register, bool)> {
        self.guard
    }

    /// Sets the form of the instruction that is being lowered.
    pub fn set_form(&mut self, form: Match) {
        self.form = Some(form);
    }

    /// The form of the instruction that is being lowered.
    ///
    /// # Panics
    /// Outside of the lowering of an instruction.
    pub fn form(&self) -> &Match {
        self.form.as_ref().expect("an instruction is being lowered")
    }

    /// What the instruction declares to do at its address operand of this number.
    ///
    /// # Panics
    /// If it declares nothing there: a mistake of the instruction's form.
    pub fn effect(&self, operand: usize) -> Effect {
        let found = self.form().effects().find(|found| found.operand == operand);
        let found = found.unwrap_or_else(|| {
            let name = &self.names[usize::from(self.name)];
            panic!("`{name}` declares no access at operand {operand}")
        });
        found.effect
    }

    /// Sets the guard of what is emitted next.
    pub fn set_guard(&mut self, guard: Option<(Register, bool)>) {
        self.guard = guard;
    }
}

impl Linkage {
    /// Whether the host can find it by name.
    pub(crate) fn is_visible(self) -> bool {
        self != Linkage::Private
    }
}
