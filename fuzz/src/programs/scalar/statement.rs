//! Random statements.

use std::fmt::Write as _;

use super::{Around, Function, Generator, MOST_EVALUATIONS, Passing, Variable};
use crate::choose::Choose;
use crate::programs::types::{Type, U32, any_scalar, name, pattern};

impl Generator<'_> {
    /// A few statements; those in blocks have at most `depth` blocks around them. What they declare stays in scope.
    pub(super) fn statements(&mut self, depth: u32, indent: usize, around: Around) -> String {
        (0..self.random.within(1..5))
            .map(|_| self.statement(depth, indent, around))
            .collect()
    }

    /// Statements in a block of their own, which runs so many times.
    fn block(&mut self, depth: u32, indent: usize, around: Around, times: u64) -> String {
        let (scope, weight) = (self.variables.len(), self.weight);
        self.weight *= times;
        let text = self.statements(depth - 1, indent + 1, around);
        self.weight = weight;
        self.variables.truncate(scope);
        text
    }

    fn statement(&mut self, depth: u32, indent: usize, around: Around) -> String {
        let pad = "    ".repeat(indent);
        let loops = depth > 0 && self.weight * 8 <= MOST_EVALUATIONS / 20;
        match self.random.index(16) {
            0..=2 => {
                let ty = self.types.any(self.random);
                let value = self.expression(&ty, 3);
                let mutable = self.random.percent(60);
                let variable = self.declare(ty.clone(), mutable);
                let keyword = if mutable { "let mut" } else { "let" };
                format!("{pad}{keyword} {variable}: {} = {value};\n", name(&ty))
            }
            3 if depth > 0 => {
                let condition = self.expression(&Type::Bool, 2);
                let yes = self.block(depth, indent, around, 1);
                let no = self.block(depth, indent, around, 1);
                format!("{pad}if {condition} {{\n{yes}{pad}}} else {{\n{no}{pad}}}\n")
            }
            4 if depth > 0 => self.match_statement(depth, indent, around),
            5 if loops => {
                let times = self.random.within(1..8);
                let bound = match self.random.index(3) {
                    0 => format!("({} % {})", self.expression(&U32, 1), times + 1),
                    _ => times.to_string(),
                };
                let scope = self.variables.len();
                let index = self.declare(U32, false);
                let order = if self.random.percent(25) {
                    ".rev()"
                } else {
                    ""
                };
                let body = self.block(depth, indent, Around::Loop, times as u64);
                self.variables.truncate(scope);
                let range = match self.random.index(4) {
                    0 => format!("(0u32..{bound}).step_by(2)"),
                    1 => format!("(0u32..={bound})"),
                    _ => format!("(0u32..{bound})"),
                };
                format!("{pad}for {index} in {range}{order} {{\n{body}{pad}}}\n")
            }
            6 if loops => {
                let counter = self.fresh("n");
                let most = self.random.within(2..9);
                let condition = self.expression(&Type::Bool, 2);
                let body = self.block(depth, indent, Around::Loop, most as u64);
                format!(
                    "{pad}let mut {counter} = 0u32;\n{pad}while {counter} < {most} && {condition} {{\n{pad}    {counter} += 1;\n{body}{pad}}}\n"
                )
            }
            7 if loops => {
                let (counter, ty) = (self.fresh("n"), self.types.any(self.random));
                let most = self.random.within(1..7);
                let body = self.block(depth, indent, Around::ValuedLoop, most as u64);
                let (early, late) = (self.expression(&ty, 2), self.expression(&ty, 2));
                let condition = self.expression(&Type::Bool, 1);
                let variable = self.declare(ty.clone(), true);
                let ty = name(&ty);
                format!(
                    "{pad}let mut {counter} = 0u32;\n{pad}let mut {variable}: {ty} = loop {{\n{pad}    {counter} += 1;\n\
                     {pad}    if {counter} > {most} {{ break {late}; }}\n{pad}    if {condition} {{ break {early}; }}\n\
                     {body}{pad}}};\n"
                )
            }
            8 if around != Around::Nothing => {
                let condition = self.expression(&Type::Bool, 2);
                let leave = match around {
                    Around::Loop if self.random.percent(50) => "break",
                    _ => "continue",
                };
                format!("{pad}if {condition} {{ {leave}; }}\n")
            }
            9 => self.mutating_call(&pad).unwrap_or_default(),
            10 => self.each_element(&pad).unwrap_or_default(),
            11 if self.may_panic() => {
                let condition = self.expression(&Type::Bool, 2);
                let value = any_scalar(self.random);
                let argument = match &value {
                    // Formatting floats is not what is tested here.
                    Type::F32 | Type::F64 => self.expression(&U32, 1),
                    other => self.expression(&other.clone(), 1),
                };
                match self.random.index(3) {
                    0 => format!(
                        "{pad}assert!({condition} || {}, \"asserted\");\n",
                        self.expression(&Type::Bool, 1)
                    ),
                    1 => format!(
                        "{pad}if {condition} && {} {{ panic!(\"value {{}}\", {argument}); }}\n",
                        self.expression(&Type::Bool, 1)
                    ),
                    _ => format!("{pad}assert_ne!({argument}, {argument} ^ {argument});\n"),
                }
            }
            _ => self.assignment(&pad).unwrap_or_default(),
        }
    }

    /// A match on an enum, whose arms have statements.
    fn match_statement(&mut self, depth: u32, indent: usize, around: Around) -> String {
        let pad = "    ".repeat(indent);
        let number = self.random.index(self.types.enums.len());
        let value = self.expression(&Type::Enum(number), 2);
        let mut text = format!("{pad}match ({value}) {{\n");
        let variants = self.types.enums[number].len();
        let written = self.random.within(1..variants + 1);
        for variant in 0..written {
            let fields = self.types.enums[number][variant].fields.clone();
            let scope = self.variables.len();
            let names: Vec<String> = fields
                .iter()
                .map(|ty| self.declare(ty.clone(), false))
                .collect();
            let body = self.block(depth, indent + 1, around, 1);
            self.variables.truncate(scope);
            let bound = pattern(&self.types.enums[number][variant], &names);
            let _ = writeln!(text, "{pad}    E{number}::{bound} => {{\n{body}{pad}    }}");
        }
        if written < variants {
            let body = self.block(depth, indent + 1, around, 1);
            let _ = writeln!(text, "{pad}    _ => {{\n{body}{pad}    }}");
        }
        text + &format!("{pad}}}\n")
    }

    /// A new value for a mutable place.
    fn assignment(&mut self, pad: &str) -> Option<String> {
        let mutable: Vec<Type> = self
            .variables
            .iter()
            .filter(|variable| variable.mutable)
            .map(|variable| variable.ty.clone())
            .collect();
        if mutable.is_empty() {
            return None;
        }
        let ty = match self.random.one_of(&mutable).clone() {
            Type::Array(element, _) if self.random.percent(60) => *element,
            Type::Struct(number) if self.random.percent(60) => {
                self.random.one_of(&self.types.structs[number]).clone()
            }
            whole => whole,
        };
        let place = self.place(&ty, true)?;
        let value = self.expression(&ty, 3);
        let operator = match &ty {
            Type::Int(_) if self.random.percent(30) => *self.random.one_of(&["^", "|", "&"]),
            Type::F32 | Type::F64 if self.random.percent(30) => {
                *self.random.one_of(&["+", "-", "*", "/"])
            }
            _ => "",
        };
        // The value first: an index of the place may read what the value's calls do not change, but Rust wants it said.
        let variable = self.fresh("t");
        Some(format!(
            "{pad}let {variable}: {} = {value};\n{pad}{place} {operator}= {variable};\n",
            name(&ty)
        ))
    }

    /// A call of a function that changes a variable.
    fn mutating_call(&mut self, pad: &str) -> Option<String> {
        let functions: Vec<Function> = self
            .functions
            .iter()
            .filter(|f| f.cost * self.weight <= MOST_EVALUATIONS)
            .filter(|f| matches!(f.parameters.last(), Some((_, Passing::MutableReference))))
            .cloned()
            .collect();
        if functions.is_empty() {
            return None;
        }
        let function = self.random.one_of(&functions).clone();
        self.cost += self.weight * function.cost;
        let mut text = String::new();
        let mut arguments = Vec::new();
        let last = function.parameters.len() - 1;
        for (position, (ty, passing)) in function.parameters.iter().enumerate() {
            if position == last {
                let value = self.expression(ty, 2);
                let variable = self.declare(ty.clone(), true);
                let _ = writeln!(text, "{pad}let mut {variable}: {} = {value};", name(ty));
                arguments.push(format!("&mut {variable}"));
            } else if function.recursive && position == 0 {
                arguments.push(format!("({} % 4)", self.expression(&U32, 1)));
            } else {
                arguments.push(self.argument(ty, *passing));
            }
        }
        let result = self.declare(function.result.clone(), true);
        let _ = writeln!(
            text,
            "{pad}let mut {result}: {} = {}({});",
            name(&function.result),
            function.name,
            arguments.join(", ")
        );
        Some(text)
    }

    /// A loop over the elements of an array, which it changes.
    fn each_element(&mut self, pad: &str) -> Option<String> {
        let arrays: Vec<(usize, Variable)> = self
            .variables
            .iter()
            .cloned()
            .enumerate()
            .filter(|(_, variable)| variable.mutable && matches!(variable.ty, Type::Array(..)))
            .collect();
        if arrays.is_empty() {
            return None;
        }
        let (position, array) = self.random.one_of(&arrays).clone();
        let Type::Array(element, length) = &array.ty else {
            unreachable!("only arrays were chosen");
        };
        // The loop borrows the array.
        self.variables.remove(position);
        let (scope, weight) = (self.variables.len(), self.weight);
        self.weight *= *length as u64;
        let (index, item) = (self.fresh("i"), self.fresh("e"));
        self.variables.push(Variable {
            name: format!("(*{item})"),
            ty: (**element).clone(),
            mutable: false,
        });
        self.variables.push(Variable {
            name: format!("({index} as u32)"),
            ty: U32,
            mutable: false,
        });
        let value = self.expression(element, 3);
        self.variables.truncate(scope);
        self.weight = weight;
        let elements = match self.random.index(3) {
            0 => format!("{}.iter_mut().rev()", array.name),
            1 => format!(
                "{}[{}..].iter_mut()",
                array.name,
                self.random.within(0..*length + 1)
            ),
            _ => format!("{}.iter_mut()", array.name),
        };
        self.variables.insert(position, array);
        Some(format!(
            "{pad}for ({index}, {item}) in {elements}.enumerate() {{\n{pad}    *{item} = {value};\n{pad}}}\n"
        ))
    }
}
