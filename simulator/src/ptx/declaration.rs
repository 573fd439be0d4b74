//! Variables, registers, parameters and initialisers.

use super::ast::{Initializer, Linkage, Space, Type, Variable};
use super::error::{Error, Result};
use super::lexer::TokenKind;
use super::number::{Number, number};
use super::parser::Parser;

/// The type of this name, if it is one.
pub fn type_named(name: &str) -> Option<Type<'_>> {
    let size = match name {
        "pred" => 0,
        "b8" | "u8" | "s8" => 1,
        "b16" | "u16" | "s16" | "f16" | "bf16" => 2,
        "b32" | "u32" | "s32" | "f32" | "f16x2" | "bf16x2" => 4,
        "b64" | "u64" | "s64" | "f64" => 8,
        "b128" => 16,
        _ => return None,
    };
    Some(Type { name, size })
}

impl<'a> Parser<'a> {
    /// One declaration with all its names, up to and including the semicolon.
    pub fn variables(&mut self, linkage: Linkage) -> Result<Vec<Variable<'a>>> {
        let mut all = vec![self.variable(linkage)?];
        while self.accept(",") {
            let first = all[0].clone();
            let (name, at) = self.name("a variable's name")?;
            let mut next = Variable {
                name,
                at,
                dimensions: Vec::new(),
                range: None,
                initializer: None,
                ..first
            };
            self.declarator(&mut next)?;
            all.push(next);
        }
        self.expect(";")?;
        Ok(all)
    }

    /// A declaration of one name, without a semicolon; also a parameter.
    pub fn variable(&mut self, linkage: Linkage) -> Result<Variable<'a>> {
        let start = self.token();
        let space = match (start.kind, start.text) {
            (TokenKind::Dotted, "reg") => Space::Register,
            (TokenKind::Dotted, "global") => Space::Global,
            (TokenKind::Dotted, "const") => Space::Const,
            (TokenKind::Dotted, "shared") => Space::Shared,
            (TokenKind::Dotted, "local") => Space::Local,
            (TokenKind::Dotted, "param") => Space::Parameter,
            (TokenKind::Dotted, "tex") => {
                return Err(Error::new(
                    start.at,
                    "texture references (`.tex`) are not supported",
                ));
            }
            _ => return Err(self.unexpected("a state space")),
        };
        self.advance();
        let mut align = None;
        let mut vector = 1;
        let mut managed = false;
        let ty = loop {
            let token = self.token();
            if token.kind != TokenKind::Dotted {
                return Err(self.unexpected("a type"));
            }
            self.advance();
            match token.text {
                "align" => {
                    let value = self.integer("an alignment")?;
                    if !value.is_power_of_two() {
                        return Err(Error::new(token.at, "an alignment is a power of two"));
                    }
                    align = Some(value);
                }
                "v2" => vector = 2,
                "v4" => vector = 4,
                "v8" => vector = 8,
                "attribute" => managed |= self.attribute()?,
                "texref" | "samplerref" | "surfref" => {
                    return Err(Error::new(
                        token.at,
                        format!("`.{}` variables are not supported", token.text),
                    ));
                }
                name => match type_named(name) {
                    Some(ty) => break ty,
                    None => return Err(Error::new(token.at, format!("`.{name}` is not a type"))),
                },
            }
        };
        // `.ptr .space .align N` of kernel parameters only informs.
        let mut pointer = false;
        while self.token().kind == TokenKind::Dotted {
            let token = self.advance();
            match token.text {
                "ptr" => pointer = true,
                "global" | "const" | "shared" | "local" if pointer => {}
                "align" if pointer => {
                    self.integer("an alignment")?;
                }
                _ => {
                    return Err(Error::new(
                        token.at,
                        format!("`.{}` does not belong after a type", token.text),
                    ));
                }
            }
        }
        let (name, at) = self.name("a name")?;
        let natural = (ty.size * vector).max(1);
        let align = align.unwrap_or(natural);
        let mut variable = Variable {
            name,
            at,
            space,
            ty,
            vector,
            align,
            dimensions: Vec::new(),
            range: None,
            initializer: None,
            linkage,
            managed,
        };
        self.declarator(&mut variable)?;
        if variable.space != Space::Register && ty.size == 0 {
            return Err(Error::new(at, "predicates exist only in `.reg`"));
        }
        Ok(variable)
    }

    fn attribute(&mut self) -> Result<bool> {
        let mut managed = false;
        self.expect("(")?;
        loop {
            let token = self.advance();
            match (token.kind, token.text) {
                (TokenKind::Dotted, "managed") => managed = true,
                (TokenKind::Dotted, "unified") => {
                    self.expect("(")?;
                    while !self.accept(")") {
                        if self.advance().kind == TokenKind::End {
                            return Err(self.unexpected("`)`"));
                        }
                    }
                }
                _ => {
                    return Err(Error::new(
                        token.at,
                        format!("unknown attribute {}", token.describe()),
                    ));
                }
            }
            if !self.accept(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(managed)
    }

    fn declarator(&mut self, variable: &mut Variable<'a>) -> Result<()> {
        if self.accept("<") {
            variable.range = Some(self.integer("a number of registers")?);
            self.expect(">")?;
        }
        while self.accept("[") {
            if self.accept("]") {
                variable.dimensions.push(None);
                continue;
            }
            let at = self.at();
            let size = self.constant_int()?;
            let size = u64::try_from(size)
                .map_err(|_| Error::new(at, "an array's size is not negative"))?;
            variable.dimensions.push(Some(size));
            self.expect("]")?;
        }
        if self.accept("=") {
            variable.initializer = Some(self.initializer()?);
            self.size_by_initializer(variable);
        }
        Ok(())
    }

    /// `x[] = {1, 2}` has two elements.
    fn size_by_initializer(&self, variable: &mut Variable<'a>) {
        if let (Some(None), Some(Initializer::List(list, _))) =
            (variable.dimensions.first(), &variable.initializer)
        {
            variable.dimensions[0] = Some(list.len() as u64);
        }
    }

    fn initializer(&mut self) -> Result<Initializer<'a>> {
        let token = self.token();
        let at = token.at;
        if self.accept("{") {
            let depth = self.enter()?;
            let mut list = Vec::new();
            while !self.is("}") {
                list.push(self.initializer()?);
                if !self.accept(",") {
                    break;
                }
            }
            self.expect("}")?;
            self.leave(depth);
            return Ok(Initializer::List(list, at));
        }
        if let Some(value) = self.float()? {
            return Ok(Initializer::Float(value, at));
        }
        // `0xFF(symbol)` takes one byte of an address.
        if token.kind == TokenKind::Number
            && self.token_after(1).text == "("
            && self.token_after(1).kind == TokenKind::Punctuation
        {
            let Number::Int(mask) = number(&token)? else {
                return Err(self.unexpected("an integer"));
            };
            self.advance();
            self.expect("(")?;
            let symbol = self.symbol()?;
            self.expect(")")?;
            return Ok(Initializer::Masked {
                mask: mask as u64,
                symbol: Box::new(symbol),
            });
        }
        if token.kind == TokenKind::Name && token.text != "WARP_SZ" {
            return self.symbol();
        }
        Ok(Initializer::Int(self.constant_int()?, at))
    }

    fn symbol(&mut self) -> Result<Initializer<'a>> {
        let (mut name, at) = self.name("a symbol")?;
        let generic = name == "generic" && self.is("(");
        if generic {
            self.advance();
            name = self.name("a symbol")?.0;
            self.expect(")")?;
        }
        let offset = self.trailing_offset()?;
        Ok(Initializer::Symbol {
            name,
            offset,
            generic,
            at,
        })
    }

    /// `+ 8`, `- 8`, `+ -8` after a name; 0 if there is none.
    pub fn trailing_offset(&mut self) -> Result<i64> {
        let mut offset = 0i64;
        loop {
            let at = self.at();
            let negative = if self.accept("+") {
                false
            } else if self.accept("-") {
                true
            } else {
                return Ok(offset);
            };
            let flip = self.accept("-");
            let token = self.token();
            let value = if token.kind == TokenKind::Number {
                match number(&token)? {
                    Number::Int(value) => {
                        self.advance();
                        value
                    }
                    Number::Float(_) => return Err(self.unexpected("an integer offset")),
                }
            } else if self.accept("(") {
                let value = self.constant_int()?;
                self.expect(")")?;
                value
            } else {
                return Err(self.unexpected("an integer offset"));
            };
            let value = if negative != flip { -value } else { value };
            // Offsets above i64::MAX are negative ones written unsigned.
            let value = i64::try_from(value).or_else(|_| u64::try_from(value).map(|v| v as i64));
            let value = value.map_err(|_| Error::new(at, "this offset has more than 64 bits"))?;
            offset = offset.wrapping_add(value);
        }
    }
}
