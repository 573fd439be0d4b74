//! Random programs of one thread: integers of all widths, floats, structs, enums, arrays, slices, calls, recursion, loops.
//!
//! A program is a module with `pub fn program(x: &[u64; 6]) -> u64`. Its inputs become variables of any type; what it answers is all
//! of its variables folded into a word. What Rust leaves open is kept out: the bits of a NaN, and which zero `min` and `max` answer.

mod compare;
mod expression;
mod rounds;
mod statement;

use std::fmt::Write as _;

use warpsmith_testkit::Random;

use super::types::{Declarations, Type, U32, any_int, name};
use crate::choose::Choose;

pub use rounds::{replay, round};

/// How many words a program gets.
pub const INPUTS: usize = 6;

/// How often the most costly expression of a program may be evaluated, and so how long it may take.
const MOST_EVALUATIONS: u64 = 3_000;

/// A variable in scope.
#[derive(Clone)]
struct Variable {
    name: String,
    ty: Type,
    mutable: bool,
}

/// What the code at hand may leave.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    Nothing,
    /// A loop.
    Loop,
    /// A loop that has a value, without which it cannot be left.
    ValuedLoop,
}

/// How a function takes a parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passing {
    Value,
    Reference,
    Slice,
    /// The last one.
    MutableReference,
}

/// A function that what follows may call.
#[derive(Clone)]
struct Function {
    name: String,
    parameters: Vec<(Type, Passing)>,
    result: Type,
    /// How many expressions a call evaluates, about.
    cost: u64,
    /// Its first parameter is how deep it still may call itself.
    recursive: bool,
}

/// Writes one program.
pub(super) struct Generator<'r> {
    random: &'r mut Random,
    types: Declarations,
    functions: Vec<Function>,
    variables: Vec<Variable>,
    /// The number of the next name.
    next: usize,
    /// How often the code at hand runs for each call of its function, about.
    weight: u64,
    /// What the function at hand costs so far.
    cost: u64,
    /// How many more places may panic.
    panics: u32,
    /// Whether plain arithmetic panics where it overflows.
    overflow_checks: bool,
}

/// The text of a random program.
pub fn program(random: &mut Random, overflow_checks: bool) -> String {
    let types = Declarations::random(random);
    let panics = if random.percent(40) {
        1 + random.below(3)
    } else {
        0
    };
    let mut generator = Generator {
        random,
        types,
        functions: Vec::new(),
        variables: Vec::new(),
        next: 0,
        weight: 1,
        cost: 0,
        panics,
        overflow_checks,
    };
    generator.program()
}

impl Generator<'_> {
    fn program(&mut self) -> String {
        let mut text = String::from("use crate::support::*;\n\n");
        text += &self.types.text();
        for _ in 0..self.random.within(1..5) {
            text += "\n";
            text += &self.function();
        }
        text += "\npub fn program(x: &[u64; 6]) -> u64 {\n";
        self.variables.clear();
        self.cost = 0;
        for input in 0..INPUTS {
            let ty = match self.random.index(12) {
                0 => Type::F32,
                1 | 2 => Type::F64,
                3 => Type::Bool,
                _ => Type::Int(any_int(self.random)),
            };
            let next = (input + 1) % INPUTS;
            let value = match &ty {
                Type::Bool => format!("x[{input}] & 1 == 1"),
                Type::F32 => format!("f32::from_bits(x[{input}] as u32)"),
                Type::F64 => format!("f64::from_bits(x[{input}])"),
                Type::Int(int) if int.bits == 128 => {
                    let ty = name(&ty);
                    format!("(x[{input}] as {ty}) << 64 | x[{next}] as {ty}")
                }
                _ => format!("x[{input}] as {}", name(&ty)),
            };
            let variable = self.declare(ty.clone(), true);
            let _ = writeln!(text, "    let mut {variable}: {} = {value};", name(&ty));
        }
        text += &self.statements(3, 1, Around::Nothing);
        text += &self.statements(3, 1, Around::Nothing);
        text += "    let mut h = 0u64;\n";
        for variable in &self.variables {
            let _ = writeln!(text, "    h = {}.mix(h);", variable.name);
        }
        text + "    h\n}\n"
    }

    /// A function that later ones, and the program, may call.
    fn function(&mut self) -> String {
        self.variables.clear();
        self.cost = 0;
        let number = self.functions.len();
        let function_name = format!("g{number}");
        let recursive = self.random.percent(25);
        let mut parameters = Vec::new();
        let mut list = Vec::new();
        if recursive {
            parameters.push((U32, Passing::Value));
            list.push("depth: u32".to_owned());
        }
        let count = self.random.within(1..4);
        for index in 0..count {
            let ty = self.types.any(self.random);
            let passing = match (&ty, self.random.index(4)) {
                (Type::Array(..), 0) => Passing::Slice,
                (_, 1) => Passing::Reference,
                (_, 2) if index + 1 == count => Passing::MutableReference,
                _ => Passing::Value,
            };
            let text = name(&ty);
            let parameter = format!("q{index}");
            let written = match (&ty, passing) {
                (Type::Array(element, _), Passing::Slice) => format!("&[{}]", name(element)),
                (_, Passing::Reference) => format!("&{text}"),
                (_, Passing::MutableReference) => format!("&mut {text}"),
                _ => text,
            };
            list.push(format!("{parameter}: {written}"));
            // A reference is read, and written, as the place behind it; a slice has the length that its callers give it.
            let place = match passing {
                Passing::Reference | Passing::MutableReference => format!("(*{parameter})"),
                Passing::Value | Passing::Slice => parameter,
            };
            if passing != Passing::Slice {
                self.variables.push(Variable {
                    name: place,
                    ty: ty.clone(),
                    mutable: passing == Passing::MutableReference,
                });
            }
            parameters.push((ty, passing));
        }
        let result = self.types.any(self.random);
        let attribute = match self.random.index(4) {
            0 => "",
            1 => "#[inline(always)]\n",
            _ => "#[inline(never)]\n",
        };
        let attribute = if recursive { "" } else { attribute };
        let mut text = format!(
            "{attribute}fn {function_name}({}) -> {} {{\n",
            list.join(", "),
            name(&result)
        );
        let own = usize::from(recursive)..parameters.len();
        for (index, (ty, passing)) in parameters[own].iter().enumerate() {
            if let (Type::Array(..), Passing::Slice) = (ty, passing) {
                text += &self.slice_sum(&format!("q{index}"));
            }
        }
        if recursive {
            let base = self.expression(&result, 2);
            let _ = writeln!(text, "    if depth == 0 {{\n        return {base};\n    }}");
            let call_arguments = |generator: &mut Self| -> Vec<String> {
                let mut arguments = vec!["depth - 1".to_owned()];
                for (ty, passing) in parameters.iter().skip(1) {
                    arguments.push(generator.argument(ty, *passing));
                }
                arguments
            };
            for _ in 0..self.random.within(1..3) {
                let temporaries = self.temporaries(&parameters[1..]);
                text += &temporaries.0;
                let mut arguments = call_arguments(self);
                if let Some(place) = temporaries.1 {
                    arguments.pop();
                    arguments.push(place);
                }
                let variable = self.declare(result.clone(), false);
                let _ = writeln!(
                    text,
                    "    let {variable} = {function_name}({});",
                    arguments.join(", ")
                );
            }
        }
        text += &self.statements(2, 1, Around::Nothing);
        let answer = self.expression(&result, 3);
        let _ = writeln!(text, "    {answer}\n}}");
        self.functions.push(Function {
            name: function_name,
            parameters,
            result,
            // Two calls at each of at most three depths.
            cost: if recursive {
                self.cost * 15 + 15
            } else {
                self.cost + 1
            },
            recursive,
        });
        text
    }

    /// What a function does with a slice first: a sum of its elements becomes a variable.
    fn slice_sum(&mut self, slice: &str) -> String {
        let variable = self.declare(super::types::U64, true);
        let bound = self.fresh("e");
        self.cost += 8;
        let text = match self.random.index(3) {
            0 => format!("{slice}.iter().fold({slice}.len() as u64, |h, {bound}| {bound}.mix(h))"),
            1 => format!(
                "{slice}.iter().rev().zip({slice}.iter().skip(1)).fold(1, |h, (a, {bound})| a.mix({bound}.mix(h)))"
            ),
            _ => format!(
                "{slice}.chunks(2).map(|{bound}| {bound}[0].mix({bound}.len() as u64)).fold(2, |h, v| v.mix(h))"
            ),
        };
        format!("    let mut {variable}: u64 = {text};\n")
    }

    /// A mutable variable for a last parameter that is a mutable reference: its declaration, and the argument.
    fn temporaries(&mut self, parameters: &[(Type, Passing)]) -> (String, Option<String>) {
        match parameters.last() {
            Some((ty, Passing::MutableReference)) => {
                let value = self.expression(ty, 2);
                let variable = self.declare(ty.clone(), true);
                (
                    format!("    let mut {variable}: {} = {value};\n", name(ty)),
                    Some(format!("&mut {variable}")),
                )
            }
            _ => (String::new(), None),
        }
    }

    /// An argument for a parameter.
    fn argument(&mut self, ty: &Type, passing: Passing) -> String {
        let value = self.expression(ty, 2);
        match passing {
            Passing::Value => value,
            Passing::Reference | Passing::MutableReference => {
                format!(
                    "&{}{value}",
                    if passing == Passing::Reference {
                        ""
                    } else {
                        "mut "
                    }
                )
            }
            Passing::Slice => {
                let Type::Array(_, length) = ty else {
                    unreachable!("slices are of arrays");
                };
                let start = self.random.index(*length);
                let end = self.random.within(start..*length + 1);
                format!("&{value}[{start}..{end}]")
            }
        }
    }

    /// A new name.
    fn fresh(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    /// A new variable, in scope from here on.
    fn declare(&mut self, ty: Type, mutable: bool) -> String {
        let name = self.fresh("v");
        self.variables.push(Variable {
            name: name.clone(),
            ty,
            mutable,
        });
        name
    }

    /// Whether this place may panic; there are few of them.
    fn may_panic(&mut self) -> bool {
        let may = self.panics > 0 && self.random.percent(15);
        self.panics -= u32::from(may);
        may
    }
}
