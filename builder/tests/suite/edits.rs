//! What a build makes of an edited source with what is kept of earlier ones is what it makes of it from nothing, byte for byte.

use std::fs;
use std::path::Path;

use warpsmith_builder::{Arch, CudaBuilder, PtxOutput, cache};
use warpsmith_testkit::{Random, Side, own_process};

use super::projects::Project;
use super::support::*;

/// The process that is to do a test's work, which has a cache of its own with the user's `core` in it.
struct OwnCache;

impl OwnCache {
    /// `None` in the process of all tests, once the other one has passed.
    fn new() -> Option<OwnCache> {
        let folder = tempfile::tempdir().unwrap();
        // A cache without `core` would compile it.
        build(CudaBuilder::new(fixture("features")).arch(Arch::Sm90));
        for entry in fs::read_dir(cache::folder().unwrap()).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let is_core = ["sysroot-", "builtins-", "probe-"]
                .iter()
                .any(|start| name.starts_with(start));
            if is_core && path.is_dir() {
                std::os::unix::fs::symlink(&path, folder.path().join(name)).unwrap();
            }
        }
        match own_process(&[("WARPSMITH_CACHE", folder.path().to_str().unwrap())]) {
            Side::Child => Some(OwnCache),
            Side::Parent(_) => None,
        }
    }

    /// Removes what is kept of projects.
    fn forget(&self) {
        for name in ["units", "ptx", "target", "modules"] {
            let folder = cache::folder().unwrap().join(name);
            if folder.exists() {
                fs::remove_dir_all(folder).unwrap();
            }
        }
    }
}

fn built(project: &Project) -> PtxOutput {
    build(CudaBuilder::new(project.path()).arch(Arch::Sm90))
}

/// The panic handler notes the place where nothing in the source names lines.
const ROOT: &[&str] = &[
    "#![no_std]",
    "mod part;",
    "pub static mut PLACE: usize = 0;",
    "#[panic_handler]\nfn panic(info: &core::panic::PanicInfo<'_>) -> ! {\n    \
     let place = info.location().map_or(0, |place| core::ptr::from_ref(place) as usize);\n    \
     unsafe { PLACE = place };\n    loop {}\n}",
    "static TEXT: &str = \"one\n\n  // no comment\n  three\";",
    "#[unsafe(no_mangle)]\npub unsafe extern \"ptx-kernel\" fn first(x: *mut u32) {\n    unsafe {\n        \
     *x = part::halved(*x) + part::checked(*x as usize);\n    }\n}",
    "/// Documentation.\n#[unsafe(no_mangle)]\npub unsafe extern \"ptx-kernel\" fn second(x: *mut u32) {\n    unsafe {\n        \
     *x = 1000 / *x + u32::from(TEXT.as_bytes()[*x as usize]) * 3;\n        *x = part::rare(*x);\n    }\n}",
    "#[unsafe(no_mangle)]\npub unsafe extern \"ptx-kernel\" fn third(x: *mut u32) {\n    unsafe {\n        \
     *x = part::rare(*x) + part::halved(7);\n    }\n}",
];

const PART: &[&str] = &[
    "static TABLE: [u32; 4] = [7, 8, 9, 10];",
    "pub fn halved(x: u32) -> u32 {\n    if x == 13 {\n        panic!(\"thirteen\");\n    }\n    x / 2\n}",
    "pub fn checked(x: usize) -> u32 {\n    TABLE[x]\n}",
    "#[inline(never)]\npub fn rare(x: u32) -> u32 {\n    let y = 50 / x;\n    y + TABLE[y as usize]\n}",
];

/// The pieces of a file, in which nothing but lines changes between two of them.
struct File {
    path: &'static str,
    pieces: Vec<String>,
}

const COMMENTS: [&str; 4] = [
    "",
    "// A comment.",
    "/* A comment\n   of lines, \"quoted\n */",
    "\n//// Another one: 'x\n",
];

impl File {
    fn text(&self) -> String {
        self.pieces.join("\n") + "\n"
    }

    fn is_comment(piece: &str) -> bool {
        COMMENTS.contains(&piece)
    }

    /// A random edit; whether it leaves the code alone.
    fn edit(&mut self, random: &mut Random) -> bool {
        match random.below(6) {
            0..3 => {
                let at = random.index(self.pieces.len() + 1);
                let comment = COMMENTS[random.index(COMMENTS.len())];
                self.pieces.insert(at, comment.to_owned());
                true
            }
            3 => {
                self.pieces.retain(|piece| !File::is_comment(piece));
                true
            }
            4 => {
                let numbers = ["3;", "7)", "1000 /", "50 /", "9, 10"];
                let from = numbers[random.index(numbers.len())];
                let to = format!("{}{from}", 1 + random.below(9));
                for piece in &mut self.pieces {
                    *piece = piece.replace(from, &to);
                }
                false
            }
            _ => {
                let to = if self.pieces.concat().contains("fn third") {
                    ["third", "renamed"]
                } else {
                    ["renamed", "third"]
                };
                for piece in &mut self.pieces {
                    *piece = piece.replace(to[0], to[1]);
                }
                let last = self.pieces.len() - 1;
                self.pieces.swap(0, random.index(2));
                self.pieces.swap(last, last - random.index(2));
                // What belongs to the crate comes first.
                let root = self
                    .pieces
                    .iter()
                    .position(|piece| piece.starts_with("#!["));
                if let Some(root) = root {
                    self.pieces.swap(0, root);
                }
                false
            }
        }
    }
}

#[test]
fn every_edit_gives_what_a_build_from_nothing_gives() {
    let Some(cache) = OwnCache::new() else { return };
    let project = Project::new(&[]);
    let mut files = [("src/lib.rs", ROOT), ("src/part.rs", PART)].map(|(path, pieces)| File {
        path,
        pieces: pieces.iter().map(|piece| (*piece).to_owned()).collect(),
    });
    let write = |texts: &[(&str, String)]| {
        for (path, text) in texts {
            if fs::read_to_string(project.path().join(path)).ok().as_ref() != Some(text) {
                project.write(path, text);
            }
        }
    };
    let mut random = Random::new(1);
    let mut made = Vec::new();
    for step in 0..16 {
        if step != 0 {
            let leaves_code = files[random.index(2)].edit(&mut random);
            assert!(step != 1 || leaves_code, "the seed begins with a comment");
        }
        let texts = [&files[0], &files[1]].map(|file| (file.path, file.text()));
        write(&texts);
        made.push((texts, built(&project).ptx));
    }
    for (texts, ptx) in made {
        cache.forget();
        write(&texts);
        let from_nothing = built(&project);
        assert!(!from_nothing.compiled.is_empty());
        assert!(
            from_nothing.ptx == ptx,
            "{texts:?}\n{ptx}\n{}",
            from_nothing.ptx
        );
    }
}

/// The places in the PTX: `.loc` lines, and the constants of panics.
fn places(ptx: &str) -> Vec<&str> {
    let is_place = |line: &&str| line.starts_with("\t.loc\t") || line.contains(".u64 $location_");
    ptx.lines().filter(is_place).collect()
}

fn target() -> impl AsRef<Path> {
    cache::folder().unwrap().join("target")
}

#[test]
fn lines_that_move_need_no_compiler() {
    let Some(cache) = OwnCache::new() else { return };
    let project = Project::new(&[
        ("src/lib.rs", &ROOT.join("\n")),
        ("src/part.rs", &PART.join("\n")),
    ]);
    let before = built(&project);
    fs::remove_dir_all(target()).unwrap();
    project.write(
        "src/part.rs",
        &format!("// A line.\n\n{}", PART.join("\n\n")),
    );
    let moved = built(&project);
    assert!(!target().as_ref().exists());
    assert!(moved.rebuilt && moved.compiled.is_empty());
    assert_eq!(places(&moved.ptx).len(), places(&before.ptx).len());
    assert_ne!(places(&moved.ptx), places(&before.ptx));
    // What was mended is remembered, and is the start of the next move.
    assert!(!built(&project).rebuilt);
    project.write("src/lib.rs", &format!("\n{}", ROOT.join("\n")));
    let again = built(&project);
    assert!(!target().as_ref().exists());
    cache.forget();
    assert!(built(&project).ptx == again.ptx);
}

#[test]
fn code_that_reads_lines_is_compiled_where_they_move() {
    let Some(_cache) = OwnCache::new() else {
        return;
    };
    for reader in [
        "line!()",
        "const { core::panic::Location::caller().line() }",
        "here!(line)",
    ] {
        let kernel = format!(
            "#[unsafe(no_mangle)]\npub unsafe extern \"ptx-kernel\" fn reads(x: *mut u32) {{\n    unsafe {{\n*x = 70000 + {reader};\n    }}\n}}\n"
        );
        let source = format!(
            "#![no_std]\nmacro_rules! here {{ ($name:ident) => {{ $name!() }} }}\npub(crate) use here;\n#[panic_handler]\n\
             fn panic(_: &core::panic::PanicInfo<'_>) -> ! {{ loop {{}} }}\n{kernel}"
        );
        let project = Project::new(&[("src/lib.rs", &source)]);
        let number = |ptx: &str| {
            let line = body(ptx, "reads")
                .into_iter()
                .find(|line| line.contains(" 700"));
            let number = line
                .unwrap()
                .trim_end_matches(';')
                .rsplit(' ')
                .next()
                .unwrap();
            number.parse::<u32>().unwrap()
        };
        let before = number(&built(&project).ptx);
        project.write("src/lib.rs", &format!("\n\n\n{source}"));
        assert_eq!(number(&built(&project).ptx), before + 3, "{reader}");
    }
}
