//! Functions: heads, performance directives, statements, instructions and operands.

use super::ast::{
    AddressBase, Function, Instruction, Linkage, Module, Operand, OperandKind, Statement, Variable,
};
use super::error::{Error, Result};
use super::lexer::{Token, TokenKind};
use super::parser::Parser;
use super::rules::{self, Directives, Place};

/// That a directive needs a number above zero.
fn not_positive(directive: Token<'_>) -> Error {
    let message = format!("Positive non-zero value expected for {}", directive.text);
    Error::new(directive.at, message)
}

impl<'a> Parser<'a> {
    /// `.entry` or `.func` with all that belongs to it.
    pub fn function(&mut self, linkage: Linkage, module: &mut Module<'a>) -> Result<Function<'a>> {
        let entry = self.advance().text == "entry";
        if !entry {
            self.attributes()?;
        }
        let returns = if !entry && self.is("(") {
            self.parameters(Place::Result)?
        } else {
            Vec::new()
        };
        let (name, at) = self.name("the function's name")?;
        let place = if entry {
            Place::EntryParameter
        } else {
            Place::Parameter
        };
        let parameters = if self.is("(") {
            self.parameters(place)?
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
            returns_never: false,
            body: None,
        };
        if entry {
            self.performance(&mut function)?;
        } else {
            function.returns_never = self.calling_convention()?;
        }
        if !self.accept(";") {
            if !self.is("{") {
                return Err(self.unexpected("a body, `;` or a directive of the function"));
            }
            function.body = Some(self.block(module)?);
        }
        rules::check_function(&function)?;
        Ok(function)
    }

    fn attributes(&mut self) -> Result<()> {
        while self.accept_dotted("attribute") {
            self.expect("(")?;
            let mut depth = 1;
            while depth > 0 {
                let token = self.advance();
                match (token.kind, token.text) {
                    (TokenKind::End, _) => return Err(self.unexpected("`)`")),
                    (TokenKind::Punctuation, "(") => depth += 1,
                    (TokenKind::Punctuation, ")") => depth -= 1,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// What a function says of how it is called; whether it never returns.
    fn calling_convention(&mut self) -> Result<bool> {
        let mut returns_never = false;
        while self.token().kind == TokenKind::Dotted {
            match self.token().text {
                "noreturn" if !returns_never => {
                    self.advance();
                    returns_never = true;
                }
                "abi_preserve" | "abi_preserve_control" | "local_maxnreg" => {
                    self.advance();
                    self.integer("a number")?;
                }
                _ => return Err(self.unexpected("a directive of a function")),
            }
        }
        Ok(returns_never)
    }

    /// The performance directives of a kernel.
    fn performance(&mut self, function: &mut Function<'a>) -> Result<()> {
        let mut given = Directives::default();
        while self.token().kind == TokenKind::Dotted {
            let token = self.token();
            match token.text {
                "maxntid" => {
                    let threads = self.triple()?;
                    function.max_threads = function.max_threads.or(Some(threads));
                    given.max_threads = true;
                }
                "reqntid" => {
                    function.max_threads = Some(self.triple()?);
                    function.exact_threads = true;
                    given.exact_threads = true;
                }
                "minnctapersm" => function.min_blocks = Some(self.positive()?),
                "maxnreg" => function.max_registers = Some(self.positive()?),
                "maxnctapersm" => {
                    return Err(Error::new(
                        token.at,
                        "Deprecated feature: '.maxnctapersm directive' not supported as of PTX version 2.1",
                    ));
                }
                "maxclusterrank" => {
                    self.advance();
                    self.integer("a number of blocks")?;
                    given.cluster_rank = true;
                }
                "reqnctapercluster" => {
                    self.advance();
                    function.cluster = Some(self.dimensions()?);
                    given.cluster = true;
                }
                "blocksareclusters" => {
                    self.advance();
                    given.blocks_are_clusters = true;
                }
                "explicitcluster" => {
                    self.advance();
                }
                "local_maxnreg" => {
                    self.advance();
                    self.integer("a number of registers")?;
                }
                "pragma" => self.pragma()?,
                _ => return Err(self.unexpected("a directive of a kernel")),
            }
        }
        given.check(function.at)
    }

    /// A directive with a number above zero.
    fn positive(&mut self) -> Result<u32> {
        let directive = self.advance();
        match self.integer("a number")? {
            0 => Err(not_positive(directive)),
            value => Ok(value),
        }
    }

    /// A directive with one to three numbers above zero.
    fn triple(&mut self) -> Result<[u32; 3]> {
        let directive = self.advance();
        let values = self.dimensions()?;
        if values.contains(&0) {
            return Err(not_positive(directive));
        }
        Ok(values)
    }

    /// One to three numbers; those that are left out are 1.
    fn dimensions(&mut self) -> Result<[u32; 3]> {
        let mut values = [self.integer("a number")?, 1, 1];
        for value in &mut values[1..] {
            if !self.accept(",") {
                break;
            }
            *value = self.integer("a number")?;
        }
        Ok(values)
    }

    fn parameters(&mut self, place: Place) -> Result<Vec<Variable<'a>>> {
        self.expect("(")?;
        let mut all = Vec::new();
        if !self.is(")") {
            all.push(self.parameter(place)?);
        }
        while self.accept(",") {
            all.push(self.parameter(place)?);
        }
        self.expect(")")?;
        rules::check_parameters(&all, place)?;
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
                (TokenKind::End, _) => return Err(Error::new(open, "this block has no end")),
                (TokenKind::Punctuation, "}") => break,
                (TokenKind::Punctuation, "{") => all.push(Statement::Block(self.block(module)?)),
                (TokenKind::Dotted, "loc") => all.push(Statement::Location(self.location()?)),
                (TokenKind::Dotted, "pragma") => self.pragma()?,
                (TokenKind::Dotted, "section") => self.section(module)?,
                (TokenKind::Dotted, "visible" | "extern" | "weak" | "common") => {
                    // It reads on behind the linkages that functions have, too.
                    if token.text != "common" {
                        self.advance();
                    }
                    return Err(self.unexpected("no linkage inside of functions"));
                }
                (TokenKind::Dotted, _) => {
                    let variables = self.variables(Linkage::Private, Place::Body)?;
                    all.extend(variables.into_iter().map(Statement::Variable));
                }
                (TokenKind::Name, _) if self.token_after(1).text == ":" => self.label(&mut all)?,
                (TokenKind::Name, _) | (TokenKind::Punctuation, "@") => {
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
            all.push(Statement::BranchTargets(name, at, self.names()?));
        } else if self.accept_dotted("calltargets") {
            all.push(Statement::CallTargets(name, at, self.names()?));
        } else if self.accept_dotted("callprototype") {
            let returns = if self.is("(") {
                self.parameters(Place::Result)?
            } else {
                Vec::new()
            };
            if self.token().text != "_" {
                return Err(self.unexpected("`_`"));
            }
            self.advance();
            let parameters = if self.is("(") {
                self.parameters(Place::Parameter)?
            } else {
                Vec::new()
            };
            self.calling_convention()?;
            self.expect(";")?;
            all.push(Statement::Prototype {
                name,
                at,
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
        while self.token().kind == TokenKind::Dotted {
            modifiers.push(self.advance().text);
        }
        let mut operands = Vec::new();
        if opcode == "call" {
            self.call_operands(&mut operands)?;
        } else if !self.is(";") {
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
        if !self.is(close) {
            all.push(self.operand()?);
        }
        while self.accept(",") {
            all.push(self.operand()?);
        }
        self.expect(close)?;
        self.leave(depth);
        Ok(all)
    }

    fn single_operand(&mut self) -> Result<Operand<'a>> {
        let token = self.token();
        let at = token.at;
        let kind = match (token.kind, token.text) {
            (TokenKind::Punctuation, "{") => {
                self.advance();
                OperandKind::Vector(self.operand_list("}")?)
            }
            (TokenKind::Punctuation, "[") => self.address()?,
            (TokenKind::Punctuation, "!") if self.token_after(1).kind == TokenKind::Name => {
                self.advance();
                OperandKind::Not(self.name("a predicate")?.0)
            }
            (TokenKind::Punctuation, "-") if self.token_after(1).kind == TokenKind::Name => {
                self.advance();
                OperandKind::Negated(Box::new(self.single_operand()?))
            }
            (TokenKind::Name, "_") => {
                self.advance();
                OperandKind::Sink
            }
            (TokenKind::Name, name) if name != "WARP_SZ" => {
                self.advance();
                if self.token().kind == TokenKind::Dotted {
                    OperandKind::Component(name, self.advance().text)
                } else if self.is("+") {
                    OperandKind::Offset(name, self.trailing_offset()?)
                } else {
                    OperandKind::Name(name)
                }
            }
            _ => match self.float()? {
                Some(value) => OperandKind::Float(value),
                None => match token {
                    Token {
                        kind: TokenKind::Number | TokenKind::Name,
                        ..
                    } => OperandKind::Int(self.constant_int()?),
                    Token {
                        kind: TokenKind::Punctuation,
                        text: "-" | "+" | "~" | "!" | "(",
                        ..
                    } => OperandKind::Int(self.constant_int()?),
                    _ => return Err(self.unexpected("an operand")),
                },
            },
        };
        Ok(Operand { at, kind })
    }

    /// `(results), function, (arguments), prototype` or a part of it.
    fn call_operands(&mut self, operands: &mut Vec<Operand<'a>>) -> Result<()> {
        if self.is("(") {
            operands.push(self.list()?);
            self.expect(",")?;
        }
        operands.push(self.named("a function or a register")?);
        if !self.accept(",") {
            return Ok(());
        }
        if !self.is("(") {
            operands.push(self.named("a list of arguments or a prototype")?);
            return Ok(());
        }
        operands.push(self.list()?);
        if self.accept(",") {
            operands.push(self.named("a prototype or a list of functions")?);
        }
        Ok(())
    }

    fn named(&mut self, what: &str) -> Result<Operand<'a>> {
        let (name, at) = self.name(what)?;
        Ok(Operand {
            at,
            kind: OperandKind::Name(name),
        })
    }

    /// What a call passes, or what it gets.
    fn list(&mut self) -> Result<Operand<'a>> {
        let at = self.advance().at;
        Ok(Operand {
            at,
            kind: OperandKind::List(self.operand_list(")")?),
        })
    }

    fn address(&mut self) -> Result<OperandKind<'a>> {
        self.expect("[")?;
        let (base, offset) = if self.token().kind == TokenKind::Name
            && self.token().text != "WARP_SZ"
        {
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
