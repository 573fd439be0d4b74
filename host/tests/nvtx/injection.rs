//! A tool that takes NVTX ranges: writes each beginning and each end to the file that `WARPSMITH_TEST_NVTX` names. By NVIDIA's public headers
//! (`nvtxTypes.h`, `nvToolsExt.h`). The test compiles it as a library.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs::OpenOptions;
use std::io::Write;

#[repr(C)]
struct Callbacks {
    size: usize,
    module_functions: unsafe extern "C" fn(c_int, *mut *const *mut Function, *mut c_uint) -> c_int,
}

#[repr(C)]
struct VersionInfo {
    size: usize,
    version: u32,
    reserved: u32,
    set_tool_version: extern "C" fn(u32),
}

#[repr(C)]
struct EventAttributes {
    version: u16,
    size: u16,
    category: u32,
    color_type: i32,
    color: u32,
    payload_type: i32,
    reserved: i32,
    payload: u64,
    message_type: i32,
    message: *const c_char,
}

type Function = *const c_void;

fn note(line: &str) {
    let path = std::env::var_os("WARPSMITH_TEST_NVTX").expect("the test names a file");
    let file = OpenOptions::new().append(true).create(true).open(path);
    writeln!(file.expect("it can be written"), "{line}").expect("it can be written");
}

/// The number by which this tool knows the only domain.
const DOMAIN: *mut c_void = std::ptr::without_provenance_mut(0x50);

unsafe extern "C" fn domain_create(name: *const c_char) -> *mut c_void {
    let name = unsafe { CStr::from_ptr(name) };
    note(&format!("domain {}", name.to_str().expect("it is text")));
    DOMAIN
}

unsafe extern "C" fn range_push(domain: *mut c_void, attributes: *const EventAttributes) -> c_int {
    let attributes = unsafe { &*attributes };
    assert_eq!((domain, attributes.version, attributes.size), (DOMAIN, 3, 48));
    assert_eq!(attributes.message_type, 1);
    let name = unsafe { CStr::from_ptr(attributes.message) };
    let payload = match attributes.payload_type {
        0 => "none".to_owned(),
        1 => attributes.payload.to_string(),
        other => panic!("a payload of type {other}"),
    };
    note(&format!("push {payload} {}", name.to_str().expect("it is text")));
    0
}

unsafe extern "C" fn range_pop(domain: *mut c_void) -> c_int {
    assert_eq!(domain, DOMAIN);
    note("pop");
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn InitializeInjectionNvtx2(
    export_table: unsafe extern "C" fn(u32) -> *const c_void,
) -> c_int {
    if std::env::var_os("WARPSMITH_TEST_NVTX_REFUSES").is_some() {
        return 0;
    }
    let version = unsafe { &*export_table(3).cast::<VersionInfo>() };
    assert!(version.size >= size_of::<VersionInfo>() && version.version >= 2);
    (version.set_tool_version)(3);
    let callbacks = unsafe { &*export_table(1).cast::<Callbacks>() };
    assert!(callbacks.size >= size_of::<Callbacks>());
    assert!(unsafe { export_table(77) }.is_null());
    let (mut table, mut count) = (std::ptr::null(), 0);
    for (module, known) in [(1, 1), (5, 1), (2, 0), (99, 0)] {
        assert_eq!(
            unsafe { (callbacks.module_functions)(module, &mut table, &mut count) },
            known
        );
        if known == 0 {
            continue;
        }
        assert_eq!(count, 16);
        let slots = unsafe { std::slice::from_raw_parts(table, count as usize + 1) };
        assert!(slots[0].is_null() && slots[16].is_null());
        assert!(slots[1..16].iter().all(|slot| !slot.is_null()));
        if module == 5 {
            unsafe {
                *slots[4] = range_push as Function;
                *slots[5] = range_pop as Function;
                *slots[12] = domain_create as Function;
            }
        }
    }
    note("initialized");
    1
}
