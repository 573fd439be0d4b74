//! How the instructions of a form are lowered: its modifiers are read once for all of them.

use super::acceptance::AcceptedForm;
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

/// How the forms of a module are lowered, so far as they have come up.
#[derive(Default)]
pub(crate) struct Lowerings {
    /// By the form's number.
    known: Vec<Option<std::result::Result<Lowering, Unsupported>>>,
}

impl Lowerings {
    /// Lowers an instruction of a form. The form's modifiers are read by `read`, the first time.
    pub fn lower<'a>(
        &mut self,
        cx: &mut Builder<'a, '_>,
        inst: &'a Instruction<'a>,
        accepted: &AcceptedForm,
        read: ReadForm,
    ) -> Result<()> {
        if self.known.len() <= accepted.number {
            self.known.resize_with(accepted.number + 1, || None);
        }
        let lowering = self.known[accepted.number].get_or_insert_with(|| {
            let form = FormReader::new(&accepted.form);
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
