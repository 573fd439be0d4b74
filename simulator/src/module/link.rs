//! JIT linking: PTX modules are collected, and become one image that a context loads.

use std::sync::{Arc, Mutex};

use super::load::{self, LoadFailure};
use crate::context::Context;
use crate::engine;
use crate::error::code;
use crate::ptx;
use crate::ptx::link::{Definitions, Unit};
use crate::registry::{ContextBound, Registry};
use crate::sync::lock;

/// All link states.
pub(crate) static LINKS: Registry<LinkState> = Registry::new();

/// What has been added so far, and what it became.
pub(crate) struct LinkState {
    pub(crate) handle: usize,
    context: u64,
    device: usize,
    stage: Mutex<Stage>,
    /// Tells the program what is wrong.
    pub(crate) report: Box<dyn Fn(&str) + Send + Sync>,
}

/// How far a link has come.
enum Stage {
    Adding {
        units: Vec<Unit>,
        /// Those of the units.
        definitions: Definitions,
    },
    /// The image, with the NUL behind it, to whose bytes the program has the address.
    Complete { _image: Box<[u8]> },
}

impl ContextBound for LinkState {
    fn context(&self) -> u64 {
        self.context
    }
}

/// The image of a link, which is valid as long as its state.
pub(crate) struct LinkedImage {
    pub(crate) address: *const u8,
    pub(crate) bytes: usize,
}

impl LinkState {
    /// A link to which nothing has been added, and who is told of its errors.
    pub(crate) fn create(
        context: &Context,
        report: Box<dyn Fn(&str) + Send + Sync>,
    ) -> Arc<LinkState> {
        context.add_to(&LINKS, |handle| LinkState {
            handle,
            context: context.id(),
            device: context.device,
            stage: Mutex::new(Stage::Adding {
                units: Vec::new(),
                definitions: Definitions::default(),
            }),
            report,
        })
    }

    /// Adds a module, whose head and syntax are looked at.
    ///
    /// # Errors
    ///
    /// It is no PTX for this device, it defines a name again (then nothing can be linked any more), or the link is complete.
    pub(crate) fn add(&self, name: &str, text: String) -> Result<(), LoadFailure> {
        load::refuse_image(&text)?;
        let module =
            ptx::parse(&text).map_err(|error| load::compiler_error(name, &error.into()))?;
        load::refuse_target(module.head.target, self.device)?;
        match &mut *lock(&self.stage) {
            Stage::Adding { units, definitions } => {
                let unit = Unit {
                    name: name.to_owned(),
                    text,
                };
                let added = definitions.add(&unit);
                units.push(unit);
                added.map_err(unlinkable)?;
            }
            Stage::Complete { .. } => {
                return Err(LoadFailure {
                    code: code::INVALID_VALUE,
                    text: "the link is complete: nothing can be added".into(),
                });
            }
        }
        Ok(())
    }

    /// Links what was added, once.
    ///
    /// # Errors
    ///
    /// The link is complete; a name is used and defined nowhere, or defined twice; or the compiler refuses an instruction.
    pub(crate) fn complete(&self) -> Result<LinkedImage, LoadFailure> {
        let mut stage = lock(&self.stage);
        let Stage::Adding { units, .. } = &*stage else {
            return Err(LoadFailure {
                code: code::INVALID_HANDLE,
                text: "the link is complete: it has given its image".into(),
            });
        };
        let image = image(units)?;
        let linked = LinkedImage {
            address: image.as_ptr(),
            bytes: image.len(),
        };
        *stage = Stage::Complete { _image: image };
        Ok(linked)
    }
}

/// What the linker says, with the code of an H200's driver.
fn unlinkable(text: String) -> LoadFailure {
    LoadFailure {
        code: code::INVALID_SOURCE,
        text: format!("error   : {text}"),
    }
}

fn image(units: &[Unit]) -> Result<Box<[u8]>, LoadFailure> {
    let linked = ptx::link::link(units, &engine::is_runtime_function).map_err(unlinkable)?;
    // What the compiler says of instructions: variables are placed when the image is loaded.
    let mut address = 1_u64 << 20;
    let compiled = engine::Module::load(&linked.text, &mut |variable| {
        let place = address.next_multiple_of(variable.align.max(1));
        address = place + variable.size;
        Some(place)
    });
    if let Err(mut error) = compiled {
        let unit = linked.origin(error.line);
        let name = unit.map_or("linked", |(unit, _)| &units[unit].name);
        error.line = unit.map_or(error.line, |(_, line)| line);
        return Err(load::compiler_error(name, &error));
    }
    let mut image = linked.text.into_bytes();
    image.push(0);
    Ok(image.into_boxed_slice())
}
