//! Random expressions of a given type.

use super::{Function, Generator, MOST_EVALUATIONS, Passing};
use crate::choose::Choose;
use crate::programs::types::{Int, Type, U8, U32, any_float, any_int, any_scalar, name, pattern};

const F32_LITERALS: &[&str] = &[
    "0.0",
    "-0.0",
    "1.0",
    "-1.5",
    "0.1",
    "1e10",
    "-3.5e-20",
    "1e-40",
    "2147483648.0",
    "-9.3e18",
    "255.5",
    "65535.9",
    "16777217.0",
    "0.5",
    "1.8446744e19",
    "f32::INFINITY",
    "f32::NEG_INFINITY",
    "f32::NAN",
    "f32::MIN_POSITIVE",
    "f32::MAX",
    "f32::EPSILON",
];
const F64_LITERALS: &[&str] = &[
    "0.0",
    "-0.0",
    "1.0",
    "-1.5",
    "0.1",
    "1e10",
    "-3.5e-200",
    "4e-320",
    "2147483648.0",
    "-9.3e18",
    "255.5",
    "9007199254740993.0",
    "16777217.0",
    "0.5",
    "1.8446744073709552e19",
    "f64::INFINITY",
    "f64::NEG_INFINITY",
    "f64::NAN",
    "f64::MIN_POSITIVE",
    "f64::MAX",
    "3.4028236e38",
];

/// An operator or a method, one of those given.
macro_rules! pick {
    ($generator:expr, $($choice:literal),+ $(,)?) => {
        *$generator.random.one_of(&[$($choice),+])
    };
}

impl Generator<'_> {
    /// An expression of a type, with at most `depth` levels below it.
    pub(super) fn expression(&mut self, ty: &Type, depth: u32) -> String {
        self.cost += self.weight;
        if depth == 0 || self.random.percent(12) {
            return self.leaf(ty);
        }
        if self.random.percent(8)
            && let Some(call) = self.call(ty, depth)
        {
            return call;
        }
        if self.random.percent(6)
            && let Some(matched) = self.matched(ty, depth)
        {
            return matched;
        }
        match ty {
            Type::Bool => self.boolean(depth),
            Type::Int(int) => self.integer(*int, depth),
            Type::F32 | Type::F64 => self.float(ty, depth),
            Type::Struct(number) => {
                let fields = self.types.structs[*number].clone();
                if self.random.percent(30)
                    && let Some(base) = self.place(ty, false)
                {
                    let field = self.random.index(fields.len());
                    let value = self.expression(&fields[field], depth - 1);
                    return format!("S{number} {{ f{field}: {value}, ..{base} }}");
                }
                let values: Vec<String> = fields
                    .iter()
                    .enumerate()
                    .map(|(field, ty)| format!("f{field}: {}", self.expression(ty, depth - 1)))
                    .collect();
                format!("S{number} {{ {} }}", values.join(", "))
            }
            Type::Enum(number) => {
                let variant = self.random.index(self.types.enums[*number].len());
                let fields = self.types.enums[*number][variant].fields.clone();
                let values: Vec<String> = fields
                    .iter()
                    .map(|ty| self.expression(ty, depth - 1))
                    .collect();
                let variant = &self.types.enums[*number][variant];
                format!("E{number}::{}", pattern(variant, &values))
            }
            Type::Array(element, length) => match self.random.index(4) {
                0 => format!("[{}; {length}]", self.expression(element, depth - 1)),
                1 => {
                    let index = self.fresh("i");
                    self.variables.push(super::Variable {
                        name: format!("({index} as u32)"),
                        ty: U32,
                        mutable: false,
                    });
                    let value = self.expression(element, depth - 1);
                    self.variables.pop();
                    format!("core::array::from_fn::<_, {length}, _>(|{index}| {value})")
                }
                _ => {
                    let values: Vec<String> = (0..*length)
                        .map(|_| self.expression(element, depth.min(2) - 1))
                        .collect();
                    format!("[{}]", values.join(", "))
                }
            },
        }
    }

    /// A variable or a literal.
    fn leaf(&mut self, ty: &Type) -> String {
        if self.random.percent(80)
            && let Some(place) = self.place(ty, false)
        {
            return place;
        }
        match ty {
            Type::Struct(_) | Type::Enum(_) | Type::Array(..) => match self.place(ty, false) {
                Some(place) => place,
                None => self.value_of_parts(ty),
            },
            _ => match self.converted(ty) {
                Some(value) => value,
                None => self.literal(ty),
            },
        }
    }

    /// A variable of another type, converted: where it can be, mostly, so that not all is constant.
    fn converted(&mut self, ty: &Type) -> Option<String> {
        let integers: Vec<&str> = self
            .variables
            .iter()
            .filter(|variable| matches!(variable.ty, Type::Int(_)))
            .map(|variable| variable.name.as_str())
            .collect();
        if integers.is_empty() || self.random.percent(40) {
            return None;
        }
        let variable = *self.random.one_of(&integers);
        Some(match ty {
            Type::Bool => format!("({variable} & 1 == 1)"),
            other => format!("({variable} as {})", name(other)),
        })
    }

    /// A value of a type with parts, made of literals.
    fn value_of_parts(&mut self, ty: &Type) -> String {
        match ty {
            Type::Struct(number) => {
                let fields = self.types.structs[*number].clone();
                let values: Vec<String> = fields
                    .iter()
                    .enumerate()
                    .map(|(field, ty)| format!("f{field}: {}", self.leaf(ty)))
                    .collect();
                format!("S{number} {{ {} }}", values.join(", "))
            }
            Type::Enum(number) => {
                let variant = self.random.index(self.types.enums[*number].len());
                let fields = self.types.enums[*number][variant].fields.clone();
                let values: Vec<String> = fields.iter().map(|ty| self.leaf(ty)).collect();
                let variant = &self.types.enums[*number][variant];
                format!("E{number}::{}", pattern(variant, &values))
            }
            Type::Array(element, length) => format!("[{}; {length}]", self.leaf(element)),
            _ => self.literal(ty),
        }
    }

    fn literal(&mut self, ty: &Type) -> String {
        match ty {
            Type::Bool => pick!(self, "true", "false").to_owned(),
            Type::F32 | Type::F64 => {
                let (literals, suffix) = if *ty == Type::F32 {
                    (F32_LITERALS, "f32")
                } else {
                    (F64_LITERALS, "f64")
                };
                let literal = self.random.one_of(literals);
                if literal.contains(':') {
                    (*literal).to_owned()
                } else {
                    format!("({literal}_{suffix})")
                }
            }
            Type::Int(int) => self.integer_literal(*int),
            _ => self.value_of_parts(ty),
        }
    }

    fn integer_literal(&mut self, int: Int) -> String {
        let ty = name(&Type::Int(int));
        let most = u128::MAX >> (128 - int.bits + u32::from(int.signed));
        match self.random.index(8) {
            0 => format!("{ty}::MAX"),
            1 => format!("{ty}::MIN"),
            2 => format!("({}_{ty})", int.bits - self.random.below(2)),
            3 | 4 => {
                let wide = u128::from(self.random.bits()) << 64 | u128::from(self.random.bits());
                let value = (wide & most) >> self.random.below(int.bits);
                format!("({value}_{ty})")
            }
            5 if int.signed => format!("(-{}_{ty})", 1 + self.random.below(127)),
            _ => format!("({}_{ty})", self.random.below(10)),
        }
    }

    /// A place of this type in the variables: one of them, or a part.
    pub(super) fn place(&mut self, ty: &Type, mutable: bool) -> Option<String> {
        let mut places: Vec<(String, bool)> = Vec::new();
        for variable in &self.variables {
            if !mutable || variable.mutable {
                self.parts(&variable.name, &variable.ty, ty, 3, &mut places);
            }
        }
        if places.is_empty() {
            return None;
        }
        // Late variables more often: early ones are many.
        let index = self
            .random
            .index(places.len())
            .max(self.random.index(places.len()));
        let (place, _) = places.swap_remove(index);
        if !place.contains(INDEX) {
            return Some(place);
        }
        // Each index of its own.
        let mut text = String::new();
        let mut rest = place.as_str();
        while let Some((before, after)) = rest.split_once(INDEX) {
            let (length, after) = after.split_once(']').expect("an index ends");
            let length: usize = length.parse().expect("a length");
            text += before;
            text += &self.index(length);
            text += "]";
            rest = after;
        }
        Some(text + rest)
    }

    /// All parts of a value that have the type `wanted`.
    fn parts(
        &self,
        place: &str,
        ty: &Type,
        wanted: &Type,
        depth: u32,
        found: &mut Vec<(String, bool)>,
    ) {
        if ty == wanted {
            found.push((place.to_owned(), true));
        }
        if depth == 0 {
            return;
        }
        match ty {
            Type::Struct(number) => {
                for (field, ty) in self.types.structs[*number].iter().enumerate() {
                    self.parts(&format!("{place}.f{field}"), ty, wanted, depth - 1, found);
                }
            }
            Type::Array(element, length) => {
                let element_place = format!("{place}[{INDEX}{length}]");
                self.parts(&element_place, element, wanted, depth - 1, found);
            }
            _ => {}
        }
    }

    /// An index into so many elements; now and then one that may be out of bounds.
    fn index(&mut self, length: usize) -> String {
        let variables: Vec<&str> = self
            .variables
            .iter()
            .filter(|variable| matches!(variable.ty, Type::Int(_)))
            .map(|variable| variable.name.as_str())
            .collect();
        if variables.is_empty() || self.random.percent(40) {
            return self.random.index(length).to_string();
        }
        let variable = (*self.random.one_of(&variables)).to_owned();
        let bound = length + usize::from(self.may_panic());
        format!("({variable} as u32 % {bound}) as usize")
    }

    /// A call of a function with this result, if there is one that is not too costly here.
    fn call(&mut self, ty: &Type, depth: u32) -> Option<String> {
        let functions: Vec<Function> = self
            .functions
            .iter()
            .filter(|f| f.result == *ty && f.cost * self.weight <= MOST_EVALUATIONS)
            .filter(|f| {
                f.parameters
                    .iter()
                    .all(|p| p.1 != Passing::MutableReference)
            })
            .cloned()
            .collect();
        if functions.is_empty() {
            return None;
        }
        let function = self.random.one_of(&functions).clone();
        self.cost += self.weight * function.cost;
        let mut arguments = Vec::new();
        for (position, (ty, passing)) in function.parameters.iter().enumerate() {
            arguments.push(if function.recursive && position == 0 {
                format!("({} % 4)", self.expression(&U32, depth - 1))
            } else {
                self.argument(ty, *passing)
            });
        }
        Some(format!("{}({})", function.name, arguments.join(", ")))
    }

    /// A match on an enum of some variable.
    fn matched(&mut self, ty: &Type, depth: u32) -> Option<String> {
        let number = self.random.index(self.types.enums.len());
        let place = self.place(&Type::Enum(number), false)?;
        let mut arms = Vec::new();
        for variant in 0..self.types.enums[number].len() {
            let fields = self.types.enums[number][variant].fields.clone();
            let scope = self.variables.len();
            let names: Vec<String> = fields
                .iter()
                .map(|ty| self.declare(ty.clone(), false))
                .collect();
            let guard = if self.random.percent(20) {
                format!(" if {}", self.expression(&Type::Bool, 1))
            } else {
                String::new()
            };
            let value = self.expression(ty, depth - 1);
            self.variables.truncate(scope);
            let bound = pattern(&self.types.enums[number][variant], &names);
            arms.push(format!("E{number}::{bound}{guard} => {value}"));
        }
        let rest = self.expression(ty, depth - 1);
        Some(format!(
            "(match {place} {{ {}, _ => {rest} }})",
            arms.join(", ")
        ))
    }

    fn boolean(&mut self, depth: u32) -> String {
        let depth = depth - 1;
        match self.random.index(7) {
            0 | 1 => {
                let ty = any_scalar(self.random);
                let (left, right) = (self.expression(&ty, depth), self.expression(&ty, depth));
                let operator = pick!(self, "<", "<=", ">", ">=", "==", "!=");
                format!("({left} {operator} {right})")
            }
            2 => {
                let operator = pick!(self, "&&", "||", "^", "&", "|");
                let (left, right) = (
                    self.expression(&Type::Bool, depth),
                    self.expression(&Type::Bool, depth),
                );
                format!("({left} {operator} {right})")
            }
            3 => {
                let ty = Type::Int(any_int(self.random));
                let method = pick!(
                    self,
                    "overflowing_add",
                    "overflowing_sub",
                    "overflowing_mul"
                );
                let (left, right) = (self.expression(&ty, depth), self.expression(&ty, depth));
                format!("{left}.{method}({right}).1")
            }
            4 => {
                let ty = any_float(self.random);
                let method = pick!(
                    self,
                    "is_nan",
                    "is_finite",
                    "is_infinite",
                    "is_subnormal",
                    "number().is_sign_negative"
                );
                format!("{}.{method}()", self.expression(&ty, depth))
            }
            5 => {
                let ty = Type::Int(any_int(self.random));
                let array = Type::Array(Box::new(ty.clone()), self.random.within(1..6));
                let values = self.expression(&array, depth.min(1));
                let value = self.expression(&ty, depth);
                let bound = self.fresh("e");
                let ty = name(&ty);
                match self.random.index(3) {
                    0 => format!(
                        "({{ let s: {} = {values}; s.contains(&{value}) }})",
                        name(&array)
                    ),
                    1 => format!(
                        "({{ let s: {} = {values}; s.iter().any(|{bound}| *{bound} > {value}) }})",
                        name(&array)
                    ),
                    _ => format!(
                        "({{ let s: {} = {values}; s.windows(2).all(|w: &[{ty}]| w[0] <= w[1]) }})",
                        name(&array)
                    ),
                }
            }
            _ => format!("!{}", self.expression(&Type::Bool, depth)),
        }
    }

    fn float(&mut self, ty: &Type, depth: u32) -> String {
        let depth = depth - 1;
        let text = name(ty);
        match self.random.index(12) {
            0..=3 => {
                let operator = pick!(self, "+", "-", "*", "/", "+", "*", "%");
                let (left, right) = (self.expression(ty, depth), self.expression(ty, depth));
                format!("({left} {operator} {right})")
            }
            4 => {
                let method = pick!(self, "min", "max");
                let (left, right) = (self.expression(ty, depth), self.expression(ty, depth));
                format!("{left}.plain().{method}({right}.plain())")
            }
            5 => {
                let from = Type::Int(any_int(self.random));
                format!("({} as {text})", self.expression(&from, depth))
            }
            6 => {
                let from = any_float(self.random);
                format!("({} as {text})", self.expression(&from, depth))
            }
            7 => {
                let bits = Type::Int(Int {
                    signed: false,
                    bits: if *ty == Type::F32 { 32 } else { 64 },
                });
                format!("{text}::from_bits({})", self.expression(&bits, depth))
            }
            8 => {
                let method = pick!(
                    self,
                    "abs",
                    "signum",
                    "recip",
                    "next_up",
                    "next_down",
                    "to_radians"
                );
                format!("{}.{method}()", self.expression(ty, depth))
            }
            9 => {
                let (left, right) = (self.expression(ty, depth), self.expression(ty, depth));
                format!("{left}.copysign({right}.number())")
            }
            10 => {
                let bound = pick!(self, "5.5", "1e9");
                format!("{}.clamp(-2.0, {bound})", self.expression(ty, depth))
            }
            _ => {
                let condition = self.expression(&Type::Bool, depth);
                let (yes, no) = (self.expression(ty, depth), self.expression(ty, depth));
                format!("(if {condition} {{ {yes} }} else {{ {no} }})")
            }
        }
    }

    fn integer(&mut self, int: Int, depth: u32) -> String {
        let ty = Type::Int(int);
        let text = name(&ty);
        let depth = depth - 1;
        macro_rules! operand {
            () => {
                self.expression(&ty, depth)
            };
        }
        match self.random.index(24) {
            0..=2 => {
                let (left, right) = (operand!(), operand!());
                // Wraps around, or panics.
                if !self.overflow_checks && self.random.percent(50)
                    || self.overflow_checks && self.may_panic()
                {
                    let operator = pick!(self, "+", "-", "*");
                    return format!("({left} {operator} {right})");
                }
                let method = pick!(self, "wrapping_add", "wrapping_sub", "wrapping_mul");
                format!("{left}.{method}({right})")
            }
            3 => {
                let operator = pick!(self, "&", "|", "^");
                format!("({} {operator} {})", operand!(), operand!())
            }
            4 => {
                let method = pick!(
                    self,
                    "wrapping_shl",
                    "wrapping_shr",
                    "rotate_left",
                    "rotate_right"
                );
                format!("{}.{method}({})", operand!(), self.expression(&U32, depth))
            }
            5 => {
                if self.may_panic() {
                    let operator = pick!(self, "/", "%");
                    return format!("({} {operator} {})", operand!(), operand!());
                }
                let method = pick!(
                    self,
                    "checked_div",
                    "checked_rem",
                    "checked_div_euclid",
                    "checked_rem_euclid"
                );
                format!(
                    "{}.{method}({}).unwrap_or({})",
                    operand!(),
                    operand!(),
                    operand!()
                )
            }
            6 => {
                let method = pick!(self, "checked_add", "checked_sub", "checked_mul");
                if self.may_panic() {
                    let unwrap = pick!(self, "unwrap()", "expect(\"too large\")");
                    return format!("{}.{method}({}).{unwrap}", operand!(), operand!());
                }
                format!(
                    "{}.{method}({}).unwrap_or({})",
                    operand!(),
                    operand!(),
                    operand!()
                )
            }
            7 => {
                let method = pick!(self, "saturating_add", "saturating_sub", "saturating_mul");
                format!("{}.{method}({})", operand!(), operand!())
            }
            8 => {
                let from = Type::Int(any_int(self.random));
                format!("({} as {text})", self.expression(&from, depth))
            }
            9 => {
                let from = any_float(self.random);
                format!("({} as {text})", self.expression(&from, depth))
            }
            10 => format!("({} as {text})", self.expression(&Type::Bool, depth)),
            11 => {
                let method = pick!(
                    self,
                    "count_ones",
                    "leading_zeros",
                    "trailing_zeros",
                    "count_zeros",
                    "leading_ones",
                    "trailing_ones"
                );
                format!("({}.{method}() as {text})", operand!())
            }
            12 => {
                let method = pick!(self, "swap_bytes", "reverse_bits");
                format!("{}.{method}()", operand!())
            }
            13 => {
                let condition = self.expression(&Type::Bool, depth);
                format!(
                    "(if {condition} {{ {} }} else {{ {} }})",
                    operand!(),
                    operand!()
                )
            }
            14 => {
                let method = pick!(self, "min", "max");
                format!("{}.{method}({})", operand!(), operand!())
            }
            15 => {
                let on = self.expression(&U8, depth);
                let modulus = self.random.within(4..9);
                format!(
                    "(match {on} % {modulus} {{ 0 => {}, 1 | 3 => {}, 4..=6 => {}, _ => {} }})",
                    operand!(),
                    operand!(),
                    operand!(),
                    operand!()
                )
            }
            16 => {
                let method = pick!(self, "checked_shl", "checked_shr");
                let amount = self.expression(&U32, depth);
                format!(
                    "{}.{method}({amount} % 140).unwrap_or({})",
                    operand!(),
                    operand!()
                )
            }
            17 => {
                let exponent = self.expression(&U32, depth);
                format!("{}.wrapping_pow({exponent} % 9)", operand!())
            }
            18 => format!("({}.abs_diff({}) as {text})", operand!(), operand!()),
            19 => {
                let length = self.random.within(2..6);
                let array = Type::Array(Box::new(ty.clone()), length);
                let values = self.expression(&array, depth.min(1));
                let array = name(&array);
                let (item, sum) = (self.fresh("e"), self.fresh("h"));
                match self.random.index(4) {
                    0 => format!(
                        "({{ let mut s: {array} = {values}; s.sort_unstable(); s[{}] }})",
                        self.random.index(length)
                    ),
                    1 => format!(
                        "({{ let s: {array} = {values}; s.iter().fold({}, |{sum}: {text}, {item}| {sum}.wrapping_mul(3).wrapping_add(*{item})) }})",
                        operand!()
                    ),
                    2 => format!(
                        "({{ let s: {array} = {values}; s.iter().copied().max().unwrap_or({}) }})",
                        operand!()
                    ),
                    _ => format!(
                        "({{ let mut s: {array} = {values}; s.rotate_left({}); s.reverse(); s[0] ^ s[{}] }})",
                        self.random.index(length),
                        self.random.index(length)
                    ),
                }
            }
            20 => {
                let from = any_float(self.random);
                format!(
                    "({}.number().to_bits() as {text})",
                    self.expression(&from, depth)
                )
            }
            21 => {
                let method = pick!(self, "checked_ilog2", "checked_ilog10");
                format!("({}.{method}().unwrap_or(99) as {text})", operand!())
            }
            22 if int.signed => {
                let method = pick!(self, "wrapping_neg", "wrapping_abs", "signum");
                format!("{}.{method}()", operand!())
            }
            22 => {
                let method = pick!(self, "isqrt", "wrapping_neg");
                format!("{}.{method}()", operand!())
            }
            _ => {
                let condition = self.expression(&Type::Bool, depth);
                format!("({} ^ ({condition} as {text}))", operand!())
            }
        }
    }
}

/// Stands for an index in a place, before the array's length.
const INDEX: &str = "@";
