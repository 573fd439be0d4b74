//! Writes a part of a module as text that depends on nothing but the part.
//!
//! What another edit changes is not in it: groups of attributes and nodes of metadata are numbered as they come, shared objects, too;
//! constants without an address of their own are named by their content; lines of the source are numbers of a list, and places of panics
//! are declared only. So equal parts have equal texts, whatever stands around them in module and source.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt::Write;

use super::locations::{self, PanicLocation, private_constant};
use super::partition::{Part, Partition};
use super::text::{Kind, ModuleText, Piece, bare, lex, line_at};
use crate::fingerprint;
use crate::linker::float::FloatOptions;
use crate::linker::{float, launch_parameters};

/// A part's text, and what it leaves out.
pub(super) struct Canonical {
    pub text: String,
    /// Line `n` of the text is this one, at `n - 1`.
    pub lines: Vec<u32>,
    /// The locations of panics, in the order of their names.
    pub locations: Vec<PanicLocation>,
}

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

/// Writes `part`. `float` has the floating-point switches of the common functions; a kernel has its own in the text.
pub(super) fn write(
    module: &ModuleText<'_>,
    partition: &Partition,
    part: &Part,
    names: &Names,
    float: &HashMap<usize, FloatOptions>,
) -> Option<Canonical> {
    let mut writer = Writer {
        module,
        partition,
        part,
        names,
        float,
        text: String::new(),
        queue: VecDeque::new(),
        symbols: HashMap::new(),
        names_in_use: HashSet::new(),
        shared: 0,
        locations: Vec::new(),
        attributes: HashMap::new(),
        groups: String::new(),
        nodes: vec![None; module.nodes.len()],
        next_node: 0,
        node_queue: VecDeque::new(),
        line_numbers: HashMap::new(),
        lines: Vec::new(),
        files: HashMap::new(),
    };
    writer.text.extend(module.head.iter().copied());
    for &root in &part.roots {
        writer.queue(root);
    }
    while let Some(definition) = writer.queue.pop_front() {
        writer.definition(definition)?;
    }
    writer.metadata()?;
    let mut text = writer.text;
    text.push_str(&writer.groups);
    Some(Canonical {
        text,
        lines: writer.lines,
        locations: writer.locations,
    })
}

struct Writer<'m, 'a> {
    module: &'m ModuleText<'a>,
    partition: &'m Partition,
    part: &'m Part,
    names: &'m Names,
    float: &'m HashMap<usize, FloatOptions>,
    text: String,
    /// The definitions that are named and not written yet.
    queue: VecDeque<usize>,
    /// The names of those that are written or in the queue.
    symbols: HashMap<usize, String>,
    names_in_use: HashSet<String>,
    /// How many shared objects without a name there are.
    shared: u32,
    locations: Vec<PanicLocation>,
    /// The groups of attributes: those of a definition that is common have more.
    attributes: HashMap<(u32, String), usize>,
    groups: String,
    /// The new numbers of nodes.
    nodes: Vec<Option<u32>>,
    next_node: u32,
    node_queue: VecDeque<u32>,
    /// Numbers of lines, by file and line.
    line_numbers: HashMap<(Option<u32>, u32), u32>,
    lines: Vec<u32>,
    /// The files of scopes.
    files: HashMap<u32, Option<u32>>,
}

/// What the names of the objects that `shared!` makes begin with.
const SHARED: &str = "shared_";

impl<'a> Writer<'_, 'a> {
    /// Writes the name of a definition, which will be written in turn.
    fn symbol(&mut self, number: usize) {
        if let Some(name) = self.symbols.get(&number) {
            self.text.push_str(name);
            return;
        }
        self.queue(number);
        self.text.push_str(&self.symbols[&number]);
    }

    /// Sees to it that a definition is written.
    fn queue(&mut self, number: usize) {
        if !self.symbols.contains_key(&number) {
            let name = self.new_name(number);
            // Equal constants are one.
            if self.names_in_use.insert(name.clone()) {
                self.queue.push_back(number);
            }
            self.symbols.insert(number, name);
        }
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

    fn definition(&mut self, number: usize) -> Option<()> {
        let module = self.module;
        let definition = &module.definitions[number];
        let is_root = self.part.roots.contains(&number);
        let is_common = self.partition.common.contains(&number);
        let name = self.symbols[&number].clone();
        if name.starts_with(&format!("@{}", locations::PREFIX)) {
            let _ = writeln!(
                self.text,
                "{name} = external unnamed_addr constant {}, align 8",
                locations::TYPE
            );
            return Some(());
        }
        for &needed in &definition.needs {
            self.queue(needed);
        }
        match definition.kind {
            Kind::Kernel | Kind::Function => {
                let head = line_at(definition.text, 0);
                let rest = head.strip_prefix("define ")?;
                let rest = ["internal ", "private "]
                    .iter()
                    .find_map(|linkage| rest.strip_prefix(linkage))
                    .unwrap_or(rest);
                let skipped = head.len() - rest.len();
                if is_common && !is_root {
                    self.text.push_str("declare ");
                    // Without its metadata, which stands behind everything else.
                    let end = rest.find(" !").or_else(|| rest.rfind(" {"))?;
                    self.pieces(number, skipped, skipped + end)?;
                    self.text.push('\n');
                } else {
                    self.text.push_str(if is_root {
                        "define "
                    } else {
                        "define internal "
                    });
                    self.pieces(number, skipped, definition.text.len())?;
                }
            }
            Kind::Variable => {
                let assignment = definition.symbol.len();
                let rest = definition.text[assignment..].strip_prefix(" = ")?;
                let rest = rest.strip_prefix("internal ").unwrap_or(rest);
                let skipped = definition.text.len() - rest.len();
                if is_common && !is_root {
                    let declaration = declaration_of_variable(rest)?;
                    let _ = writeln!(self.text, "{name} = external {declaration}");
                } else if is_common {
                    let _ = write!(self.text, "{name} = ");
                    self.pieces(number, skipped, definition.text.len())?;
                } else {
                    let _ = write!(self.text, "{name} = ");
                    self.pieces(number, assignment + " = ".len(), definition.text.len())?;
                }
            }
            Kind::Declaration => self.pieces(number, 0, definition.text.len())?,
        }
        Some(())
    }

    /// Writes what of a definition's text is between two places.
    fn pieces(&mut self, number: usize, start: usize, end: usize) -> Option<()> {
        let module = self.module;
        let definition = &module.definitions[number];
        let base = definition.text.as_ptr() as usize;
        let is_function = !matches!(definition.kind, Kind::Variable);
        let mut is_head = is_function;
        let mut at = 0;
        for piece in &definition.pieces {
            if at >= end {
                break;
            }
            match piece {
                Piece::Text(text) => {
                    let from = text.as_ptr() as usize - base;
                    at = from + text.len();
                    let (from, to) = (from.max(start), at.min(end));
                    if from < to {
                        let text = &definition.text[from..to];
                        is_head = is_head && !text.contains('\n');
                        self.text.push_str(text);
                    }
                }
                Piece::Symbol { definition, .. } => {
                    let symbol = module.definitions[*definition].symbol;
                    if at + symbol.len() > start {
                        self.symbol(*definition);
                    }
                    at += symbol.len();
                }
                Piece::Attributes(group) => {
                    let more = if is_head {
                        self.marks(number)
                    } else {
                        String::new()
                    };
                    self.attributes(*group, more);
                }
                Piece::Node(node) => self.node(*node)?,
            }
        }
        Some(())
    }

    /// The attributes that tell a part what has been decided for the whole module.
    fn marks(&self, number: usize) -> String {
        let mut marks = String::new();
        if self.partition.takes_launch.contains(&number) {
            let _ = write!(marks, " \"{}\"", launch_parameters::MARK);
        }
        if let Some(options) = self.float.get(&number) {
            let _ = write!(marks, " \"{}\"=\"{}\"", float::MARK, options.to_text());
        }
        marks
    }

    fn attributes(&mut self, group: u32, more: String) {
        let next = self.attributes.len();
        let content = self
            .module
            .attributes
            .get(&group)
            .copied()
            .unwrap_or_default();
        let number = *self
            .attributes
            .entry((group, more))
            .or_insert_with_key(|(_, more)| {
                let _ = writeln!(self.groups, "attributes #{next} = {{ {content}{more} }}");
                next
            });
        let _ = write!(self.text, "#{number}");
    }

    /// Writes the number of a node, which will be written in turn.
    fn node(&mut self, node: u32) -> Option<()> {
        let node = self.only_compile_unit(node);
        let place = self.nodes.get_mut(node as usize)?;
        let number = *place.get_or_insert_with(|| {
            self.node_queue.push_back(node);
            self.next_node += 1;
            self.next_node - 1
        });
        self.text.push('!');
        push_number(&mut self.text, number);
        Some(())
    }

    /// All parts of the module's debug information count as of one compilation: it is of no consequence which one.
    fn only_compile_unit(&self, node: u32) -> u32 {
        let units = &self.module.compile_units;
        match (units.first(), units.last()) {
            (Some(&first), Some(&last)) if node <= last && units.contains(&node) => first,
            _ => node,
        }
    }

    fn metadata(&mut self) -> Option<()> {
        let module = self.module;
        if let Some(&first) = module.compile_units.first() {
            self.text.push_str("!llvm.dbg.cu = !{");
            self.node(first)?;
            self.text.push_str("}\n");
        }
        self.text.push_str("!llvm.module.flags = !{");
        for (n, &flag) in module.flags.iter().enumerate() {
            self.text.push_str(if n == 0 { "" } else { ", " });
            self.node(flag)?;
        }
        self.text.push_str("}\n");
        while let Some(node) = self.node_queue.pop_front() {
            self.text.push('!');
            push_number(&mut self.text, self.nodes[node as usize]?);
            self.text.push_str(" = ");
            let text = module.nodes[node as usize];
            if module.compile_units.contains(&node) {
                self.compile_unit(text)?;
            } else {
                self.node_text(node, text)?;
            }
            self.text.push('\n');
        }
        Some(())
    }

    /// Its file has the name of a part of the compiler's work; it has one that is always the same.
    fn compile_unit(&mut self, text: &str) -> Option<()> {
        /// No node has a number as large.
        const FILE: u32 = 4_000_000_000;
        let (before, rest) = text.split_once("file: !")?;
        let (_, after) = rest.split_once(',')?;
        let _ = write!(
            self.text,
            "{before}file: !{FILE},{after}\n!{FILE} = !DIFile(filename: \"kernels\", directory: \"\")"
        );
        Some(())
    }

    fn node_text(&mut self, node: u32, text: &'a str) -> Option<()> {
        const LOCATION: &str = "!DILocation(line: ";
        let after_distinct = text.strip_prefix("distinct ").unwrap_or(text);
        if after_distinct.starts_with(LOCATION) {
            return self.location_text(text);
        }
        // A file's checksum changes with every edit of it, and PTX has none.
        if text.starts_with("!DIFile(")
            && let Some((file, _)) = text.split_once(", checksumkind: ")
        {
            let _ = write!(self.text, "{file})");
            return Some(());
        }
        let file = if text.contains("ine: ") {
            self.file_of(node)
        } else {
            None
        };
        for piece in lex(text, &HashMap::new())? {
            match piece {
                Piece::Node(node) => self.node(node)?,
                Piece::Text(text) if file.is_some() => self.text_with_lines(text, file),
                Piece::Text(text) => self.text.push_str(text),
                Piece::Symbol { .. } | Piece::Attributes(_) => return None,
            }
        }
        Some(())
    }

    /// The same of a location, the commonest of nodes: it has no strings, and the file is that of its scope.
    fn location_text(&mut self, text: &str) -> Option<()> {
        let scope = text.split_once("scope: !")?.1;
        let digits = scope.bytes().take_while(u8::is_ascii_digit).count();
        let file = self.file_of(scope[..digits].parse().ok()?);
        let mut parts = text.split('!');
        if let Some(distinct) = parts.next() {
            self.text.push_str(distinct);
        }
        let line = parts.next()?;
        self.text.push('!');
        self.text_with_lines(line, file);
        for part in parts {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            self.node(part[..digits].parse().ok()?)?;
            self.text.push_str(&part[digits..]);
        }
        Some(())
    }

    /// Writes text with its lines replaced.
    fn text_with_lines(&mut self, text: &str, file: Option<u32>) {
        let mut rest = text;
        while let Some(at) = place_of_line(rest) {
            let digits = rest[at..].bytes().take_while(u8::is_ascii_digit).count();
            let line: u32 = rest[at..at + digits].parse().unwrap_or(0);
            let number = match line {
                0 => 0,
                _ => *self.line_numbers.entry((file, line)).or_insert_with(|| {
                    self.lines.push(line);
                    self.lines.len() as u32
                }),
            };
            self.text.push_str(&rest[..at]);
            push_number(&mut self.text, number);
            rest = &rest[at + digits..];
        }
        self.text.push_str(rest);
    }

    /// The node of the file that a scope is in.
    fn file_of(&mut self, scope: u32) -> Option<u32> {
        if let Some(file) = self.files.get(&scope) {
            return *file;
        }
        let file = self
            .module
            .nodes
            .get(scope as usize)
            .and_then(|text| field(text, "file: !"));
        self.files.insert(scope, file);
        file
    }
}

/// Adds a number to the text: there are several in each line of it, and formatting takes its time.
fn push_number(text: &mut String, number: u32) {
    if number >= 10 {
        push_number(text, number / 10);
    }
    text.push(char::from(b'0' + (number % 10) as u8));
}

/// Where the next line of a node stands: `line: 5` or `scopeLine: 5` outside of strings.
fn place_of_line(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let found = at + text[at..].find("ine: ")?;
        let key = text[..found].trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let is_line = matches!(&text[key.len()..found + "ine".len()], "line" | "scopeLine");
        let is_outside = text[..found].bytes().filter(|&byte| byte == b'"').count() % 2 == 0;
        at = found + "ine: ".len();
        if is_line && is_outside {
            return Some(at);
        }
    }
}

/// The node that a field of a node names.
fn field(text: &str, name: &str) -> Option<u32> {
    // Names in strings come before no field that is asked for but the file's.
    let mut rest = text;
    let mut in_string = false;
    while let Some(at) = rest.find(name) {
        in_string ^= rest[..at].bytes().filter(|&byte| byte == b'"').count() % 2 == 1;
        rest = &rest[at + name.len()..];
        if !in_string {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            return rest[..digits].parse().ok();
        }
    }
    None
}

/// The declaration of a variable, of the text behind its name and linkage.
fn declaration_of_variable(text: &str) -> Option<String> {
    let at = ["global ", "constant "]
        .iter()
        .filter_map(|word| Some(text.find(word)? + word.len()))
        .min()?;
    let (head, rest) = text.split_at(at);
    let mut declaration = format!("{head}{}", &rest[..length_of_type(rest)]);
    if let Some((_, align)) = rest.trim_end().rsplit_once(", align ")
        && align.bytes().all(|byte| byte.is_ascii_digit())
    {
        let _ = write!(declaration, ", align {align}");
    }
    Some(declaration)
}

/// The length of the type that `text` begins with.
fn length_of_type(text: &str) -> usize {
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' | b'{' | b'[' | b'(' => depth += 1,
            b'>' | b'}' | b']' | b')' => depth -= 1,
            b' ' if depth == 0 && !text[at..].starts_with(" addrspace(") => return at,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linker::units::partition::Facts;

    /// The unit of kernel `k` in a module.
    fn unit(text: &str) -> Canonical {
        let mut module = ModuleText::parse(text).expect("a module that can be cut");
        let facts = Facts {
            of_libraries: ["fail".to_owned()].into(),
            needs: HashMap::new(),
        };
        let partition = Partition::of(&mut module, &facts);
        let part = partition.parts.iter().find(|part| part.name == "k");
        let part = part.expect("the kernel's part");
        let names = Names::of(&module);
        write(&module, &partition, part, &names, &HashMap::new()).expect("a unit")
    }

    const MODULE: &str = r#"source_filename = "kernels"
target triple = "nvptx64-nvidia-cuda"

@file = internal unnamed_addr constant [5 x i8] c"a.rs\00", align 1
@place = internal unnamed_addr constant <{ ptr, [16 x i8] }> <{ ptr @file, [16 x i8] c"\04\00\00\00\00\00\00\00\0C\00\00\00\05\00\00\00" }>, align 8
@text.7 = internal unnamed_addr constant [2 x i8] c"@x", align 1
@shared_4 = internal addrspace(3) global [64 x i8] undef, align 16

; Function Attrs: nounwind
define ptx_kernel void @k(ptr %0) unnamed_addr #1 !dbg !7 {
  %2 = call i32 asm "@p mov.u32 $0, %tid.x;", "=r"() #2, !dbg !8, !srcloc !9
  store i32 %2, ptr addrspacecast (ptr addrspace(3) @shared_4 to ptr), align 4
  call void @fail(ptr @text.7, ptr @place), !dbg !10
  ret void, !dbg !8
}

; Function Attrs: cold
define internal void @fail(ptr %0, ptr %1) unnamed_addr #3 !dbg !11 {
  unreachable
}

attributes #1 = { nounwind }
attributes #2 = { convergent }
attributes #3 = { cold noreturn }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!llvm.ident = !{!1}

!0 = distinct !DICompileUnit(language: DW_LANG_Rust, file: !3, producer: "rustc", isOptimized: true, emissionKind: DebugDirectivesOnly)
!1 = !{!"rustc"}
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DIFile(filename: "a.rs/@/part-1", directory: "/src")
!4 = !DIFile(filename: "a.rs", directory: "/src", checksumkind: CSK_MD5, checksum: "0123")
!7 = distinct !DISubprogram(name: "k line: 3", scope: null, file: !4, line: 11, scopeLine: 11, unit: !0)
!8 = !DILocation(line: 12, column: 9, scope: !7)
!9 = !{i64 77}
!10 = !DILocation(line: 12, column: 5, scope: !7, inlinedAt: !8)
!11 = distinct !DISubprogram(name: "fail", scope: null, file: !4, line: 2, scopeLine: 2, unit: !0)
"#;

    #[test]
    fn what_stands_elsewhere_is_in_no_unit() {
        let before = unit(MODULE);
        assert_eq!(before.lines, [11, 12]);
        assert_eq!(before.locations.len(), 1);
        // Another kernel, five lines more, other numbers and names.
        let mut moved = MODULE.to_owned();
        for (from, to) in [
            ("\\0C\\00\\00\\00\\05", "\\11\\00\\00\\00\\05"),
            ("line: 12", "line: 17"),
            ("line: 11", "line: 16"),
            ("Line: 11", "Line: 16"),
            ("i64 77", "i64 99"),
            ("0123", "4567"),
            ("part-1", "part-2"),
            ("@text.7", "@text.9"),
            ("@shared_4", "@shared_2"),
            ("#1", "#21"),
            ("#2,", "#20,"),
            ("#2 =", "#20 ="),
            ("!10", "!110"),
            ("!8", "!108"),
            ("!7", "!107"),
            (
                "\n@file",
                "\n@other = internal addrspace(3) global [4 x i8] undef\n@file",
            ),
            (
                "\n; Function Attrs: cold",
                "\ndefine ptx_kernel void @other() {\n  ret void\n}\n",
            ),
        ] {
            assert!(moved.contains(from), "{from}");
            moved = moved.replace(from, to);
        }
        let after = unit(&moved);
        assert_eq!(after.text, before.text);
        assert_eq!(after.lines, [16, 17]);
        assert_ne!(after.locations, before.locations);
    }

    #[test]
    fn what_a_kernel_does_is_in_its_unit() {
        let before = unit(MODULE).text;
        for (from, to) in [
            ("@x", "@y"),
            ("tid.x", "tid.y"),
            ("64 x i8", "32 x i8"),
            ("column: 9", "column: 8"),
            ("{ nounwind }", "{ nounwind \"nvvm.maxntid\"=\"64\" }"),
            ("inlinedAt: !8", "inlinedAt: !10"),
        ] {
            assert_ne!(unit(&MODULE.replace(from, to)).text, before, "{from}");
        }
        // Two places that were on one line and no longer are.
        let split = MODULE.replace("line: 12, column: 5", "line: 13, column: 5");
        assert_ne!(unit(&split).text, before);
    }

    #[test]
    fn what_is_common_is_declared() {
        let text = unit(MODULE).text;
        assert!(
            text.contains("\ndeclare void @fail(ptr %0, ptr %1) unnamed_addr #"),
            "{text}"
        );
        assert!(
            text.contains(
                "@$location_0 = external unnamed_addr constant <{ ptr, [16 x i8] }>, align 8"
            ),
            "{text}"
        );
        assert!(
            !text.contains("srcloc") && !text.contains("checksum"),
            "{text}"
        );
        let more = unit(&MODULE.replace("#3 !dbg !11 {", "#3 !dbg !11 !kind !9 {"));
        assert_eq!(more.text, text);
    }

    #[test]
    fn a_module_with_what_only_a_whole_one_can_have_is_not_cut() {
        for line in [
            "module asm \".global .b32 x;\"",
            "@a = alias i8, ptr @file",
            "$a = comdat any",
        ] {
            assert!(
                ModuleText::parse(&format!("{line}\n{MODULE}")).is_none(),
                "{line}"
            );
        }
    }

    #[test]
    fn variables_are_declared_by_their_type() {
        for (definition, declaration) in [
            (
                "addrspace(1) externally_initialized global [4 x i8] zeroinitializer, align 4\n",
                "addrspace(1) externally_initialized global [4 x i8], align 4",
            ),
            (
                "global <{ ptr, [8 x i8] }> <{ ptr @a, [8 x i8] undef }>, section \"x\", align 8\n",
                "global <{ ptr, [8 x i8] }>, align 8",
            ),
            ("global ptr addrspace(3) null\n", "global ptr addrspace(3)"),
        ] {
            assert_eq!(
                declaration_of_variable(definition).as_deref(),
                Some(declaration)
            );
        }
    }
}
