//! Instructions made from the forms of the tables, for others to judge: ptxas, and the simulator's front end.

pub mod faults;
mod forms;
mod operands;
mod pairs;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use crate::{Match, PtxVersion, Refusal, Target, check_special};

pub use forms::all;
pub use pairs::pairs;

/// What an instruction is an example of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Example {
    /// The form itself, with as little as it can have.
    Form,
    /// One alternative of a slot.
    Alternative(&'static str, &'static str),
    /// An operand that may be left out.
    Operand(&'static str),
}

/// Where an instruction comes from.
pub enum Origin {
    /// A form.
    Form {
        /// The form with its modifiers.
        found: Box<Match>,
        /// The name of its family.
        family: &'static str,
        /// What of it is shown.
        example: Example,
    },
    /// A special register.
    Special(String),
}

/// An instruction for ptxas.
pub struct Sample {
    /// Where it comes from.
    pub origin: Origin,
    /// The statement.
    pub text: String,
}

impl Sample {
    /// Whether the tables say that a module may have it.
    pub fn is_allowed(&self, version: PtxVersion, target: Target) -> bool {
        self.refusal(version, target).is_none()
    }

    /// Why the tables say that a module may not have it.
    pub fn refusal(&self, version: PtxVersion, target: Target) -> Option<Refusal<'_>> {
        match &self.origin {
            Origin::Form { found, .. } => found.check_target(version, target).err(),
            Origin::Special(name) => check_special(name, version, target).err(),
        }
    }
}

/// A module with these statements in the body of its kernel, and the number of its lines before the first of them.
pub fn module(version: PtxVersion, target: Target, statements: &[&str]) -> (String, usize) {
    let mut text = format!(
        ".version {version}\n.target {target}\n.address_size 64\n\
         .global .b32 gv[4]; .shared .b32 sv[4]; .const .b32 cv[4];\n\
         .func (.reg .b32 r) fn (.reg .b32 a) {{ mov.b32 r, a; ret; }}\n\
         .func fn1 (.reg .b32 a) {{ ret; }}\n.func fn0 () {{ ret; }}\n\
         .visible .entry k(.param .align 16 .b8 p[32]) {{\n\
         .reg .pred %p<9>; .reg .b8 %b<300>; .reg .b16 %h<300>; .reg .b32 %r<300>; .reg .f32 %f<9>; .reg .b64 %d<300>;\n\
         .reg .b128 %q<300>; .reg .f16 %hf<9>; .reg .f16x2 %hx<9>; .reg .s16 %hs<9>; .reg .u32 %ru<9>; .reg .s32 %rs<9>;\n\
         .reg .f64 %df<9>; .reg .u64 %du<9>; .param .align 16 .b8 q[32]; .local .b32 lv[4];\n\
         L1:\nts: .branchtargets L1;\nproto: .callprototype (.reg .b32 _) _ (.reg .b32 _);\n\
         proto1: .callprototype _ (.reg .b32 _);\nproto0: .callprototype _ ();\n"
    );
    let before = text.lines().count();
    for statement in statements {
        text.push_str(statement);
        text.push('\n');
    }
    text.push_str("}\n");
    (text, before)
}
