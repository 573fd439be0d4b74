//! The builder of one function: its registers, names and constants, and the instructions that have been emitted.

use super::constants::Constants;
use super::context::Context;
use super::field::{Field, Register};
use super::scope::{Scope, Symbol, unknown};
use crate::engine::exec::op::Code;
use crate::engine::exec::operand::Width;
use crate::engine::program::Uses;
use crate::ptx::ast::{Instruction, Linkage, Position, Statement};
use crate::ptx::{Error, Result};

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

/// How long an instruction uses its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Registers {
    /// While it executes.
    Used,
    /// Until an instruction releases them: it is asynchronous, and reads and writes them later.
    Held,
    /// While it executes, and it releases all that others hold.
    Released,
}

/// A lowered instruction, before allocation.
#[derive(Clone, Debug)]
pub(crate) struct Lowered {
    pub code: Code,
    pub guard: Option<(Register, bool)>,
    /// The words of its operands: where they start in the builder's words.
    pub words: usize,
    pub control: Control,
    pub registers: Registers,
    pub at: Position,
    pub location: u32,
    pub name: u16,
}

/// A call before allocation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call {
    pub callee: Option<u32>,
    pub runtime: Option<String>,
    pub arguments: Vec<(Field, u32)>,
    pub results: Vec<(Field, u32)>,
}

/// The number of a name that a function does not have yet.
const NO_NAME: u16 = u16::MAX;

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
    /// The words of the instructions' operands.
    pub words: Vec<u32>,
    /// The entries of lists of sources or destinations.
    pub list_words: Vec<u32>,
    /// The entries of lists of labels.
    pub list_labels: Vec<u32>,
    /// For each label: the instruction it stands before.
    pub labels: Vec<Option<u32>>,
    pub label_names: Vec<(String, Position)>,
    pub constants: Constants,
    pub local_bytes: u32,
    pub local_align: u32,
    /// What its instructions do that the checks prepare for.
    pub uses: Uses,
    pub calls: Vec<Call>,
    /// Areas with the instructions they are alive for.
    pub areas: Vec<(Register, u32, u32)>,
    pub formals: Vec<Register>,
    pub returns: Vec<Register>,
    pub names: Vec<String>,
    /// For each name of the module's instructions: its number in `names`, or [`NO_NAME`].
    name_numbers: Vec<u16>,
    /// What the names in the current instruction's operands mean: looked up once.
    pub(super) mentions: Vec<(&'a str, Option<Symbol<'a>>)>,
    /// The number of the `.loc` that holds.
    pub(super) location: u32,
    /// Where the current instruction stands.
    pub(super) at: Position,
    /// Its guard.
    pub(super) guard: Option<(Register, bool)>,
    /// The number of its name.
    pub(super) name: u16,
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
            list_words: Vec::new(),
            list_labels: Vec::new(),
            labels: Vec::new(),
            label_names: Vec::new(),
            constants: Constants::default(),
            local_bytes: 0,
            local_align: 16,
            uses: Uses::default(),
            calls: Vec::new(),
            areas: Vec::new(),
            formals: Vec::new(),
            returns: Vec::new(),
            names: Vec::new(),
            name_numbers: Vec::new(),
            mentions: Vec::new(),
            location: 0,
            at: Position::default(),
            guard: None,
            name: 0,
        }
    }

    /// Names what is emitted next by an instruction, whose name has this number in the module.
    pub(super) fn set_name(&mut self, number: usize, inst: &Instruction<'_>) {
        if number >= self.name_numbers.len() {
            self.name_numbers.resize(number + 1, NO_NAME);
        }
        if self.name_numbers[number] == NO_NAME {
            self.name_numbers[number] = self.add_name(inst.name());
        }
        self.name = self.name_numbers[number];
    }

    /// Adds a name of instructions; its number.
    pub(super) fn add_name(&mut self, name: String) -> u16 {
        // Beyond so many, names are those of other instructions.
        let number = self.names.len().min(usize::from(NO_NAME) - 1);
        if number == self.names.len() {
            self.names.push(name);
        }
        number as u16
    }

    /// The innermost scope.
    pub fn scope(&mut self) -> &mut Scope<'a> {
        self.scopes
            .last_mut()
            .expect("the function's own scope is never left")
    }

    /// What a name means here.
    pub fn find(&self, name: &str) -> Option<Symbol<'a>> {
        // Each mention of a name has a place of its own in the text.
        let is_mention = |&&(mention, _): &&(&str, _)| std::ptr::eq::<str>(mention, name);
        match self.mentions.iter().find(is_mention) {
            Some(&(_, symbol)) => symbol,
            None => self.look_up(name),
        }
    }

    /// What a name in an operand of the current instruction means; [`Builder::find`] knows it from then on.
    pub(super) fn mention(&mut self, name: &'a str) -> Option<Symbol<'a>> {
        let symbol = self.look_up(name);
        self.mentions.push((name, symbol));
        symbol
    }

    fn look_up(&self, name: &str) -> Option<Symbol<'a>> {
        self.scopes
            .iter()
            .rev()
            .find_map(|scope| scope.get(name))
            .or_else(|| self.module.find(name, self.at))
    }

    /// A new register.
    pub fn new_register(&mut self, width: Width) -> Register {
        self.widths.push(width);
        Register(self.widths.len() as u32 - 1)
    }

    pub(super) fn new_registers(
        &mut self,
        width: Width,
        count: u32,
        at: Position,
    ) -> Result<Register> {
        let first = self.widths.len();
        if first + count as usize > 1 << 20 {
            return Err(Error::new(at, "more than a million registers"));
        }
        self.widths.resize(first + count as usize, width);
        Ok(Register(first as u32))
    }

    pub(super) fn new_label(&mut self, name: &str, at: Position) -> u32 {
        self.labels.push(None);
        self.label_names.push((name.to_owned(), at));
        self.labels.len() as u32 - 1
    }

    /// That a name means nothing here, or not yet.
    pub fn unknown(&self, name: &str, at: Position) -> Error {
        let body = self.module.function(self.number).body.as_deref();
        match body.is_some_and(|body| is_declared_later(body, name, self.at)) {
            true => Error::new(
                at,
                format!("Label expected for forward reference of '{name}'"),
            ),
            false => unknown(name, at),
        }
    }

    /// The label of this name.
    pub fn label(&self, name: &str, at: Position) -> Result<u32> {
        match self.find(name) {
            Some(Symbol::Label(label)) => Ok(label),
            Some(_) => Err(Error::new(at, "Illegal branch target, label expected")),
            None => Err(self.unknown(name, at)),
        }
    }

    /// A constant in all lanes.
    pub fn constant(&mut self, bits: u64, width: Width) -> Field {
        self.constant_wide(bits, 0, width)
    }

    /// A constant of up to 128 bits in all lanes.
    pub fn constant_wide(&mut self, bits: u64, high: u64, width: Width) -> Field {
        Field::Constant(self.constants.get(bits, high, width))
    }

    /// The current guard.
    pub fn guard(&self) -> Option<(Register, bool)> {
        self.guard
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

/// Whether a name is declared behind the instruction that stands at a position, where it means something in its scope.
fn is_declared_later(statements: &[Statement<'_>], name: &str, at: Position) -> bool {
    let Some(place) = statements.iter().position(|one| has_instruction(one, at)) else {
        return false;
    };
    let (here, later) = (&statements[place], &statements[place + 1..]);
    let inside = matches!(here, Statement::Block(inner) if is_declared_later(inner, name, at));
    inside
        || later.iter().any(|one| match one {
            Statement::Variable(variable) => variable.name == name && variable.range.is_none(),
            Statement::BranchTargets(other, ..)
            | Statement::CallTargets(other, ..)
            | Statement::Prototype { name: other, .. } => *other == name,
            _ => false,
        })
}

fn has_instruction(statement: &Statement<'_>, at: Position) -> bool {
    match statement {
        Statement::Instruction(instruction) => instruction.at == at,
        Statement::Block(inner) => inner.iter().any(|one| has_instruction(one, at)),
        _ => false,
    }
}
