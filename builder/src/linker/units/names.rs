//! The names of a unit's symbols. What other units have is in none of them: constants without an address of their own are named by their
//! content, shared objects are numbered as they come, and places of panics, too.

use std::collections::{HashMap, HashSet, VecDeque};

use super::locations::{self, PanicLocation, private_constant};
use super::partition::Partition;
use super::text::{Kind, ModuleText, Piece, bare};
use crate::fingerprint;

/// Names that are the same in every part.
#[derive(Default)]
pub(super) struct Names {
    /// Constants without an address of their own, by their content.
    constants: HashMap<usize, Option<String>>,
    locations: HashMap<usize, PanicLocation>,
}

impl Names {
    /// Those of a module.
    pub fn of(module: &ModuleText<'_>) -> Names {
        let mut names = Names::default();
        for number in 0..module.definitions.len() {
            if let Some(location) = PanicLocation::of(module, number) {
                names.locations.insert(number, location);
            }
            names.add_constant(module, number);
        }
        names
    }

    /// The name by content of a constant, `None` for other definitions.
    fn add_constant(&mut self, module: &ModuleText<'_>, number: usize) -> Option<String> {
        if let Some(name) = self.constants.get(&number) {
            return name.clone();
        }
        // A constant that leads to itself keeps its name there.
        self.constants.insert(number, None);
        let definition = &module.definitions[number];
        let name = private_constant(definition).map(|_| {
            let mut content = String::new();
            for piece in &definition.pieces {
                match piece {
                    Piece::Symbol { definition, .. } if *definition == number => {}
                    Piece::Symbol { definition, .. } => {
                        match self.add_constant(module, *definition) {
                            Some(name) => content.push_str(&name),
                            None => content.push_str(module.definitions[*definition].symbol),
                        }
                    }
                    Piece::Text(text) => content.push_str(text),
                    Piece::Attributes(_) | Piece::Node(_) => {}
                }
            }
            format!("$constant_{}", fingerprint::short_hash(&content))
        });
        self.constants.insert(number, name.clone());
        name
    }
}

/// What the names of the objects that `shared!` makes begin with.
const SHARED: &str = "shared_";

/// The symbols of one unit as they are named.
pub(super) struct Symbols<'m, 'a> {
    module: &'m ModuleText<'a>,
    partition: &'m Partition,
    names: &'m Names,
    /// The definitions that are named and not written yet.
    queue: VecDeque<usize>,
    /// The names of those that are written or in the queue.
    symbols: Vec<Option<String>>,
    in_use: HashSet<String>,
    /// How many shared objects without a name there are.
    shared: u32,
    /// The places of panics, in the order of their names.
    pub locations: Vec<PanicLocation>,
}

impl<'m, 'a> Symbols<'m, 'a> {
    /// Those of a unit with nothing in it.
    pub fn new(module: &'m ModuleText<'a>, partition: &'m Partition, names: &'m Names) -> Self {
        Symbols {
            module,
            partition,
            names,
            queue: VecDeque::new(),
            symbols: vec![None; module.definitions.len()],
            in_use: HashSet::new(),
            shared: 0,
            locations: Vec::new(),
        }
    }

    /// The name of a definition, which will be the [next](Symbols::take_next) in its turn.
    pub fn refer(&mut self, number: usize) -> &str {
        if self.symbols[number].is_none() {
            let name = self.new_name(number);
            // Equal constants are one.
            if self.in_use.insert(name.clone()) {
                self.queue.push_back(number);
            }
            self.symbols[number] = Some(name);
        }
        self.symbols[number].as_deref().unwrap_or_default()
    }

    /// The next definition that is named and was not given yet.
    pub fn take_next(&mut self) -> Option<usize> {
        self.queue.pop_front()
    }

    fn new_name(&mut self, number: usize) -> String {
        let definition = &self.module.definitions[number];
        if self.partition.common.contains(&number) {
            return definition.symbol.to_owned();
        }
        if let Some(location) = self.names.locations.get(&number) {
            let name = format!("@{}", locations::name(self.locations.len()));
            self.locations.push(location.clone());
            return name;
        }
        if let Some(Some(name)) = self.names.constants.get(&number) {
            return format!("@{name}");
        }
        let is_shared_object = definition.kind == Kind::Variable
            && bare(definition.symbol).starts_with(SHARED)
            && definition.text[definition.symbol.len()..].starts_with(" = internal addrspace(3) ");
        if is_shared_object {
            loop {
                let name = format!("@{SHARED}{}", self.shared);
                self.shared += 1;
                // The name may be that of a variable of the user's, which all parts have in common.
                let is_taken = self
                    .module
                    .number(&name)
                    .is_some_and(|number| self.partition.common.contains(&number));
                if !is_taken {
                    return name;
                }
            }
        }
        definition.symbol.to_owned()
    }
}
