//! Functions: heads, performance directives, statements, instructions and operands.

use super::ast::{
    AddressBase, Function, Instruction, Linkage, Location, Module, Operand, OperandKind, Statement,
    Variable,
};
use super::lexer::{Kind, Token};
use super::parser::Parser;
use super::{Error, Result};

impl<'a> Parser<'a> {
    /// `.entry` or `.func` with all that belongs to it.
    pub fn function(&mut self, linkage: Linkage, module: &mut Module<'a>) -> Result<Function<'a>> {
        let entry = self.advance().text == "entry";
        self.attributes()?;
        let returns = if self.is("(") {
            self.parameters()?
        } else {
            Vec::new()
        };
        let (name, at) = self.name("the function's name")?;
        let parameters = if self.is("(") {
            self.parameters()?
        } else {
            Vec::new()
        };
        let mut function = Function {
            entry,
            name,
            at,
            linkage,
            returns,
            parameters,
            max_threads: None,
            exact_threads: false,
            min_blocks: None,
            max_registers: None,
            cluster: None,
            body: None,
        };
        if entry && !function.returns.is_empty() {
            return Err(Error::new(at, "an entry returns nothing"));
        }
        while self.token().kind == Kind::Dotted {
            self.performance(&mut function)?;
        }
        if self.accept(";") {
            return Ok(function);
        }
        if !self.is("{") {
            return Err(self.unexpected("a body, `;` or a performance directive"));
        }
        function.body = Some(self.block(module)?);
        Ok(function)
    }

    fn attributes(&mut self) -> Result<()> {
        while self.accept_dotted("attribute") {
            self.expect("(")?;
            let mut depth = 1;
            while depth > 0 {
                let token = self.advance();
                match (token.kind, token.text) {
                    (Kind::End, _) => return Err(self.unexpected("`)`")),
                    (Kind::Punctuation, "(") => depth += 1,
                    (Kind::Punctuation, ")") => depth -= 1,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn performance(&mut self, function: &mut Function<'a>) -> Result<()> {
        let token = self.advance();
        match token.text {
            "maxntid" => function.max_threads = function.max_threads.or(Some(self.triple()?)),
            "reqntid" => {
                function.max_threads = Some(self.triple()?);
                function.exact_threads = true;
            }
            "minnctapersm" => function.min_blocks = Some(self.integer("a number of blocks")?),
            "maxnctapersm" | "maxclusterrank" | "abi_preserve" | "abi_preserve_control" => {
                self.integer("a number")?;
            }
            "maxnreg" => function.max_registers = Some(self.integer("a number of registers")?),
            "reqnctapercluster" => function.cluster = Some(self.triple()?),
            "explicitcluster" | "blocksareclusters" | "noreturn" | "unique" => {}
            "pragma" => {
                self.step_back();
                self.pragma()?;
            }
            other => {
                return Err(Error::new(
                    token.at,
                    format!("`.{other}` is not a directive of a function"),
                ));
            }
        }
        Ok(())
    }

    fn triple(&mut self) -> Result<[u32; 3]> {
        let mut values = [self.integer("a number")?, 1, 1];
        for value in &mut values[1..] {
            if !self.accept(",") {
                break;
            }
            *value = self.integer("a number")?;
        }
        Ok(values)
    }

    fn parameters(&mut self) -> Result<Vec<Variable<'a>>> {
        self.expect("(")?;
        let mut all = Vec::new();
        while !self.is(")") {
            all.push(self.variable(Linkage::Private)?);
            if !self.accept(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(all)
    }

    fn block(&mut self, module: &mut Module<'a>) -> Result<Vec<Statement<'a>>> {
        let open = self.at();
        self.expect("{")?;
        let depth = self.enter()?;
        let mut all = Vec::new();
        loop {
            let token = self.token();
            match (token.kind, token.text) {
                (Kind::End, _) => return Err(Error::new(open, "this block has no end")),
                (Kind::Punctuation, "}") => break,
                (Kind::Punctuation, "{") => all.push(Statement::Block(self.block(module)?)),
                (Kind::Punctuation, ";") => {
                    self.advance();
                }
                (Kind::Dotted, "loc") => all.push(Statement::Location(self.location()?)),
                (Kind::Dotted, "file") => {
                    let file = self.file()?;
                    module.files.push(file);
                }
                (Kind::Dotted, "pragma") => self.pragma()?,
                (Kind::Dotted, "section") => self.section()?,
                (Kind::Dotted, "extern") => {
                    self.advance();
                    all.extend(
                        self.variables(Linkage::Extern)?
                            .into_iter()
                            .map(Statement::Variable),
                    );
                }
                (Kind::Dotted, "reg" | "local" | "shared" | "param" | "global" | "const") => {
                    all.extend(
                        self.variables(Linkage::Private)?
                            .into_iter()
                            .map(Statement::Variable),
                    );
                }
                (Kind::Name, _) if self.token_after(1).text == ":" => self.label(&mut all)?,
                (Kind::Name, _) | (Kind::Punctuation, "@") => {
                    all.push(Statement::Instruction(self.instruction()?))
                }
                _ => return Err(self.unexpected("a declaration, a label or an instruction")),
            }
        }
        self.expect("}")?;
        self.leave(depth);
        Ok(all)
    }

    fn label(&mut self, all: &mut Vec<Statement<'a>>) -> Result<()> {
        let (name, at) = self.name("a label")?;
        self.expect(":")?;
        if self.accept_dotted("branchtargets") {
            all.push(Statement::BranchTargets(name, self.names()?));
        } else if self.accept_dotted("calltargets") {
            all.push(Statement::CallTargets(name, self.names()?));
        } else if self.accept_dotted("callprototype") {
            let returns = if self.is("(") {
                self.parameters()?
            } else {
                Vec::new()
            };
            self.name("`_`")?;
            let parameters = if self.is("(") {
                self.parameters()?
            } else {
                Vec::new()
            };
            while self.token().kind == Kind::Dotted {
                let token = self.advance();
                match token.text {
                    "noreturn" => {}
                    "abi_preserve" | "abi_preserve_control" => {
                        self.integer("a number")?;
                    }
                    other => {
                        return Err(Error::new(
                            token.at,
                            format!("`.{other}` does not belong to a prototype"),
                        ));
                    }
                }
            }
            self.expect(";")?;
            all.push(Statement::Prototype {
                name,
                returns,
                parameters,
            });
        } else {
            all.push(Statement::Label(name, at));
        }
        Ok(())
    }

    fn names(&mut self) -> Result<Vec<(&'a str, crate::ptx::ast::Position)>> {
        let mut names = vec![self.name("a name")?];
        while self.accept(",") {
            names.push(self.name("a name")?);
        }
        self.expect(";")?;
        Ok(names)
    }

    /// `.loc file line column [, function_name label [+ n]] [, inlined_at file line column]`
    pub fn location(&mut self) -> Result<Location> {
        self.advance();
        let file = self.integer("the number of a file")?;
        let line = self.integer("a line")?;
        let column = self.integer("a column")?;
        let mut location = Location {
            file,
            line,
            column,
            inlined_at: None,
        };
        while self.is(",") {
            self.advance();
            let (word, at) = self.name("`function_name` or `inlined_at`")?;
            match word {
                "function_name" => {
                    self.name("a label")?;
                    self.trailing_offset()?;
                }
                "inlined_at" => {
                    location.inlined_at = Some((
                        self.integer("a file")?,
                        self.integer("a line")?,
                        self.integer("a column")?,
                    ));
                }
                _ => {
                    return Err(Error::new(
                        at,
                        format!("`{word}` does not belong to `.loc`"),
                    ));
                }
            }
        }
        Ok(location)
    }

    fn instruction(&mut self) -> Result<Instruction<'a>> {
        let at = self.at();
        let guard = if self.accept("@") {
            let negated = self.accept("!");
            let (name, at) = self.name("a predicate")?;
            Some((name, negated, at))
        } else {
            None
        };
        let (opcode, _) = self.name("an instruction")?;
        let mut modifiers = Vec::new();
        while self.token().kind == Kind::Dotted {
            modifiers.push(self.advance().text);
        }
        let mut operands = Vec::new();
        if !self.is(";") {
            loop {
                operands.push(self.operand()?);
                if !self.accept(",") {
                    break;
                }
            }
        }
        if !self.is(";") {
            return Err(self.unexpected("`,` or `;` after an operand"));
        }
        self.advance();
        Ok(Instruction {
            at,
            guard,
            opcode,
            modifiers,
            operands,
        })
    }

    fn operand(&mut self) -> Result<Operand<'a>> {
        let first = self.single_operand()?;
        if !self.accept("|") {
            return Ok(first);
        }
        let second = self.single_operand()?;
        Ok(Operand {
            at: first.at,
            kind: OperandKind::Pair(Box::new(first), Box::new(second)),
        })
    }

    fn operand_list(&mut self, close: &str) -> Result<Vec<Operand<'a>>> {
        let depth = self.enter()?;
        let mut all = Vec::new();
        while !self.is(close) {
            all.push(self.operand()?);
            if !self.accept(",") {
                break;
            }
        }
        self.expect(close)?;
        self.leave(depth);
        Ok(all)
    }

    fn single_operand(&mut self) -> Result<Operand<'a>> {
        let token = self.token();
        let at = token.at;
        let kind = match (token.kind, token.text) {
            (Kind::Punctuation, "{") => {
                self.advance();
                OperandKind::Vector(self.operand_list("}")?)
            }
            (Kind::Punctuation, "[") => self.address()?,
            (Kind::Punctuation, "!") if self.token_after(1).kind == Kind::Name => {
                self.advance();
                OperandKind::Not(self.name("a predicate")?.0)
            }
            (Kind::Punctuation, "-") if self.token_after(1).kind == Kind::Name => {
                self.advance();
                OperandKind::Negated(self.name("a register")?.0)
            }
            (Kind::Punctuation, "(") if self.is_operand_list() => {
                self.advance();
                OperandKind::List(self.operand_list(")")?)
            }
            (Kind::Name, "_") => {
                self.advance();
                OperandKind::Sink
            }
            (Kind::Name, name) if name != "WARP_SZ" => {
                self.advance();
                if self.token().kind == Kind::Dotted {
                    OperandKind::Component(name, self.advance().text)
                } else if self.is("+") || self.is("-") {
                    OperandKind::Offset(name, self.trailing_offset()?)
                } else {
                    OperandKind::Name(name)
                }
            }
            _ => match self.float()? {
                Some(value) => OperandKind::Float(value),
                None => match token {
                    Token {
                        kind: Kind::Number | Kind::Name,
                        ..
                    } => OperandKind::Int(self.constant_int()?),
                    Token {
                        kind: Kind::Punctuation,
                        text: "-" | "+" | "~" | "!" | "(",
                        ..
                    } => OperandKind::Int(self.constant_int()?),
                    _ => return Err(self.unexpected("an operand")),
                },
            },
        };
        Ok(Operand { at, kind })
    }

    /// `(` opens a list of arguments unless it starts a constant expression.
    fn is_operand_list(&self) -> bool {
        let next = self.token_after(1);
        let after = self.token_after(2);
        match next.kind {
            Kind::Name => next.text != "WARP_SZ",
            Kind::Number => matches!(after.text, "," | ")"),
            Kind::Punctuation => next.text == ")",
            _ => false,
        }
    }

    fn address(&mut self) -> Result<OperandKind<'a>> {
        self.expect("[")?;
        let (base, offset) = if self.token().kind == Kind::Name && self.token().text != "WARP_SZ" {
            let (name, _) = self.name("a register or variable")?;
            (AddressBase::Name(name), self.trailing_offset()?)
        } else {
            let at = self.at();
            let value = self.constant_int()?;
            let value = i64::try_from(value).or_else(|_| u64::try_from(value).map(|v| v as i64));
            (
                AddressBase::Absolute,
                value.map_err(|_| Error::new(at, "this address has more than 64 bits"))?,
            )
        };
        let mut rest = Vec::new();
        while self.accept(",") {
            rest.push(self.operand()?);
        }
        self.expect("]")?;
        Ok(OperandKind::Address { base, offset, rest })
    }
}
