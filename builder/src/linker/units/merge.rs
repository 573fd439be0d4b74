//! Puts the PTX of units together.
//!
//! What no kernel reaches is left out, as LLVM does in a module. Constants are named by their content and functions by their symbol, so what
//! several units have of their own and is the same becomes one; what has one name and is not the same gets names of its own.

use std::collections::{HashMap, HashSet};

use super::compile::Compiled;
use super::items::{Item, ItemKind, is_of_word};
use super::locations::PanicLocations;
use super::{TranslatedKernel, Unit};
use crate::linker::line_directives::{LineDirectives, Meaning};
use crate::linker::symbols::LOCATION;

/// An item, by the numbers of unit and item.
type Place = (usize, usize);

/// Puts units together; the host can name the variables `visible`. Gives the PTX, and what its kernels use.
pub(super) fn merge(
    units: &[(Unit, Compiled)],
    visible: &HashSet<String>,
) -> (String, Vec<TranslatedKernel>) {
    let graph = Graph::of(units, visible);
    let kept = graph.reached(graph.roots(visible));
    let mut module = Assembly::default();
    for (number, (unit, compiled)) in units.iter().enumerate() {
        module.add(unit, compiled, number, &kept, visible);
    }
    let mut kernels = Vec::new();
    for (number, (unit, compiled)) in units.iter().enumerate() {
        for (n, item) in compiled.ptx.items.iter().enumerate() {
            if item.kind == ItemKind::Entry {
                let reached = graph.reached(vec![(number, n)]);
                let names = reached.iter().map(|&place| &graph.item(place).symbol);
                kernels.push(TranslatedKernel {
                    name: item.symbol.clone(),
                    takes_launch: compiled.take_launch.contains(&item.symbol),
                    variables: names
                        .filter(|name| visible.contains(*name))
                        .cloned()
                        .collect(),
                    panics: unit.panics(compiled),
                });
            }
        }
    }
    (module.finish(), kernels)
}

/// Who names whom, over all units.
struct Graph<'a> {
    units: &'a [(Unit, Compiled)],
    /// What each unit defines.
    own: Vec<HashMap<&'a str, usize>>,
    /// What a unit defines for all.
    common: HashMap<&'a str, Place>,
    /// The functions that are called through pointers.
    by_address: Vec<Place>,
}

impl<'a> Graph<'a> {
    fn of(units: &'a [(Unit, Compiled)], visible: &HashSet<String>) -> Graph<'a> {
        let mut graph = Graph {
            units,
            own: Vec::new(),
            common: HashMap::new(),
            by_address: Vec::new(),
        };
        for (number, (_, compiled)) in units.iter().enumerate() {
            let mut own = HashMap::new();
            for (n, item) in compiled.ptx.items.iter().enumerate() {
                if item.kind != ItemKind::Declaration {
                    own.insert(item.symbol.as_str(), n);
                    if is_external(item) || visible.contains(&item.symbol) {
                        graph.common.insert(&item.symbol, (number, n));
                    }
                }
            }
            graph.own.push(own);
        }
        let mut by_address = HashSet::new();
        for (number, (_, compiled)) in units.iter().enumerate() {
            for reference in compiled.ptx.items.iter().flat_map(|item| &item.references) {
                if reference.by_address
                    && let Some(place) = graph.find(number, &reference.symbol)
                    && graph.item(place).kind == ItemKind::Function
                    && by_address.insert(place)
                {
                    graph.by_address.push(place);
                }
            }
        }
        graph
    }

    fn item(&self, (unit, item): Place) -> &'a Item {
        &self.units[unit].1.ptx.items[item]
    }

    /// What a symbol means in a unit, if the module defines it.
    fn find(&self, unit: usize, symbol: &str) -> Option<Place> {
        match self.own[unit].get(symbol) {
            Some(&item) => Some((unit, item)),
            None => self.common.get(symbol).copied(),
        }
    }

    /// The kernels, and the variables that the host can name.
    fn roots(&self, visible: &HashSet<String>) -> Vec<Place> {
        let mut roots = Vec::new();
        for (number, (_, compiled)) in self.units.iter().enumerate() {
            for (n, item) in compiled.ptx.items.iter().enumerate() {
                let is_variable = item.kind == ItemKind::Variable && visible.contains(&item.symbol);
                if item.kind == ItemKind::Entry || is_variable {
                    roots.push((number, n));
                }
            }
        }
        roots
    }

    /// What `roots` lead to, themselves included. A call through a pointer leads to every function whose address is used.
    fn reached(&self, roots: Vec<Place>) -> HashSet<Place> {
        let mut found: HashSet<Place> = roots.iter().copied().collect();
        let mut queue = roots;
        while let Some(place) = queue.pop() {
            let item = self.item(place);
            let named = item
                .references
                .iter()
                .filter_map(|reference| self.find(place.0, &reference.symbol));
            let pointers: &[Place] = if item.calls_pointers {
                &self.by_address
            } else {
                &[]
            };
            for next in named.chain(pointers.iter().copied()) {
                if found.insert(next) {
                    queue.push(next);
                }
            }
        }
        found
    }
}

/// Whether other units can name an item.
fn is_external(item: &Item) -> bool {
    item.text.starts_with(VISIBLE)
}

const VISIBLE: &str = ".visible ";

/// The module as it grows.
#[derive(Default)]
struct Assembly<'a> {
    head: &'a str,
    sections: Vec<&'a str>,
    /// What no unit defines.
    declarations: Vec<&'a Item>,
    prototypes: String,
    variables: String,
    locations: PanicLocations,
    /// Those of kernels' units, and then those that are common.
    functions: [Vec<(String, Meaning<'a>)>; 2],
    /// The texts of the items, by their names in the module.
    items: HashMap<String, String>,
}

impl<'a> Assembly<'a> {
    fn add(
        &mut self,
        unit: &'a Unit,
        compiled: &'a Compiled,
        number: usize,
        kept: &HashSet<Place>,
        visible: &HashSet<String>,
    ) {
        let parts = &compiled.ptx;
        self.head = &parts.head;
        for section in parts.sections.split_inclusive('\n') {
            if !self.sections.contains(&section) {
                self.sections.push(section);
            }
        }
        let declared = parts
            .items
            .iter()
            .filter(|item| item.kind == ItemKind::Declaration && item.text.starts_with(".extern"));
        self.declarations.extend(declared);
        let items: Vec<&Item> = (0..)
            .zip(&parts.items)
            .filter(|(n, item)| item.kind != ItemKind::Declaration && kept.contains(&(number, *n)))
            .map(|(_, item)| item)
            .collect();
        let names = self.names(unit, &items);
        let has_kernels = parts.items.iter().any(|item| item.kind == ItemKind::Entry);
        let functions = usize::from(!has_kernels);
        let meaning = Meaning {
            files: &parts.files,
            chains: compiled.chains.as_ref(),
            lines: unit.lines.as_deref(),
        };
        for item in items {
            let text = replaced(item, &names);
            let symbol = names.get(item.symbol.as_str()).unwrap_or(&item.symbol);
            if self.items.contains_key(symbol) {
                continue;
            }
            self.items.insert(symbol.clone(), text.clone().into_owned());
            let is_visible = item.kind == ItemKind::Entry || visible.contains(&item.symbol);
            let text = match text.strip_prefix(VISIBLE) {
                Some(private) if !is_visible => private,
                _ => &text,
            };
            match item.kind {
                ItemKind::Variable => self.variables.push_str(text),
                ItemKind::Entry => self.functions[functions].push((text.to_owned(), meaning)),
                ItemKind::Function => {
                    self.prototypes.push_str(&prototype(text, symbol));
                    self.functions[functions].push((text.to_owned(), meaning));
                }
                ItemKind::Declaration => {}
            }
        }
    }

    /// The names in the module of those of a unit's symbols that have others there: places of panics, and what has the name of something
    /// else.
    fn names(&mut self, unit: &Unit, items: &[&'a Item]) -> HashMap<&'a str, String> {
        let mut names = HashMap::new();
        for reference in items.iter().flat_map(|item| &item.references) {
            let location = reference
                .symbol
                .strip_prefix(LOCATION)
                .and_then(|number| unit.locations.get(number.parse::<usize>().ok()?));
            if let Some(location) = location
                && !names.contains_key(reference.symbol.as_str())
            {
                names.insert(reference.symbol.as_str(), self.locations.name(location));
            }
        }
        // A name that changes makes what has it another thing.
        loop {
            let differs = |item: &&&Item| {
                !names.contains_key(item.symbol.as_str())
                    && self.items.get(&item.symbol).is_some_and(|other| {
                        comparable(other) != comparable(&replaced(item, &names))
                    })
            };
            let Some(item) = items.iter().find(differs) else {
                return names;
            };
            let mut count = 1;
            let name = loop {
                let name = format!("{}__{count}", item.symbol);
                if !self.items.contains_key(&name) {
                    break name;
                }
                count += 1;
            };
            names.insert(&item.symbol, name);
        }
    }

    fn finish(mut self) -> String {
        let mut text = format!(
            "//\n// Generated by LLVM NVPTX Back-End\n//\n\n{}\n",
            self.head
        );
        let mut declared = HashSet::new();
        for item in self.declarations {
            let is_location = item.symbol.starts_with(LOCATION);
            if !is_location
                && !self.items.contains_key(&item.symbol)
                && declared.insert(&item.symbol)
            {
                text.push_str(&item.text);
            }
        }
        text.push_str(&self.prototypes);
        text.push_str(&self.locations.write());
        text.push_str(&self.variables);
        let mut functions = LineDirectives::default();
        for (function, meaning) in self.functions.iter().flatten() {
            functions.add(function, *meaning);
        }
        text.push_str(&functions.finish(&self.sections.concat()));
        text
    }
}

/// The declaration of a function, written as LLVM writes it.
fn prototype(text: &str, symbol: &str) -> String {
    let head = text.split("\n{\n").next().unwrap_or_default();
    let head = head.replacen(&format!("{symbol}("), &format!("{symbol}\n("), 1);
    let end = if head.ends_with(')') { "\n;\n" } else { ";\n" };
    head + end
}

/// An item's text with other names.
fn replaced<'t>(item: &'t Item, names: &HashMap<&str, String>) -> std::borrow::Cow<'t, str> {
    let is_named = names.contains_key(item.symbol.as_str())
        || item
            .references
            .iter()
            .any(|reference| names.contains_key(reference.symbol.as_str()));
    if !is_named {
        return item.text.as_str().into();
    }
    let mut text = String::with_capacity(item.text.len());
    let mut rest = item.text.as_str();
    while !rest.is_empty() {
        let end = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
        let (word, others) = rest.split_at(end);
        text.push_str(names.get(word).map_or(word, String::as_str));
        let end = others.find(is_of_word).unwrap_or(others.len());
        text.push_str(&others[..end]);
        rest = &others[end..];
    }
    text.into()
}

/// An item's text without what depends on the functions before it in its unit: the numbers of labels and of stacks, and locations.
fn comparable(text: &str) -> String {
    let mut short = String::with_capacity(text.len());
    for line in text.lines() {
        if line.starts_with("\t.loc\t") || line.starts_with("$L__tmp") {
            continue;
        }
        let mut rest = line;
        while let Some(at) = ["$L__BB", "$L__func_begin", "$L__func_end", "__local_depot"]
            .iter()
            .filter_map(|label| Some(rest.find(label)? + label.len()))
            .min()
        {
            short.push_str(&rest[..at]);
            rest = rest[at..].trim_start_matches(|c: char| c.is_ascii_digit());
        }
        short.push_str(rest);
        short.push('\n');
    }
    short
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::linker::units::items::Items;

    fn unit(name: &str, ptx: &str) -> (Unit, Compiled) {
        let unit = Unit {
            name: name.into(),
            text: Arc::default(),
            lines: None,
            locations: Vec::new(),
        };
        let compiled = Compiled {
            ptx: Items::parse(&format!(
                ".version 8.0\n.target sm_90\n.address_size 64\n{ptx}"
            )),
            chains: None,
            take_launch: Vec::new(),
            panics: Vec::new(),
        };
        (unit, compiled)
    }

    /// A kernel that calls its own `helper`, which does `what`.
    fn with_helper(name: &str, what: &str) -> (Unit, Compiled) {
        let ptx = format!(
            ".func helper()\n;\n.visible .entry {name}()\n{{\n\tcall.uni helper, ();\n\tret;\n}}\n\
             .func helper()\n{{\n$L__BB{}_1:\n\t{what};\n}}\n",
            name.len()
        );
        unit(name, &ptx)
    }

    #[test]
    fn what_is_the_same_becomes_one() {
        let units = [with_helper("a", "trap"), with_helper("long_name", "trap")];
        let (ptx, kernels) = merge(&units, &HashSet::new());
        assert_eq!(ptx.matches("\n.func helper()\n{").count(), 1, "{ptx}");
        assert_eq!(ptx.matches("call.uni helper,").count(), 2, "{ptx}");
        assert_eq!(kernels.len(), 2);
    }

    #[test]
    fn what_differs_gets_a_name_of_its_own() {
        let units = [with_helper("a", "trap"), with_helper("b", "exit")];
        let (ptx, _) = merge(&units, &HashSet::new());
        for line in [
            "\n.func helper()\n{",
            "\n.func helper__1()\n{",
            "\tcall.uni helper, ();",
            "\tcall.uni helper__1, ();",
            "\n.func helper__1\n()\n;\n",
        ] {
            assert_eq!(ptx.matches(line).count(), 1, "{line}: {ptx}");
        }
    }

    #[test]
    fn only_what_is_used_is_left_and_who_uses_it_is_known() {
        let common = unit(
            "common",
            ".visible .global .align 4 .u32 SEEN = 1;\n.visible .global .align 4 .u32 OWN;\n\
             .visible .global .align 4 .u32 UNUSED;\n\
             .visible .func called()\n{\n\tmov.b64 %rd1, SEEN;\n\tmov.b64 %rd2, OWN;\n}\n\
             .visible .func uncalled()\n{\n\tret;\n}\n",
        );
        let kernel = unit(
            "k",
            ".extern .func called()\n;\n.visible .entry k()\n{\n\tcall.uni called, ();\n}\n\
             .visible .entry quiet()\n{\n\tret;\n}\n",
        );
        let visible = HashSet::from(["SEEN".to_owned()]);
        let (ptx, kernels) = merge(&[common, kernel], &visible);
        assert!(
            ptx.contains("\n.visible .global .align 4 .u32 SEEN"),
            "{ptx}"
        );
        assert!(ptx.contains("\n.global .align 4 .u32 OWN"), "{ptx}");
        assert!(ptx.contains("\n.func called()\n{"), "{ptx}");
        for gone in ["UNUSED", "uncalled", ".extern"] {
            assert!(!ptx.contains(gone), "{ptx}");
        }
        let uses: Vec<_> = kernels
            .iter()
            .map(|kernel| (kernel.name.as_str(), kernel.variables.len()))
            .collect();
        assert_eq!(uses, [("k", 1), ("quiet", 0)]);
    }
}
