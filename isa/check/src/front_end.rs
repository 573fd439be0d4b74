//! The simulator's front end as a judge of single instructions and of whole modules.

use warpsmith_isa::sample::module;
use warpsmith_simulator::engine::Module;

use super::cells::Cell;
use super::parallel;

/// Why the front end refuses each statement, in a module of this version and architecture; of those that it takes, nothing.
pub fn refusals((version, target): Cell, statements: &[&str]) -> Vec<Option<String>> {
    parallel::map(statements.len(), |number| {
        refusal(&module(version, target, &[statements[number]]).0)
    })
}

/// Why the front end refuses a module. That the simulator does not execute something is no refusal.
pub fn refusal(text: &str) -> Option<String> {
    let error = Module::load(text, &mut |_| Some(0x1000)).err()?;
    (!error.message.contains("not supported by the simulator")).then_some(error.message)
}

/// Whether the front end's words are those of a sentence of ptxas's: it may add what it knows more.
pub fn says(refusal: &str, sentence: &str) -> bool {
    let rest = refusal.strip_prefix(sentence);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(": "))
}
