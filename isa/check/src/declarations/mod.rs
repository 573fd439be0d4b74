//! Declarations with something wrong, made by a fixed list of changes, most of which ptxas refuses: variables and registers,
//! parameters and functions, labels, names, and the head of the module.
//!
//! Each stands in a module of its own: what ptxas says of one may hide what it says of another, and some of it comes at the end.

mod functions;
mod head;
mod names;
mod variables;

use std::fmt;
use warpsmith_isa::sample::faults::Sieve;
use warpsmith_isa::{PtxVersion, Target};

use super::cells::Cell;

/// A module with a declaration that may be wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Declaration {
    /// `.version` and what follows up to the first declaration.
    head: String,
    /// What stands at module scope.
    module: String,
    /// What stands in the body of the kernel.
    body: String,
}

/// The head of a module without faults.
const HEAD: &str = ".version 9.0 .target sm_90a .address_size 64";

/// The version and the architecture of that head.
pub fn cell() -> Cell {
    let target = Target::parse("sm_90a").expect("an architecture");
    (PtxVersion::new(9, 0), target)
}

impl Declaration {
    /// Something at module scope.
    fn at_module_scope(text: impl Into<String>) -> Declaration {
        Declaration::of(text, "")
    }

    /// Something in the body of the kernel.
    fn in_body(text: impl Into<String>) -> Declaration {
        Declaration::of("", text)
    }

    /// Something at module scope, and something in the body of the kernel.
    fn of(module: impl Into<String>, body: impl Into<String>) -> Declaration {
        Declaration {
            head: HEAD.to_owned(),
            module: module.into(),
            body: body.into(),
        }
    }

    /// The whole module.
    pub fn text(&self) -> String {
        let Declaration { head, module, body } = self;
        format!(
            "{head}\n{module}\n.visible .entry k(.param .u64 p) {{\n\
             .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<4>; .reg .b64 %d<4>;\n{body}\nret;\n}}\n"
        )
    }
}

impl fmt::Display for Declaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            if self.head == HEAD { "" } else { &self.head },
            &self.module,
        ];
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            write!(f, "{part} ")?;
        }
        if !self.body.is_empty() {
            write!(f, "{{ {} }}", self.body)?;
        }
        Ok(())
    }
}

/// All of them, or always the same few.
pub fn all(sieve: Sieve) -> Vec<Declaration> {
    let mut all = Vec::new();
    head::add(&mut all);
    variables::add(&mut all);
    functions::add(&mut all);
    names::add(&mut all);
    all.retain(|declaration| sieve.keeps(declaration));
    all.sort();
    all.dedup();
    all
}
