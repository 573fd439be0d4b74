//! JIT linking: several PTX modules, one image.

use crate::common::*;
use core::ffi::CStr;
use std::ffi::CString;

const HEAD: &str = ".version 7.8\n.target sm_90\n.address_size 64\n";

/// Stores twice its parameter, by a function of another module, plus that module's variable.
const USER: &str = ".extern .func (.param .b32 r) twice(.param .b32 x);
.extern .global .align 4 .u32 offset;
.global .align 4 .u32 own = 1;
.visible .entry k(.param .u64 out, .param .u32 x)
{
    .reg .b32 %r<6>; .reg .b64 %rd<2>;
    .param .b32 a; .param .b32 b;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [x];
    st.param.b32 [a], %r1;
    call.uni (b), twice, (a);
    ld.param.b32 %r2, [b];
    ld.global.u32 %r3, [offset];
    add.u32 %r2, %r2, %r3;
    ld.global.u32 %r4, [own];
    add.u32 %r2, %r2, %r4;
    st.global.u32 [%rd1], %r2;
    ret;
}
";

const LIBRARY: &str = ".visible .global .align 4 .u32 offset = 100;
.global .align 4 .u32 own = 1000;
.visible .func (.param .b32 r) twice(.param .b32 x)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [x];
    add.u32 %r1, %r1, %r1;
    ld.global.u32 %r2, [own];
    add.u32 %r1, %r1, %r2;
    st.param.b32 [r], %r1;
    ret;
}
";

/// A link whose errors go to a log. The log and the options stay where they are until the link is destroyed.
struct Link {
    state: CUlinkState,
    log: Box<[u8; 4096]>,
    _values: Box<[*mut c_void; 2]>,
    _keys: Box<[CUjit_option; 2]>,
}

impl Link {
    fn new() -> Link {
        let mut log = Box::new([0; 4096]);
        let mut keys = Box::new([
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ]);
        let mut values = Box::new([log.as_mut_ptr().cast(), log.len() as *mut c_void]);
        let mut state = null_mut();
        ok!(cuLinkCreate_v2(
            2,
            keys.as_mut_ptr(),
            values.as_mut_ptr(),
            &mut state
        ));
        Link {
            state,
            log,
            _values: values,
            _keys: keys,
        }
    }

    /// Adds PTX and gives the driver's answer.
    fn add(&self, name: &CStr, text: &str) -> u32 {
        let text = CString::new(format!("{HEAD}{text}")).unwrap();
        // SAFETY: the text is read during the call, with the NUL that it ends with.
        let result = unsafe {
            cuLinkAddData_v2(
                self.state,
                CUjitInputType::CU_JIT_INPUT_PTX,
                text.as_ptr().cast_mut().cast(),
                text.as_bytes_with_nul().len(),
                name.as_ptr(),
                0,
                null_mut(),
                null_mut(),
            )
        };
        result.0
    }

    /// Loads what was linked, and destroys the link.
    fn load(self) -> CUmodule {
        let (mut image, mut bytes) = (null_mut(), 0);
        ok!(cuLinkComplete(self.state, &mut image, &mut bytes));
        let mut again = null_mut();
        fails!(400, cuLinkComplete(self.state, &mut again, &mut bytes));
        assert!(!image.is_null() && bytes > 0);
        let module = get!(cuModuleLoadData(image));
        ok!(cuLinkDestroy(self.state));
        module
    }

    fn log(&self) -> String {
        let log = CStr::from_bytes_until_nul(&self.log[..]).unwrap();
        log.to_str().unwrap().to_owned()
    }
}

/// What `k` of a module stores for an argument.
fn run(module: CUmodule, x: u32) -> u32 {
    let function: CUfunction = get!(cuModuleGetFunction(module, c"k".as_ptr()));
    let mut out = upload(&[0_u32]);
    let mut x = x;
    let mut parameters: [*mut c_void; 2] = [(&raw mut out).cast(), (&raw mut x).cast()];
    ok!(cuLaunchKernel(
        function,
        1,
        1,
        1,
        1,
        1,
        1,
        0,
        null_mut(),
        parameters.as_mut_ptr(),
        null_mut()
    ));
    let value = download::<u32>(out, 1)[0];
    ok!(cuMemFree_v2(out));
    value
}

// covers: DRV-12
#[test]
fn modules_call_each_other_when_they_are_linked() {
    let _turn = turn();
    gpu();
    for user_first in [true, false] {
        let link = Link::new();
        let mut units = [(c"user", USER), (c"library", LIBRARY)];
        if !user_first {
            units.reverse();
        }
        for (name, text) in units {
            assert_eq!(link.add(name, text), 0, "{}", link.log());
        }
        let module = link.load();
        // Each module has a variable of its own that is called `own`.
        assert_eq!(run(module, 7), 14 + 1000 + 100 + 1);
        let mut offset = 0;
        ok!(cuModuleGetGlobal_v2(
            &mut offset,
            null_mut(),
            module,
            c"offset".as_ptr()
        ));
        let five = 5_u32;
        ok!(cuMemcpyHtoD_v2(offset, (&raw const five).cast(), 4));
        assert_eq!(run(module, 1), 2 + 1000 + 5 + 1);
        ok!(cuModuleUnload(module));
    }
}

// covers: DRV-12
#[test]
fn files_are_linked_too() {
    let _turn = turn();
    gpu();
    let link = Link::new();
    let name = format!("warpsmith-link-{}.ptx", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, format!("{HEAD}{LIBRARY}")).unwrap();
    let file = CString::new(path.to_str().unwrap()).unwrap();
    let kind = CUjitInputType::CU_JIT_INPUT_PTX;
    ok!(cuLinkAddFile_v2(
        link.state,
        kind,
        file.as_ptr(),
        0,
        null_mut(),
        null_mut()
    ));
    std::fs::remove_file(path).unwrap();
    fails!(
        301,
        cuLinkAddFile_v2(link.state, kind, file.as_ptr(), 0, null_mut(), null_mut())
    );
    assert_eq!(link.add(c"user", USER), 0, "{}", link.log());
    assert_eq!(run(link.load(), 3), 6 + 1000 + 100 + 1);
}

// covers: DRV-12
#[test]
fn what_is_defined_nowhere_or_twice_is_named_in_the_log() {
    let _turn = turn();
    gpu();
    for (units, last, expected) in [
        (vec![USER], 0, &["twice"][..]),
        // Which of them the linker comes to first is its own affair.
        (vec![USER, LIBRARY, LIBRARY], 300, &["twice", "offset"]),
    ] {
        let link = Link::new();
        let added: Vec<_> = units.iter().map(|text| link.add(c"unit", text)).collect();
        assert_eq!(added.last(), Some(&last), "{}", link.log());
        assert_eq!(added[..added.len() - 1], vec![0; added.len() - 1]);
        let (mut image, mut bytes) = (null_mut(), 0);
        // SAFETY: both are for the results.
        let result = unsafe { cuLinkComplete(link.state, &mut image, &mut bytes) };
        assert_eq!(result.0, 300);
        let log = link.log();
        assert!(expected.iter().any(|name| log.contains(name)), "{log}");
        ok!(cuLinkDestroy(link.state));
    }
}

#[test]
fn a_link_refuses_what_is_no_ptx() {
    let _turn = turn();
    gpu();
    let link = Link::new();
    assert_eq!(link.add(c"broken", ".visible .entry k( { ret; }"), 218);
    assert!(link.log().contains("line 4"), "{}", link.log());
    ok!(cuLinkDestroy(link.state));
}
