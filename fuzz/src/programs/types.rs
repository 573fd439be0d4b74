//! The types of random programs, and their declarations in Rust.

use std::fmt::Write as _;

use warpsmith_testkit::Random;

use crate::choose::Choose;

/// An integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Int {
    /// Whether it has negative numbers.
    pub signed: bool,
    /// Its width in bits.
    pub bits: u32,
}

/// A type of a random program's values. All are `Copy`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// `bool`.
    Bool,
    /// An integer type.
    Int(Int),
    /// `f32`.
    F32,
    /// `f64`.
    F64,
    /// The struct of this number.
    Struct(usize),
    /// The enum of this number.
    Enum(usize),
    /// An array of so many elements.
    Array(Box<Type>, usize),
}

/// `u32`, which indices and amounts are computed in.
pub const U32: Type = Type::Int(Int {
    signed: false,
    bits: 32,
});
/// `u8`.
pub const U8: Type = Type::Int(Int {
    signed: false,
    bits: 8,
});
/// `u64`, in which a program answers.
pub const U64: Type = Type::Int(Int {
    signed: false,
    bits: 64,
});

/// Any integer type.
pub fn any_int(random: &mut Random) -> Int {
    Int {
        signed: random.percent(50),
        bits: 8 << random.index(5),
    }
}

/// Any floating-point type.
pub fn any_float(random: &mut Random) -> Type {
    random.one_of(&[Type::F32, Type::F64]).clone()
}

/// Any type without parts.
pub fn any_scalar(random: &mut Random) -> Type {
    match random.index(10) {
        0 => Type::Bool,
        1 | 2 => any_float(random),
        _ => Type::Int(any_int(random)),
    }
}

/// A variant of an enum: its name and the types of its fields.
pub struct Variant {
    /// Its name.
    pub name: String,
    /// Its fields, which have no names.
    pub fields: Vec<Type>,
}

/// The structs and enums of a program.
#[derive(Default)]
pub struct Declarations {
    /// The fields of each struct; field `i` is called `f{i}`.
    pub structs: Vec<Vec<Type>>,
    /// The variants of each enum.
    pub enums: Vec<Vec<Variant>>,
}

impl Declarations {
    /// Random ones.
    pub fn random(random: &mut Random) -> Self {
        let mut all = Self::default();
        for _ in 0..random.within(1..4) {
            let fields = (0..random.within(1..6)).map(|_| all.any_part(random));
            let fields = fields.collect();
            all.structs.push(fields);
        }
        for _ in 0..random.within(1..3) {
            let variants = (0..random.within(2..6)).map(|number| Variant {
                name: format!("V{number}"),
                fields: (0..random.index(4)).map(|_| all.any_part(random)).collect(),
            });
            let variants = variants.collect();
            all.enums.push(variants);
        }
        all
    }

    /// A type of a field: mostly a scalar one.
    fn any_part(&self, random: &mut Random) -> Type {
        match random.index(8) {
            0 if !self.structs.is_empty() => Type::Struct(random.index(self.structs.len())),
            1 => Type::Array(Box::new(any_scalar(random)), random.within(1..5)),
            _ => any_scalar(random),
        }
    }

    /// Any type.
    pub fn any(&self, random: &mut Random) -> Type {
        match random.index(10) {
            0 => Type::Struct(random.index(self.structs.len())),
            1 => Type::Enum(random.index(self.enums.len())),
            2 | 3 => Type::Array(Box::new(self.any_part(random)), random.within(1..8)),
            _ => any_scalar(random),
        }
    }

    /// The types in Rust, with what folds a value of each into a word.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (number, fields) in self.structs.iter().enumerate() {
            let list: Vec<String> = fields
                .iter()
                .enumerate()
                .map(|(field, ty)| format!("f{field}: {}", name(ty)))
                .collect();
            let mixed: String = (0..fields.len())
                .map(|field| format!(" let h = self.f{field}.mix(h);"))
                .collect();
            let _ = writeln!(
                text,
                "#[derive(Clone, Copy)]\npub struct S{number} {{ {} }}\n\
                 impl Mix for S{number} {{\n    fn mix(self, h: u64) -> u64 {{{mixed} h }}\n}}",
                list.join(", ")
            );
        }
        for (number, variants) in self.enums.iter().enumerate() {
            let list: Vec<String> = variants
                .iter()
                .map(|variant| {
                    let fields: Vec<String> = variant.fields.iter().map(name).collect();
                    if fields.is_empty() {
                        variant.name.clone()
                    } else {
                        format!("{}({})", variant.name, fields.join(", "))
                    }
                })
                .collect();
            let arms: String = variants
                .iter()
                .enumerate()
                .map(|(tag, variant)| {
                    let bound: Vec<String> =
                        (0..variant.fields.len()).map(|i| format!("p{i}")).collect();
                    let mixed: String = bound
                        .iter()
                        .map(|field| format!(" let h = {field}.mix(h);"))
                        .collect();
                    format!(
                        "            E{number}::{} => {{ let h = {tag}u8.mix(h);{mixed} h }}\n",
                        pattern(variant, &bound)
                    )
                })
                .collect();
            let _ = writeln!(
                text,
                "#[derive(Clone, Copy)]\npub enum E{number} {{ {} }}\n\
                 impl Mix for E{number} {{\n    fn mix(self, h: u64) -> u64 {{\n        match self {{\n{arms}        }}\n    }}\n}}",
                list.join(", ")
            );
        }
        text
    }
}

/// A variant with names for its fields.
pub fn pattern(variant: &Variant, names: &[String]) -> String {
    if names.is_empty() {
        variant.name.clone()
    } else {
        format!("{}({})", variant.name, names.join(", "))
    }
}

/// A type's name in Rust.
pub fn name(ty: &Type) -> String {
    match ty {
        Type::Bool => "bool".into(),
        Type::Int(int) => format!("{}{}", if int.signed { 'i' } else { 'u' }, int.bits),
        Type::F32 => "f32".into(),
        Type::F64 => "f64".into(),
        Type::Struct(number) => format!("S{number}"),
        Type::Enum(number) => format!("E{number}"),
        Type::Array(element, length) => format!("[{}; {length}]", name(element)),
    }
}
