//! What is loaded: variables, logs, versions.

use super::*;

#[test]
fn variables_have_addresses_and_first_values() {
    let _turn = turn();
    gpu();
    let module = module();
    let name = CString::new("answer").unwrap();
    let (mut address, mut size) = (0, 0);
    ok!(cuModuleGetGlobal_v2(
        &mut address,
        &mut size,
        module,
        name.as_ptr()
    ));
    assert_eq!(size, 4);
    assert_eq!(download::<u32>(address, 1), [42]);
    let name = CString::new("question").unwrap();
    fails!(
        500,
        cuModuleGetGlobal_v2(&mut address, &mut size, module, name.as_ptr())
    );
    ok!(cuModuleUnload(module));
}

#[test]
fn broken_ptx_says_where_in_the_log() {
    // covers: DRV-10, DRV-11, DRV-EX03
    let _turn = turn();
    gpu();
    let text = CString::new(format!(
        "{HEAD}.visible .entry k()\n{{\n    frobnicate.u32 %r1, %r2;\n    ret;\n}}\n"
    ))
    .unwrap();
    let mut log = [0u8; 8192];
    let mut keys = [
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        CUjit_option::CU_JIT_WALL_TIME,
    ];
    let mut values: [*mut c_void; 3] = [
        log.as_mut_ptr().cast(),
        log.len() as *mut c_void,
        null_mut(),
    ];
    let mut module = null_mut();
    fails!(
        218,
        cuModuleLoadDataEx(
            &mut module,
            text.as_ptr().cast(),
            3,
            keys.as_mut_ptr(),
            values.as_mut_ptr()
        )
    );
    let log = std::ffi::CStr::from_bytes_until_nul(&log)
        .unwrap()
        .to_str()
        .unwrap();
    assert!(log.contains("line 6"), "{log}");
    fails!(
        200,
        cuModuleLoadData(&mut module, c"no PTX at all".as_ptr().cast())
    );
    let newer = CString::new(HEAD.replace("7.8", "99.0")).unwrap();
    fails!(222, cuModuleLoadData(&mut module, newer.as_ptr().cast()));
    let other = CString::new(format!(
        "{}.visible .entry k() {{ ret; }}",
        HEAD.replace("sm_90", "sm_100")
    ))
    .unwrap();
    fails!(218, cuModuleLoadData(&mut module, other.as_ptr().cast()));
}

#[test]
fn whether_ptx_is_compiled_is_asked_for_by_variables() {
    // covers: ENV-05, ENV-06
    const ANY: &str = "CUDA_DISABLE_JIT";
    const PTX: &str = "CUDA_DISABLE_PTX_JIT";
    const EXPECTED: &str = "WARPSMITH_TEST_EXPECTED";
    if !is_child() {
        for (any, ptx, force, expected) in [
            ("0", "1", "0", "223"),
            ("1", "", "0", "223"),
            ("1", "0", "0", "0"),
            ("0", "0", "1", "0"),
        ] {
            let variables = [
                (ANY, any),
                (PTX, ptx),
                ("CUDA_FORCE_PTX_JIT", force),
                // What another test has had compiled lies there, and is taken from there without compiling.
                ("CUDA_CACHE_DISABLE", "1"),
                (EXPECTED, expected),
            ];
            let set: Vec<_> = variables
                .into_iter()
                .filter(|(_, value)| !value.is_empty())
                .collect();
            run_in_child(&calling_test(), &set);
        }
        return;
    }
    let _turn = turn();
    gpu();
    let text = CString::new(format!("{HEAD}{KERNELS}")).unwrap();
    let mut module = null_mut();
    // SAFETY: the text ends with a NUL byte, and the module's handle is written to a variable.
    let found = unsafe { cuModuleLoadData(&mut module, text.as_ptr().cast()) };
    let expected = std::env::var(EXPECTED).expect("the parent sets it");
    assert_eq!(found.0.to_string(), expected);
}

#[test]
fn when_kernels_are_loaded_is_asked_for_by_a_variable() {
    // covers: LAZY-01, LAZY-02, ENV-09
    const VARIABLE: &str = "CUDA_MODULE_LOADING";
    if !is_child() {
        for mode in ["DEFAULT", "LAZY", "EAGER"] {
            run_in_child(&calling_test(), &[(VARIABLE, mode)]);
        }
        return;
    }
    let _turn = turn();
    gpu();
    let eager = std::env::var(VARIABLE).is_ok_and(|mode| mode == "EAGER");
    let mode: CUmoduleLoadingMode = get!(cuModuleGetLoadingMode());
    assert_eq!(
        mode,
        if eager {
            CUmoduleLoadingMode::CU_MODULE_EAGER_LOADING
        } else {
            CUmoduleLoadingMode::CU_MODULE_LAZY_LOADING
        }
    );
    // In either mode PTX is compiled as a whole when the module is loaded: one bad kernel spoils the others there, not at its lookup.
    let text = CString::new(format!(
        "{HEAD}{KERNELS}.visible .entry bad() {{ frobnicate.u32 %r1; ret; }}"
    ))
    .unwrap();
    fails!(218, cuModuleLoadData(&mut null_mut(), text.as_ptr().cast()));
    // A kernel that has been looked up is loaded, and runs.
    let kernel = function(module(), "store");
    let state: CUfunctionLoadingState = get!(cuFuncIsLoaded(kernel));
    assert_eq!(
        state,
        CUfunctionLoadingState::CU_FUNCTION_LOADING_STATE_LOADED
    );
    let memory = upload(&[0u32; 4]);
    assert_eq!(store(kernel, null_mut(), memory, 4, 1).0, 0);
    ok!(cuCtxSynchronize());
    assert_eq!(download::<u32>(memory, 4), [1, 2, 3, 4]);
}

#[test]
fn a_function_tells_the_constant_memory_of_its_module() {
    let _turn = turn();
    gpu();
    let text = format!(
        "{HEAD}
.visible .const .align 4 .b8 first[6];
.visible .const .align 16 .b8 second[40];
.visible .entry read(.param .u64 out)
{{
    .reg .b32 %r<4>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    ld.const.u32 %r1, [first];
    ld.const.u32 %r2, [second];
    add.u32 %r3, %r1, %r2;
    st.global.u32 [%rd1], %r3;
    ret;
}}
"
    );
    let module = load(&text);
    let bytes: c_int = get!(cuFuncGetAttribute(
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
        function(module, "read")
    ));
    assert_eq!(bytes, 56);
    ok!(cuModuleUnload(module));
}

#[test]
fn ptx_as_new_as_the_newest_published_is_taken() {
    let _turn = turn();
    // A driver refuses what is newer than itself.
    let newest = match gpu() {
        Backend::Simulator => "9.5",
        Backend::Cuda => "9.0",
    };
    for version in ["6.0", "8.8", "9.0", newest] {
        let head = HEAD.replace("7.8", version);
        let head = match version {
            "6.0" => head.replace("sm_90", "sm_70"),
            _ => head,
        };
        let module = load(&format!("{head}.visible .entry k() {{ ret; }}"));
        ok!(cuModuleUnload(module));
    }
}
