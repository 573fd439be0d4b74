//! A form that a module may have, and how its instructions are lowered: its modifiers are read once for all of them.

use std::cell::OnceCell;

use warpsmith_isa::Match;
use warpsmith_isa::effect::Proxy;

use super::builder::Builder;
use super::form::FormReader;
use crate::ptx::ast::Instruction;
use crate::ptx::{Error, Result};

type Lower = dyn for<'a, 'm> Fn(&mut Builder<'a, 'm>, &'a Instruction<'a>) -> Result<()>;

/// How the instructions of a form are lowered, its modifiers having been read.
pub(crate) struct Lowering(Box<Lower>);

impl Lowering {
    /// Lowers each instruction by this function, which reads the operands.
    pub fn new(
        lower: impl for<'a, 'm> Fn(&mut Builder<'a, 'm>, &'a Instruction<'a>) -> Result<()> + 'static,
    ) -> Lowering {
        Lowering(Box::new(lower))
    }
}

/// Reads a form's modifiers; `None` if the simulator does not execute it.
pub(crate) type ReadForm = fn(&FormReader<'_>) -> Option<Lowering>;

/// Why the simulator does not execute a form.
#[derive(Clone, Copy, Debug)]
enum Unsupported {
    /// Nobody lowers it, or not with these modifiers together.
    Form,
    /// Whoever lowers it has not read this modifier.
    Modifier(&'static str),
}

/// A form that a module may have.
pub(crate) struct AcceptedForm {
    /// The form, with its modifiers decided.
    pub found: Match,
    /// Whether it has an access by the asynchronous proxy.
    pub uses_async_proxy: bool,
    lowering: OnceCell<std::result::Result<Lowering, Unsupported>>,
}

impl AcceptedForm {
    /// A form that nobody has read yet.
    pub fn new(found: Match) -> AcceptedForm {
        let mut effects = found.effects();
        let uses_async_proxy = effects.any(|found| found.effect.proxy == Proxy::Async);
        AcceptedForm {
            found,
            uses_async_proxy,
            lowering: OnceCell::new(),
        }
    }

    /// Lowers an instruction of this form. Its modifiers are read by `read`, the first time.
    pub fn lower<'a>(
        &self,
        cx: &mut Builder<'a, '_>,
        inst: &'a Instruction<'a>,
        read: ReadForm,
    ) -> Result<()> {
        let lowering = self.lowering.get_or_init(|| {
            let form = FormReader::new(&self.found);
            let lowering = read(&form).ok_or(Unsupported::Form)?;
            match form.unread() {
                None => Ok(lowering),
                Some(word) => Err(Unsupported::Modifier(word)),
            }
        });
        match lowering {
            Ok(Lowering(lower)) => lower(cx, inst),
            Err(Unsupported::Form) => Err(unsupported(inst)),
            Err(Unsupported::Modifier(word)) => {
                let message = format!(
                    "`{}` is not supported by the simulator: `.{word}`",
                    inst.name()
                );
                Err(Error::new(inst.at, message))
            }
        }
    }
}

/// The refusal of an instruction that the simulator does not execute.
pub(crate) fn unsupported(inst: &Instruction) -> Error {
    Error::new(
        inst.at,
        format!("`{}` is not supported by the simulator", inst.name()),
    )
}
