//! Moves statics to the address space that their `link_section` names.
//!
//! `.nv.shared` becomes shared memory, `.nv.constant` constant memory that the host may overwrite,
//! `.nv.global` a device global that the host can find by name, `.nv.managed` one that host and device share by
//! its address. Anything else is a private `.global`.

use crate::llvm::{Module, Value};

/// PTX address spaces, as LLVM numbers them.
pub const GLOBAL: u32 = 1;
/// Shared memory of a block.
pub const SHARED: u32 = 3;
/// Constant memory.
pub const CONSTANT: u32 = 4;

/// The section of managed statics.
const MANAGED: &str = ".nv.managed";

/// Where a section name puts a static.
fn space_of(section: &str) -> Option<u32> {
    match section {
        ".nv.shared" => Some(SHARED),
        ".nv.constant" => Some(CONSTANT),
        ".nv.global" | MANAGED => Some(GLOBAL),
        _ => None,
    }
}

/// True for globals that the host finds by name in the loaded module.
pub fn is_host_visible(global: Value<'_>) -> bool {
    matches!(global.address_space(), GLOBAL | CONSTANT)
}

/// Moves all statics of the module; returns the names of the managed ones.
pub fn assign_spaces(module: &Module<'_>) -> Vec<String> {
    let mut managed = Vec::new();
    for global in module.globals() {
        if global.is_declaration() || global.name().starts_with("llvm.") {
            continue;
        }
        let Some(space) = global.section().and_then(|s| space_of(&s)) else {
            continue;
        };
        if global.section().as_deref() == Some(MANAGED) {
            managed.push(global.name());
        }
        move_to(module, global, space);
    }
    managed
}

/// Marks managed statics in the PTX: LLVM knows the attribute only from metadata that nothing else needs.
pub fn mark_managed(ptx: String, managed: &[String]) -> String {
    if managed.is_empty() {
        return ptx;
    }
    let mark = |line: &str| {
        let declares = |name: &String| {
            line.contains(".global ")
                && line
                    .split(|c: char| !c.is_alphanumeric() && c != '_')
                    .any(|word| word == name)
        };
        if line.starts_with(".visible .global ") && managed.iter().any(declares) {
            line.replacen(".global ", ".global .attribute(.managed) ", 1)
        } else {
            line.to_owned()
        }
    };
    ptx.lines().map(|line| mark(line) + "\n").collect()
}

/// Shared objects of 16 bytes and more start at multiples of 16: then neighbouring accesses become one of up
/// to 16 bytes.
pub fn generous_alignment(size: u64, align: u32) -> u32 {
    if size >= 16 { align.max(16) } else { align }
}

/// Replaces `global` by one of the same type in `space`.
fn move_to(module: &Module<'_>, global: Value<'_>, space: u32) {
    let name = global.name();
    global.set_name("");
    let moved = module.add_global(&name, global.value_type(), space);
    let size = module.size_of(global.value_type());
    let align = global.alignment();
    moved.set_alignment(if space == SHARED {
        generous_alignment(size, align)
    } else {
        align
    });
    match space {
        // Shared memory has no initial value.
        SHARED => {
            moved.set_initialiser(Value::undefined(moved.value_type(), moved));
            moved.internalise();
        }
        _ => {
            if let Some(value) = global.initialiser() {
                moved.set_initialiser(value);
            }
            moved.set_constant_global(space == CONSTANT);
            moved.set_externally_initialised();
        }
    }
    global.replace_uses_with(moved.cast_to_generic());
    global.delete_global();
}
