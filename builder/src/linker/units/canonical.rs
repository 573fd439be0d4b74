//! Writes a part of a module as text that depends on nothing but the part.
//!
//! What another edit changes is not in it: groups of attributes and nodes of metadata are numbered as they come, shared objects, too;
//! constants without an address of their own are named by their content; lines of the source are numbers of a list, and places of panics
//! are declared only. So equal parts have equal texts, whatever stands around them in module and source.

use std::collections::HashMap;
use std::fmt::Write;

use super::declaration;
use super::locations::{self, PanicLocation};
use super::names::{Names, Symbols};
use super::nodes::Nodes;
use super::partition::{Part, Partition};
use super::text::{Kind, ModuleText, Piece, line_at};
use crate::linker::float::FloatOptions;
use crate::linker::symbols::LOCATION;
use crate::linker::{float, launch_parameters};

/// A part's text, and what it leaves out.
pub(super) struct Canonical {
    pub text: String,
    /// Line `n` of the text is this one, at `n - 1`.
    pub lines: Vec<u32>,
    /// The locations of panics, in the order of their names.
    pub locations: Vec<PanicLocation>,
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
        float,
        text: String::new(),
        symbols: Symbols::new(module, partition, names),
        attributes: HashMap::new(),
        groups: String::new(),
        nodes: Nodes::new(module),
    };
    writer.text.extend(module.head.iter().copied());
    for &root in &part.roots {
        writer.symbols.refer(root);
    }
    while let Some(definition) = writer.symbols.take_next() {
        writer.definition(definition)?;
    }
    let Writer {
        mut text,
        groups,
        mut nodes,
        symbols,
        ..
    } = writer;
    nodes.write(&mut text)?;
    text.push_str(&groups);
    Some(Canonical {
        text,
        lines: nodes.lines,
        locations: symbols.locations,
    })
}

struct Writer<'m, 'a> {
    module: &'m ModuleText<'a>,
    partition: &'m Partition,
    part: &'m Part,
    float: &'m HashMap<usize, FloatOptions>,
    text: String,
    symbols: Symbols<'m, 'a>,
    /// The groups of attributes: those of a definition that is common have more.
    attributes: HashMap<(u32, String), usize>,
    groups: String,
    nodes: Nodes<'m, 'a>,
}

impl Writer<'_, '_> {
    fn definition(&mut self, number: usize) -> Option<()> {
        let module = self.module;
        let definition = &module.definitions[number];
        let is_root = self.part.roots.contains(&number);
        let is_common = self.partition.common.contains(&number);
        let name = self.symbols.refer(number).to_owned();
        if name.starts_with(&format!("@{}", LOCATION)) {
            let _ = writeln!(
                self.text,
                "{name} = external unnamed_addr constant {}, align 8",
                locations::TYPE
            );
            return Some(());
        }
        for &needed in &definition.needs {
            self.symbols.refer(needed);
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
                    let declaration = declaration::of_variable(rest)?;
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
                        let name = self.symbols.refer(*definition);
                        self.text.push_str(name);
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
                Piece::Node(node) => self.nodes.refer(*node, &mut self.text)?,
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
}
