//! A row of the table: a call with one wrong argument, and the error that answers it.

use warpsmith_host::{Error, Result};

use crate::world::World;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Invalid,
    Limit,
    Driver,
    Unsupported,
    NotFound,
    Ptx,
    Busy,
    GraphUpdate,
}

impl Kind {
    pub fn of(error: &Error) -> Option<Kind> {
        Some(match error {
            Error::Invalid(_) => Kind::Invalid,
            Error::Limit(_) => Kind::Limit,
            Error::Driver(_) => Kind::Driver,
            Error::Unsupported(_) => Kind::Unsupported,
            Error::NotFound(_) => Kind::NotFound,
            Error::Ptx(_) => Kind::Ptx,
            Error::Busy(_) => Kind::Busy,
            Error::GraphUpdate(_) => Kind::GraphUpdate,
            _ => return None,
        })
    }
}

pub struct Row {
    /// `Type::function`, as `sources.rs` names it.
    pub function: &'static str,
    pub case: &'static str,
    pub kind: Kind,
    pub call: fn(&mut World) -> Result<()>,
}

/// Rows of a topic, and the file with what their errors say.
pub struct Topic {
    pub name: &'static str,
    pub rows: Vec<Row>,
}

/// `"Type::function", "what is wrong" => Kind, |world| call;`
macro_rules! rows {
    ($($function:literal, $case:literal => $kind:ident, |$world:ident| $call:expr;)*) => {
        vec![$($crate::row::Row {
            function: $function,
            case: $case,
            kind: $crate::row::Kind::$kind,
            call: |$world| ($call).map(drop),
        }),*]
    };
}
pub(crate) use rows;
