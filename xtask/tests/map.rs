//! The map from CUDA C++ names items that exist: rustdoc resolves each.

mod support;

use std::path::Path;
use support::Project;

/// The paths in the right columns of a part of the page: what each code span begins with. A span with a method of a value, or without an
/// item of the library, has none.
fn items(part: &str) -> Vec<String> {
    let rows = part.lines().filter(|line| line.starts_with("| "));
    let cells = rows.filter_map(|row| row.split(" | ").nth(1));
    let spans = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let mut items: Vec<String> = spans.filter_map(item).collect();
    items.sort();
    items.dedup();
    items
}

fn item(span: &str) -> Option<String> {
    if span.starts_with("#[kernel") {
        return Some("macro@kernel".into());
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_:".contains(c);
    let end = span.find(|c| !is_part(c)).unwrap_or(span.len());
    let (path, rest) = span.split_at(end);
    let path = path.trim_end_matches(':');
    match (path, rest.chars().next()) {
        ("", _) => None,
        (_, Some('!')) => Some(format!("{path}!")),
        _ => Some(path.to_owned()),
    }
}

#[test]
fn spans_give_their_items() {
    let row =
        "| `__x` | `shared::dynamic::<T>()`, `%` and `gpu_println!`: `#[kernel(name = \"a\")]` |";
    assert_eq!(
        items(row),
        ["gpu_println!", "macro@kernel", "shared::dynamic"]
    );
}

#[test]
fn every_item_of_the_map_exists() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src/reference/from-cuda.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let (kernel, host) = page
        .split_once("## On the host")
        .expect("the page has two parts");
    let kernel = kernel
        .split_once("## In a kernel")
        .expect("a part on kernels")
        .1;
    let module = |name: &str, imports: &str, part: &str| {
        let items = items(part);
        assert!(items.len() > 20, "{items:?}");
        let links: String = items
            .iter()
            .map(|item| format!("    //! [`{item}`]\n"))
            .collect();
        format!("pub mod {name} {{\n{links}{imports}}}\n")
    };
    let device = "    #[allow(unused_imports)]\n    use warpsmith_device::{*, prelude::*};\n";
    let on_host = "    #[allow(unused_imports)]\n    use warpsmith_host::{*, prelude::*};\n";
    let project = Project::new("map");
    project.write("build.rs", "fn main() {}\n");
    project.write("src/main.rs", "fn main() {}\n");
    project.write(
        "src/lib.rs",
        &format!(
            "#![deny(rustdoc::broken_intra_doc_links)]\n{}{}",
            module("in_kernels", device, kernel),
            module("on_the_host", on_host, host)
        ),
    );
    let output = project.cargo(&["doc", "--no-deps", "--lib"]);
    assert!(output.status.success(), "{}", output.stderr);
}
