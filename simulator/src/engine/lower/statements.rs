//! The statements of a function: declarations, labels, nested scopes and instructions.

use super::builder::Builder;
use super::field::Register;
use super::lowerings::Lowerings;
use super::scope::{Scope, Symbol, duplicate};
use super::variables::size_of;
use crate::engine::exec::operand::Width;
use crate::engine::isa;
use crate::ptx::ast::{Function, Instruction, Position, Space, Statement, Variable};
use crate::ptx::{Error, Result};

impl<'a> Builder<'a, '_> {
    /// Lowers the whole function.
    pub fn function(
        &mut self,
        function: &'a Function<'a>,
        lowerings: &mut Lowerings,
    ) -> Result<()> {
        self.entry = function.entry;
        self.at = function.at;
        self.parameters(function)?;
        let body = function.body.as_deref().unwrap_or(&[]);
        self.statements(body, lowerings)?;
        // Control that falls off the end returns.
        self.guard = None;
        self.name = self.add_name("ret".to_owned());
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
                let (size, at) = (size_of(parameter)?, parameter.at);
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
        let size = size_of(variable)?;
        let register = self.new_register(Width::Area(size));
        let symbol = Symbol::Area {
            register,
            size,
            formal,
            variable,
        };
        if !self.scope().insert(variable.name, symbol) {
            return Err(duplicate(variable.name, variable.at));
        }
        Ok(register)
    }

    fn statements(
        &mut self,
        statements: &'a [Statement<'a>],
        lowerings: &mut Lowerings,
    ) -> Result<()> {
        for statement in statements {
            if let Statement::Label(name, at) = *statement {
                let symbol = Symbol::Label(self.new_label(name, at));
                self.declare_label(name, symbol, at)?;
            }
        }
        for statement in statements {
            match statement {
                Statement::Label(name, at) => {
                    let label = self.label(name, *at)?;
                    self.labels[label as usize] = Some(self.code.len() as u32);
                }
                Statement::Variable(variable) => self.variable(variable)?,
                Statement::Instruction(instruction) => self.instruction(instruction, lowerings)?,
                Statement::Block(inner) => {
                    let start = self.code.len() as u32;
                    self.scopes.push(Scope {
                        start,
                        ..Scope::default()
                    });
                    self.statements(inner, lowerings)?;
                    let scope = self.scopes.pop().unwrap_or_default();
                    let end = self.code.len() as u32;
                    self.areas
                        .extend(scope.areas.into_iter().map(|area| (area, scope.start, end)));
                }
                Statement::Location(location) => self.location = self.module.location(*location),
                Statement::BranchTargets(name, at, targets) => {
                    let start = self.list_labels.len() as u32;
                    for &(target, at) in targets {
                        let label = self.label(target, at)?;
                        self.list_labels.push(label);
                    }
                    let count = targets.len() as u32;
                    self.declare_label(name, Symbol::Targets { start, count }, *at)?;
                }
                Statement::CallTargets(name, at, _) | Statement::Prototype { name, at, .. } => {
                    self.declare_label(name, Symbol::Prototype, *at)?;
                }
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

    /// Gives a label its meaning in the innermost scope.
    fn declare_label(&mut self, name: &'a str, symbol: Symbol<'a>, at: Position) -> Result<()> {
        if self.scope().insert(name, symbol) {
            return Ok(());
        }
        let message = format!("Duplicate definition of label '{name}'");
        Err(Error::new(at, message))
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
                let size = size_of(variable)?;
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

    fn instruction(
        &mut self,
        instruction: &'a Instruction<'a>,
        lowerings: &mut Lowerings,
    ) -> Result<()> {
        self.at = instruction.at;
        self.guard = match instruction.guard {
            None => None,
            Some((name, negated, at)) => Some((self.predicate_named(name, at)?, negated)),
        };
        self.mentions.clear();
        isa::lower(self, instruction, lowerings)
    }
}
