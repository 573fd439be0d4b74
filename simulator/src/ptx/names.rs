//! The names of a module: what may be declared twice, and how, in ptxas's words.

use rustc_hash::FxHashMap;

use super::ast::{Function, Linkage, Module, Position, Variable};
use super::error::{Error, Result};

/// Something declared at module scope.
#[derive(Clone, Copy)]
enum Declared<'m, 'a> {
    Variable(&'m Variable<'a>),
    Function(&'m Function<'a>),
    /// `.alias NAME, TARGET;`
    Alias(&'a str, &'a str, Position),
}

impl<'a> Declared<'_, 'a> {
    fn name(self) -> &'a str {
        match self {
            Declared::Variable(variable) => variable.name,
            Declared::Function(function) => function.name,
            Declared::Alias(name, ..) => name,
        }
    }

    fn at(self) -> Position {
        match self {
            Declared::Variable(variable) => variable.at,
            Declared::Function(function) => function.at,
            Declared::Alias(_, _, at) => at,
        }
    }
}

/// Refuses declarations of one name that contradict each other, and aliases of what is no function.
pub fn check(module: &Module<'_>) -> Result<()> {
    let variables = module.variables.iter().map(Declared::Variable);
    let functions = module.functions.iter().map(Declared::Function);
    let aliases = module.aliases.iter();
    let aliases = aliases.map(|&(name, target, at)| Declared::Alias(name, target, at));
    let mut all: Vec<Declared<'_, '_>> = variables.chain(functions).chain(aliases).collect();
    all.sort_by_key(|declared| (declared.at().line, declared.at().column));
    let mut known: FxHashMap<&str, Declared<'_, '_>> = FxHashMap::default();
    let mut aliased: FxHashMap<&str, &str> = FxHashMap::default();
    for declared in all {
        let refusal = match declared {
            Declared::Alias(name, target, _) => match aliased.insert(name, target) {
                Some(target) => Some(format!(
                    "'{name}' is already aliased to '{target}' and cannot be redefined"
                )),
                None => alias(name, target, &known),
            },
            _ => known
                .get(declared.name())
                .and_then(|before| again(*before, declared)),
        };
        if let Some(message) = refusal.or_else(|| alone(declared)) {
            return Err(Error::new(declared.at(), message));
        }
        match (declared, known.get(declared.name())) {
            // What defines it counts.
            (Declared::Function(function), Some(_)) if function.body.is_none() => {}
            (Declared::Variable(variable), Some(_)) if variable.linkage == Linkage::Extern => {}
            (Declared::Alias(..), _) => {}
            _ => {
                known.insert(declared.name(), declared);
            }
        }
    }
    Ok(())
}

/// Why something may not be declared at all.
fn alone(declared: Declared<'_, '_>) -> Option<String> {
    match declared {
        Declared::Function(function)
            if function.linkage == Linkage::Extern && function.body.is_some() =>
        {
            Some(format!(
                "Function definition conflicts with '.extern' declaration for function '{}'",
                function.name
            ))
        }
        _ => None,
    }
}

/// Why a name may not be declared again like that.
fn again(before: Declared<'_, '_>, declared: Declared<'_, '_>) -> Option<String> {
    let name = declared.name();
    match (before, declared) {
        (Declared::Variable(before), Declared::Variable(variable)) => {
            let external = [before, variable].map(|v| v.linkage == Linkage::Extern);
            if external == [false; 2] {
                return Some(format!("Duplicate definition of variable '{name}'"));
            }
            if !is_alike(before, variable) {
                return Some(format!("Inconsistent redefinition of variable '{name}'"));
            }
            let is_private = external[0] && variable.linkage == Linkage::Private;
            is_private
                .then(|| format!("'.extern' variable '{name}' cannot be resolved by a '.static'"))
        }
        (Declared::Function(before), Declared::Function(function)) => {
            if before.entry != function.entry {
                return Some(format!(
                    "Inconsistent redefinition of '{name}' as entry and function"
                ));
            }
            if before.body.is_some() {
                return Some(format!("Duplicate definition of function '{name}'"));
            }
            let external = [before, function].map(|f| f.linkage == Linkage::Extern);
            let is_hidden = before.linkage == Linkage::Private;
            let is_shown = function.linkage != Linkage::Private;
            if external[0] != external[1]
                || is_hidden && is_shown
                || before.returns_never != function.returns_never
            {
                return Some(format!("Inconsistent redefinition of variable '{name}'"));
            }
            difference(before, function)
                .map(|what| format!("Inconsistent prototypes of '{name}', {what} differ"))
        }
        _ => Some(format!("Inconsistent redefinition of variable '{name}'")),
    }
}

fn alias<'a>(
    name: &'a str,
    target: &'a str,
    known: &FxHashMap<&str, Declared<'_, 'a>>,
) -> Option<String> {
    let mut found = [name, target].map(|name| (name, known.get(name)));
    if let Some((unknown, _)) = found.iter().find(|(_, found)| found.is_none()) {
        return Some(format!("Unknown symbol '{unknown}'"));
    }
    if name == target {
        return Some("Cannot alias a function to itself".to_owned());
    }
    found.reverse();
    for (name, declared) in found {
        match declared {
            Some(Declared::Variable(_)) => {
                return Some(format!("Cannot define alias to variable object '{name}'"));
            }
            Some(Declared::Function(function)) if function.entry => {
                return Some(format!("Cannot define alias to entry function '{name}'"));
            }
            _ => {}
        }
    }
    let [
        Some(Declared::Function(aliasee)),
        Some(Declared::Function(function)),
    ] = found.map(|(_, declared)| declared)
    else {
        return None;
    };
    if function.body.is_some() {
        return Some(format!(
            "Illegal redefinition of function '{name}' as alias"
        ));
    }
    if aliasee.linkage == Linkage::Weak {
        return Some(format!(
            "Function '{target}' with .weak scope cannot be aliased"
        ));
    }
    difference(function, aliasee).map(|what| {
        format!("Mismatch in prototype of alias '{name}' and aliasee '{target}'. {what} differ(s)")
    })
}

/// What of the parameters and results of two functions differs.
fn difference(one: &Function<'_>, other: &Function<'_>) -> Option<&'static str> {
    if (one.returns.len(), one.parameters.len()) != (other.returns.len(), other.parameters.len()) {
        return Some("number of parameters");
    }
    let of_one = one.returns.iter().chain(&one.parameters);
    let mut pairs = of_one.zip(other.returns.iter().chain(&other.parameters));
    pairs.find_map(|(one, other)| match () {
        () if one.space != other.space => Some("parameter state space"),
        () if !is_alike(one, other) => Some("parameter types"),
        () if one.align != other.align => Some("parameter alignment"),
        () => None,
    })
}

/// Whether two variables have the same type and size.
fn is_alike(one: &Variable<'_>, other: &Variable<'_>) -> bool {
    one.ty == other.ty && one.vector == other.vector && one.dimensions == other.dimensions
}
