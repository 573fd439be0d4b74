//! Panics at places that are known, by number.
//!
//! A panic whose location is a constant, and whose message is a literal or has at most two values of the thread's in it, needs no text on the
//! device: it becomes a call of the device library's `__warpsmith_panic_at`, which is given the number of the place; what is at
//! that place stands in the module's signature. The numbers are those of the unit, so that a kernel is not compiled anew because of
//! another one. `panic_tails` makes one of all of a function's calls.

use serde::{Deserialize, Serialize};
use warpsmith_signature::{COMMON_PANICS, Form, placeholder};

use super::panic_messages::{self, Message};
use super::panics::{self, BOUNDS_CHECK, LITERAL, PANIC_AT, SLICE_INDEX};
use super::symbols::LOCATION;
use crate::llvm::{Attribute, Module, Value, ValueKind, opcode};

/// The device library's panic at a range that is wrong in one of three ways.
const PANIC_AT_RANGE: &str = "__warpsmith_panic_at_range";

/// Both: they are needed before anything calls them.
pub(super) const HANDLERS: [&str; 2] = [PANIC_AT, PANIC_AT_RANGE];

/// The device library's panics that become panics at places.
const REPLACED: [&str; 3] = [BOUNDS_CHECK, SLICE_INDEX, LITERAL];

/// Whether a function is one of the device library's panics, which record what happened and do not come back.
pub(super) fn is_panic(function: Value<'_>) -> bool {
    let name = function.name();
    let mut panics = HANDLERS.iter().chain(&REPLACED);
    panics.any(|panic| *panic == name)
}

/// A place that a unit knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Site {
    /// The number of its location among the unit's.
    pub location: usize,
    pub message: String,
    pub has_values: bool,
}

/// The places of a unit, by their numbers.
pub(super) struct Sites {
    first: u32,
    all: Vec<Site>,
}

impl Sites {
    /// None yet. Functions that kernels have in common have numbers apart from those of a kernel's own.
    pub(super) fn of(module: &Module<'_>) -> Sites {
        let mut functions = module.functions().into_iter();
        let is_of_kernel = functions.any(super::is_kernel);
        Sites {
            first: if is_of_kernel { 0 } else { COMMON_PANICS },
            all: Vec::new(),
        }
    }

    pub(super) fn into_all(self) -> Vec<Site> {
        self.all
    }

    /// The number of the first of the places at which these messages belong to a location, a number of the type of `like`; `None` if the
    /// location is not known. Where panics were made one, it is one of several.
    fn number_at<'c>(
        &mut self,
        location: Value<'c>,
        messages: &[(String, bool)],
        like: Value<'c>,
    ) -> Option<Value<'c>> {
        if let Some(location) = location_of(location) {
            let number = self.number(location, messages);
            return Some(Value::integer_like(number.into(), like));
        }
        let is_phi = location.kind() == ValueKind::Instruction && location.opcode() == opcode::PHI;
        let incoming = is_phi.then(|| location.incoming())?;
        let known: Option<Vec<_>> = incoming
            .iter()
            .map(|(value, block)| Some((location_of(*value)?, *block)))
            .collect();
        let known = known?;
        let number = location.build_phi_before(like);
        for (location, block) in known {
            let of_way = self.number(location, messages);
            number.add_incoming(Value::integer_like(of_way.into(), like), block);
        }
        Some(number)
    }

    fn number(&mut self, location: usize, messages: &[(String, bool)]) -> u32 {
        let sites = messages.iter().map(|(message, has_values)| Site {
            location,
            message: message.clone(),
            has_values: *has_values,
        });
        let sites: Vec<Site> = sites.collect();
        let known = self
            .all
            .windows(sites.len())
            .position(|window| window == sites);
        let index = known.unwrap_or_else(|| {
            let index = self.all.len();
            self.all.extend(sites);
            index
        });
        self.first + index as u32
    }

    /// Replaces the formatted panics of these functions whose places and messages are known. What only formats is not used any more then.
    pub(super) fn replace_formatted<'c>(
        &mut self,
        module: &Module<'c>,
        is_meant: impl Fn(Value<'c>) -> bool,
    ) {
        let Some(panic_at) = module.function(PANIC_AT).filter(|f| !f.is_declaration()) else {
            return;
        };
        for (function, formatting) in panic_messages::functions(module) {
            for call in function.calls() {
                if call.function().is_some_and(&is_meant)
                    && let Some((message, location)) = Message::of(module, call, &formatting)
                    && self.message(call, &message, location, panic_at).is_some()
                {
                    call.erase();
                    message.forget_functions();
                }
            }
        }
    }

    /// Replaces the panics of the device library's whose places are known.
    pub(super) fn replace(&mut self, module: &Module<'_>) {
        let handler = |name| {
            let function = module.function(name);
            function.filter(|function| !function.is_declaration())
        };
        let (Some(panic_at), Some(panic_at_range)) = (handler(PANIC_AT), handler(PANIC_AT_RANGE))
        else {
            return;
        };
        for name in REPLACED {
            let Some(function) = module.function(name) else {
                continue;
            };
            for call in function.calls() {
                let replaced = match name {
                    SLICE_INDEX => self.range(call, panic_at_range),
                    _ => self.two_numbers(name, call, panic_at),
                };
                if replaced.is_some() {
                    call.erase();
                }
            }
        }
    }

    /// Puts a panic with a message of several parts before a call of another one; `None` if its place is not known.
    fn message<'c>(
        &mut self,
        call: Value<'c>,
        message: &Message<'c>,
        location: Value<'c>,
        to: Value<'c>,
    ) -> Option<()> {
        let number = self.number_at(location, &[message.text()], to.parameter(0)?)?;
        let nothing = Value::undefined(to.parameter(1)?.ty(), call);
        let [first, second] = message.load_before(call, nothing);
        call.build_call_before(to, &[number, first, second]);
        Some(())
    }

    /// Puts a panic at a place before a call of another one; `None` if its place is not known.
    fn two_numbers<'c>(&mut self, name: &str, call: Value<'c>, to: Value<'c>) -> Option<()> {
        let (message, numbers) = if name == LITERAL {
            let nothing = Value::undefined(to.parameter(1)?.ty(), call);
            let message = panics::text(call.operand(0)?, call.operand(1)?)?;
            ((message, false), [nothing, nothing])
        } else {
            let [len, index] = unsigned();
            let message = format!("index out of bounds: the len is {len} but the index is {index}");
            ((message, true), [call.operand(1)?, call.operand(0)?])
        };
        let number = self.number_at(call.operand(2)?, &[message], to.parameter(0)?)?;
        call.build_call_before(to, &[number, numbers[0], numbers[1]]);
        Some(())
    }

    fn range<'c>(&mut self, call: Value<'c>, to: Value<'c>) -> Option<()> {
        let [first, second] = unsigned();
        let messages = [
            format!("range start index {first} out of range for slice of length {second}"),
            format!("range end index {first} out of range for slice of length {second}"),
            format!("slice index starts at {first} but ends at {second}"),
        ];
        let messages = messages.map(|message| (message, true));
        let number = self.number_at(call.operand(3)?, &messages, to.parameter(0)?)?;
        let [start, end, len] = [call.operand(0)?, call.operand(1)?, call.operand(2)?];
        call.build_call_before(to, &[number, start, end, len]);
        Some(())
    }
}

/// The number of a location among the unit's.
fn location_of(value: Value<'_>) -> Option<usize> {
    let is_variable = value.kind() == ValueKind::Global;
    let name = is_variable.then(|| value.name())?;
    name.strip_prefix(LOCATION)?.parse().ok()
}

/// What stands for two unsigned numbers.
fn unsigned() -> [String; 2] {
    [0, 1].map(|index| placeholder(index, Form::Unsigned))
}

/// What keeps the panic a function, and a short one, until its calls are made one.
pub(super) const HELD: [&str; 4] = ["noinline", "cold", "optsize", "minsize"];

/// Lets the calls stay calls until they are made one.
pub(super) fn hold(module: &Module<'_>) {
    if let Some(function) = module.function(PANIC_AT) {
        for flag in HELD {
            function.add_flag(Attribute::Function, flag);
        }
    }
}

/// The functions that have panics which may become panics at places, each with what it needs then.
pub(super) fn needs(module: &Module<'_>) -> impl Iterator<Item = (String, String)> {
    let has_handlers = module.function(PANIC_AT).is_some();
    let replaced = REPLACED.iter().filter_map(|name| module.function(name));
    let formatting = panic_messages::functions(module).into_iter();
    let replaced = replaced.chain(formatting.map(|(function, _)| function));
    let calls = replaced.flat_map(Value::users);
    let calls = calls.filter(|user| user.kind() == ValueKind::Instruction);
    let users = calls.filter_map(|call| Some(call.function()?.name()));
    let of_literals = panics::needs(module).map(|(user, _)| user);
    users
        .chain(of_literals)
        .filter(move |_| has_handlers)
        .flat_map(|user| HANDLERS.map(|handler| (user.clone(), handler.to_owned())))
}
