//! The instructions that a module may have: those of its `.version` and `.target`.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use warpsmith_isa::effect::{ObjectUse, Proxy};
use warpsmith_isa::{Match, PtxVersion, Target, matches};

use crate::engine::program::Uses;
use crate::ptx::ast;

/// An instruction's opcode and modifiers.
type Name<'a> = (&'a str, &'a [&'a str]);

/// A form that a module may have.
pub(crate) struct AcceptedForm {
    /// The form, with its modifiers decided.
    pub form: Match,
    /// Its number: the forms of a module are numbered as they come.
    pub number: usize,
    /// What it does that the checks prepare for.
    pub uses: Uses,
}

/// The instructions of one name.
pub(crate) struct Named {
    /// Its number: names are numbered as they come.
    pub number: usize,
    /// Their forms, or why there are none.
    pub forms: std::result::Result<Rc<[Rc<AcceptedForm>]>, Rc<String>>,
}

/// What a module may use, with what is known already of the instructions that it has.
pub(crate) struct Acceptance<'a> {
    pub version: PtxVersion,
    pub target: Target,
    /// The names so far.
    names: FxHashMap<Name<'a>, Named>,
    /// The number of the next form.
    next: usize,
}

impl<'a> Acceptance<'a> {
    /// For a module of this `.version` and `.target`.
    pub fn new(module: &ast::Module<'_>) -> Acceptance<'a> {
        Acceptance {
            version: module.head.version,
            target: module.head.target,
            names: FxHashMap::default(),
            next: 0,
        }
    }

    /// The instructions with this name.
    pub fn named(&mut self, name: Name<'a>) -> &Named {
        let (version, target) = (self.version, self.target);
        let number = self.names.len();
        self.names.entry(name).or_insert_with(|| Named {
            number,
            forms: forms(name, version, target, &mut self.next).map_err(Rc::new),
        })
    }
}

/// The forms with this name that a module may have.
fn forms(
    name: Name<'_>,
    version: PtxVersion,
    target: Target,
    next: &mut usize,
) -> std::result::Result<Rc<[Rc<AcceptedForm>]>, String> {
    let mut refusal: Option<String> = None;
    let found = matches(name.0, name.1).map_err(|refusal| refusal.to_string())?;
    let allowed: Rc<[Rc<AcceptedForm>]> = found
        .filter(|found| match found.check_target(version, target) {
            Ok(()) => true,
            Err(error) => {
                refusal.get_or_insert_with(|| error.to_string());
                false
            }
        })
        .map(|form| {
            let number = std::mem::replace(next, *next + 1);
            let mut uses = Uses {
                grid_order: name.0 == "griddepcontrol",
                ..Uses::default()
            };
            for found in form.effects() {
                uses.async_proxy |= found.effect.proxy == Proxy::Async;
                uses.mbarriers |= found.effect.object == ObjectUse::MbarrierInit;
            }
            Rc::new(AcceptedForm { form, number, uses })
        })
        .collect();
    match refusal {
        Some(refusal) if allowed.is_empty() => Err(refusal),
        _ => Ok(allowed),
    }
}
