//! Variables, registers, parameters and initialisers.

use super::ast::{Initializer, Linkage, Space, Type, Variable};
use super::error::{Error, Result};
use super::lexer::{Token, TokenKind};
use super::number::{Number, number};
use super::parser::Parser;
use super::rules::{self, Place};

/// The type of this name, if variables may have it.
fn type_named(name: &str) -> Option<Type<'_>> {
    let size = match name {
        "pred" => 0,
        "b8" | "u8" | "s8" => 1,
        "b16" | "u16" | "s16" | "f16" => 2,
        "b32" | "u32" | "s32" | "f32" | "f16x2" => 4,
        "b64" | "u64" | "s64" | "f64" => 8,
        "b128" => 16,
        _ => return None,
    };
    Some(Type { name, size })
}

/// The state space of this name.
fn space_named(name: &str) -> Option<Space> {
    Some(match name {
        "reg" => Space::Register,
        "global" => Space::Global,
        "const" => Space::Const,
        "shared" => Space::Shared,
        "local" => Space::Local,
        "param" => Space::Parameter,
        _ => return None,
    })
}

/// That the simulator has no textures.
fn not_supported(token: Token<'_>) -> Error {
    let message = format!("`.{}` is not supported by the simulator", token.text);
    Error::new(token.at, message)
}

/// `WARP_SZ`
const WARP_SIZE: u64 = 32;

/// What a declaration says in front of its names.
struct Head<'a> {
    space: Option<Space>,
    ty: Type<'a>,
    vector: u32,
    align: Option<u32>,
    attributes: Attributes,
}

impl Head<'_> {
    /// Refuses a variable that may not be declared so.
    fn check(&self, variable: &Variable<'_>, place: Place) -> Result<()> {
        if self.space.is_none() {
            return Err(Error::new(variable.at, "No variable storage specified"));
        }
        rules::check(variable, self.attributes.unified, place)
    }
}

/// `.attribute(..)`
#[derive(Clone, Copy, Default)]
struct Attributes {
    managed: bool,
    unified: bool,
}

impl<'a> Parser<'a> {
    /// One declaration with all its names, up to and including the semicolon.
    pub fn variables(&mut self, linkage: Linkage, place: Place) -> Result<Vec<Variable<'a>>> {
        let head = self.head(place)?;
        let mut all = vec![self.declared(&head, linkage, place)?];
        while self.accept(",") {
            all.push(self.declared(&head, linkage, place)?);
        }
        self.expect(";")?;
        for variable in &all {
            head.check(variable, place)?;
        }
        Ok(all)
    }

    /// A parameter or a result.
    pub fn parameter(&mut self, place: Place) -> Result<Variable<'a>> {
        let head = self.head(place)?;
        let variable = self.declared(&head, Linkage::Private, place)?;
        head.check(&variable, place)?;
        Ok(variable)
    }

    /// State space, alignment and attributes; then a vector and a type; then what is known of a kernel's pointer.
    fn head(&mut self, place: Place) -> Result<Head<'a>> {
        let (mut space, mut align) = (None, None);
        let mut attributes = Attributes::default();
        while self.token().kind == TokenKind::Dotted {
            let token = self.token();
            match token.text {
                "align" => {
                    let value = self.alignment()?;
                    align = align.or(Some(value));
                    continue;
                }
                "attribute" => {
                    self.advance();
                    let found = self.attribute()?;
                    attributes.managed |= found.managed;
                    attributes.unified |= found.unified;
                    continue;
                }
                "tex" => return Err(not_supported(token)),
                name => match space_named(name) {
                    Some(found) if space.is_none() => space = Some(found),
                    Some(_) => {
                        return Err(Error::new(token.at, "Multiple state spaces specified"));
                    }
                    None => break,
                },
            }
            self.advance();
        }
        let vector = match (self.token().kind, self.token().text) {
            (TokenKind::Dotted, "v2") => 2,
            (TokenKind::Dotted, "v4") => 4,
            _ => 1,
        };
        if vector > 1 {
            self.advance();
            if rules::is_instruction_type(self.token().text) {
                return Err(rules::vector_of(self.token().at));
            }
        }
        let ty = self.ty()?;
        if self.is_dotted("ptr")
            || !matches!(place, Place::Module | Place::Body) && self.is_dotted("align")
        {
            self.pointer(place)?;
        }
        Ok(Head {
            space,
            ty,
            vector,
            align,
            attributes,
        })
    }

    fn alignment(&mut self) -> Result<u32> {
        let directive = self.advance();
        let value = self.integer("an alignment")?;
        if !value.is_power_of_two() {
            return Err(Error::new(directive.at, "Alignment must be a power of two"));
        }
        Ok(value)
    }

    fn ty(&mut self) -> Result<Type<'a>> {
        let token = self.token();
        if token.kind != TokenKind::Dotted {
            return Err(self.unexpected("a type"));
        }
        if matches!(token.text, "texref" | "samplerref" | "surfref") {
            return Err(not_supported(token));
        }
        if rules::is_instruction_type(token.text) {
            return Err(rules::instruction_type(token.text, token.at));
        }
        let ty = type_named(token.text).ok_or_else(|| self.unexpected("a type"))?;
        self.advance();
        Ok(ty)
    }

    /// `.ptr .space .align N` of a kernel's parameter: it only informs.
    fn pointer(&mut self, place: Place) -> Result<()> {
        if place != Place::EntryParameter {
            if matches!(place, Place::Module | Place::Body) {
                return Err(self.unexpected("a name"));
            }
            return Err(rules::misplaced_attribute(self.at()));
        }
        if self.accept_dotted("ptr") {
            for space in ["global", "const", "shared", "local"] {
                if self.accept_dotted(space) {
                    break;
                }
            }
        }
        if self.is_dotted("align") {
            self.alignment()?;
        }
        Ok(())
    }

    /// A name and what follows it.
    fn declared(
        &mut self,
        head: &Head<'a>,
        linkage: Linkage,
        place: Place,
    ) -> Result<Variable<'a>> {
        let is_parameter = !matches!(place, Place::Module | Place::Body);
        if self.token().text == "WARP_SZ" || self.token().text == "_" && !is_parameter {
            return Err(self.unexpected("a name"));
        }
        let (name, at) = self.name("a name")?;
        let natural = (head.ty.size * head.vector).max(1);
        let mut variable = Variable {
            name,
            at,
            space: head.space.unwrap_or(Space::Global),
            ty: head.ty,
            vector: head.vector,
            align: head.align.unwrap_or(natural),
            dimensions: Vec::new(),
            range: None,
            initializer: None,
            linkage,
            managed: head.attributes.managed,
        };
        self.declarator(&mut variable, place)?;
        Ok(variable)
    }

    fn attribute(&mut self) -> Result<Attributes> {
        let mut attributes = Attributes::default();
        self.expect("(")?;
        loop {
            let token = self.advance();
            match (token.kind, token.text) {
                (TokenKind::Dotted, "managed") => attributes.managed = true,
                (TokenKind::Dotted, "unified") => {
                    attributes.unified = true;
                    self.expect("(")?;
                    while !self.accept(")") {
                        if self.advance().kind == TokenKind::End {
                            return Err(self.unexpected("`)`"));
                        }
                    }
                }
                _ => {
                    return Err(self.unexpected_at(token, "an attribute"));
                }
            }
            if !self.accept(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(attributes)
    }

    fn declarator(&mut self, variable: &mut Variable<'a>, place: Place) -> Result<()> {
        let is_parameter = !matches!(place, Place::Module | Place::Body);
        if !is_parameter && self.accept("<") {
            variable.range = Some(self.integer("a number of registers")?);
            self.expect(">")?;
        }
        while variable.range.is_none() && self.accept("[") {
            // Of an array of arrays the first size alone may be left out.
            if variable.dimensions.is_empty() && self.accept("]") {
                variable.dimensions.push(None);
                continue;
            }
            let size = self.elements()?;
            variable.dimensions.push(Some(size));
            self.expect("]")?;
            if is_parameter {
                break;
            }
        }
        if !is_parameter && self.accept("=") {
            variable.initializer = Some(self.initializer()?);
            self.size_by_initializer(variable);
        }
        Ok(())
    }

    /// The size of an array.
    fn elements(&mut self) -> Result<u64> {
        let token = self.token();
        if token.kind == TokenKind::Name && token.text == "WARP_SZ" {
            self.advance();
            return Ok(WARP_SIZE);
        }
        if token.kind == TokenKind::Number
            && let Number::Int(value) = number(&token)?
            && let Ok(value) = u64::try_from(value)
        {
            self.advance();
            return Ok(value);
        }
        Err(self.unexpected("a number of elements"))
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
            while !(list.is_empty() && self.is("}")) {
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
        let generic = name == "generic" && self.accept("(");
        if generic {
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

    /// `+ 8`, `+ -8` after a name; 0 if there is none.
    pub fn trailing_offset(&mut self) -> Result<i64> {
        let mut offset = 0i64;
        loop {
            let at = self.at();
            if !self.accept("+") {
                return Ok(offset);
            }
            let negative = self.accept("-");
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
            let value = if negative { -value } else { value };
            // Offsets above i64::MAX are negative ones written unsigned.
            let value = i64::try_from(value).or_else(|_| u64::try_from(value).map(|v| v as i64));
            let value = value.map_err(|_| Error::new(at, "this offset has more than 64 bits"))?;
            offset = offset.wrapping_add(value);
        }
    }
}
