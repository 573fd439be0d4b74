//! A kernel's parameter in a file test.

use super::values::Type;

/// What a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// A value.
    Scalar,
    /// The address of a buffer.
    In,
    /// The address of a buffer that is shown afterwards.
    Out,
    /// The address of a buffer that was freed before the launch.
    Freed,
    /// A multicast address of two devices' memory, whose values are one behind the other and shown afterwards.
    Multicast,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// As it is written.
    pub text: String,
    /// What it is.
    pub kind: ParameterKind,
    /// The type of its values.
    pub ty: Type,
    /// The value, or what the buffer holds at first.
    pub bytes: Vec<u8>,
}

impl Parameter {
    /// Reads a directive.
    pub(super) fn parse(text: &str) -> Result<Parameter, String> {
        let (word, rest) = text.split_once(' ').ok_or("a parameter needs a type")?;
        let (ty, values) = rest
            .trim()
            .split_once(' ')
            .ok_or("a parameter needs values")?;
        let ty = Type::parse(ty).ok_or_else(|| format!("unknown type `{ty}`"))?;
        let bytes = if word == "out" {
            let count: usize = values
                .trim()
                .parse()
                .map_err(|_| format!("`{values}`: not a number"))?;
            vec![0xCD; count * ty.size()]
        } else {
            ty.encode(values)?
        };
        Ok(Parameter {
            text: text.to_owned(),
            kind: match word {
                "arg" => ParameterKind::Scalar,
                "in" => ParameterKind::In,
                "freed" => ParameterKind::Freed,
                "multicast" => ParameterKind::Multicast,
                _ => ParameterKind::Out,
            },
            ty,
            bytes,
        })
    }
}
