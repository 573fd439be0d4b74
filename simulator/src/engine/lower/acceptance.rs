//! The instructions that a module may have: those of its `.version` and `.target`.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use warpsmith_isa::{PtxVersion, Target, matches};

use super::accepted::AcceptedForm;
use crate::ptx::ast;

/// An instruction's opcode and modifiers.
type Name<'a> = (&'a str, &'a [&'a str]);

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
}

impl<'a> Acceptance<'a> {
    /// For a module of this `.version` and `.target`.
    pub fn new(module: &ast::Module<'_>) -> Acceptance<'a> {
        let part = |number: u32| u8::try_from(number).unwrap_or(u8::MAX);
        Acceptance {
            version: PtxVersion::new(part(module.version.0), part(module.version.1)),
            // What is newer than the tables may have all that they list.
            target: Target::parse(module.target).unwrap_or(Target::NEWEST),
            names: FxHashMap::default(),
        }
    }

    /// The instructions with this name.
    pub fn named(&mut self, name: Name<'a>) -> &Named {
        let (version, target) = (self.version, self.target);
        let number = self.names.len();
        self.names.entry(name).or_insert_with(|| Named {
            number,
            forms: forms(name, version, target).map_err(Rc::new),
        })
    }
}

/// The forms with this name that a module may have.
fn forms(
    name: Name<'_>,
    version: PtxVersion,
    target: Target,
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
        .map(|found| Rc::new(AcceptedForm::new(found)))
        .collect();
    match refusal {
        Some(refusal) if allowed.is_empty() => Err(refusal),
        _ => Ok(allowed),
    }
}
