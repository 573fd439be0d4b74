//! The instructions that a module may have: those of its `.version` and `.target`.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use warpsmith_isa::{PtxVersion, Target, matches};

use super::accepted::AcceptedForm;
use crate::ptx::ast;

/// An instruction's opcode and modifiers.
type Name<'a> = (&'a str, &'a [&'a str]);

/// What a module may use, with what is known already of the instructions that it has.
pub(crate) struct Acceptance<'a> {
    pub version: PtxVersion,
    pub target: Target,
    /// The forms of each name so far, or why there are none.
    forms: FxHashMap<Name<'a>, std::result::Result<Vec<Rc<AcceptedForm>>, String>>,
}

impl<'a> Acceptance<'a> {
    /// For a module of this `.version` and `.target`.
    pub fn new(module: &ast::Module<'_>) -> Acceptance<'a> {
        let part = |number: u32| u8::try_from(number).unwrap_or(u8::MAX);
        Acceptance {
            version: PtxVersion::new(part(module.version.0), part(module.version.1)),
            // What is newer than the tables may have all that they list.
            target: Target::parse(module.target).unwrap_or(Target::NEWEST),
            forms: FxHashMap::default(),
        }
    }

    /// The forms with this name, or why there are none.
    pub fn forms(&mut self, name: Name<'a>) -> std::result::Result<&[Rc<AcceptedForm>], &str> {
        let (version, target) = (self.version, self.target);
        let forms = self.forms.entry(name).or_insert_with(|| {
            let found = matches(name.0, name.1).map_err(|refusal| refusal.to_string())?;
            let mut refusal = None;
            let allowed: Vec<_> = found
                .filter(|found| match found.check_target(version, target) {
                    Ok(()) => true,
                    Err(error) => {
                        refusal = refusal.or(Some(error));
                        false
                    }
                })
                .map(|found| Rc::new(AcceptedForm::new(found)))
                .collect();
            match refusal {
                Some(refusal) if allowed.is_empty() => Err(refusal.to_string()),
                _ => Ok(allowed),
            }
        });
        forms.as_deref().map_err(String::as_str)
    }
}
