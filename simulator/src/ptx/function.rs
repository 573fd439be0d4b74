//! Functions: heads, performance directives, statements, instructions and operands.

use super::ast::{
    AddressBase, Function, Instruction, Linkage, Module, Operand, OperandKind, Statement, Variable,
};
use super::error::{Error, Result};
use super::lexer::{Token, TokenKind};
use super::parser::Parser;

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
        while self.token().kind == TokenKind::Dotted {
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
                    (TokenKind::End, _) => return Err(self.unexpected("`)`")),
                    (TokenKind::Punctuation, "(") => depth += 1,
                    (TokenKind::Punctuation, ")") => depth -= 1,
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
                (TokenKind::End, _) => return Err(Error::new(open, "this block has no end")),
                (TokenKind::Punctuation, "}") => break,
                (TokenKind::Punctuation, "{") => all.push(Statement::Block(self.block(module)?)),
                (TokenKind::Punctuation, ";") => {
                    self.advance();
                }
                (TokenKind::Dotted, "loc") => all.push(Statement::Location(self.location()?)),
                (TokenKind::Dotted, "file") => {
                    let file = self.file()?;
                    module.files.push(file);
                }
                (TokenKind::Dotted, "pragma") => self.pragma()?,
                (TokenKind::Dotted, "section") => self.section(module)?,
                (TokenKind::Dotted, "extern") => {
                    self.advance();
                    all.extend(
                        self.variables(Linkage::Extern)?
                            .into_iter()
                            .map(Statement::Variable),
                    );
                }
                (TokenKind::Dotted, "reg" | "local" | "shared" | "param" | "global" | "const") => {
                    all.extend(
                        self.variables(Linkage::Private)?
                            .into_iter()
                            .map(Statement::Variable),
                    );
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
            while self.token().kind == TokenKind::Dotted {
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
            (TokenKind::Punctuation, "(") if self.is_operand_list() => {
                self.advance();
                OperandKind::List(self.operand_list(")")?)
            }
            (TokenKind::Name, "_") => {
                self.advance();
                OperandKind::Sink
            }
            (TokenKind::Name, name) if name != "WARP_SZ" => {
                self.advance();
                if self.token().kind == TokenKind::Dotted {
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

    /// `(` opens a list of arguments unless it starts a constant expression.
    fn is_operand_list(&self) -> bool {
        let next = self.token_after(1);
        let after = self.token_after(2);
        match next.kind {
            TokenKind::Name => next.text != "WARP_SZ",
            TokenKind::Number => matches!(after.text, "," | ")"),
            TokenKind::Punctuation => next.text == ")",
            _ => false,
        }
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
