//! The PTX that each intrinsic became. `cargo insta review` shows a change; `INSTA_UPDATE=always` takes it.
//!
//! A snapshot holds the instructions that the intrinsics stand for, with registers unnumbered, kernel by kernel; what the compiler
//! puts around them is left out.

use warpsmith_tests::ptx::{SM_70, SM_80, SM_90, kernels, llvm, report, report_in_order, selected};

/// A snapshot for each LLVM that arranges the instructions around the intrinsics in another way.
macro_rules! assert_snapshot_of_llvm {
    ($text:expr) => {
        let suffix = if llvm() == 22 { "llvm22" } else { "llvm23" };
        insta::with_settings!({ snapshot_suffix => suffix }, {
            insta::assert_snapshot!($text);
        });
    };
}

const MEMORY: &[&str] = &[
    "atom",
    "red",
    "fence",
    "ld.relaxed",
    "ld.acquire",
    "st.relaxed",
    "st.release",
    "st.volatile",
    "mov.b128",
    "ld.shared",
    "st.shared",
    "bar.",
];

// covers: ATOM-02, ATOM-04, ATOM-05, ATOM-06, ATOM-07, ATOM-08, ATOM-10, ATOM-11, ATOM-12, ATOM-13, ATOM-14, ATOM-15, ATOM-17, ATOM-18
// covers: FENCE-02, FENCE-03, FENCE-04, FENCE-06, FENCE-07
#[test]
fn atomics() {
    insta::assert_snapshot!(report(
        SM_90,
        &[
            "operations_u32",
            "operations_i32",
            "operations_u64",
            "operations_i64",
            "reductions_u32",
            "reductions_i64",
            "add_f32",
            "add_f64",
            "add_f16",
            "add_bf16",
            "count_bounded",
            "count_u16",
            "count_u128",
            "add_vectors",
            "shared_histogram",
            "last_block_sums",
            "locked_increment",
        ],
        MEMORY,
    ));
}

// covers: ATOM-17, FENCE-07
#[test]
fn orders_scopes_and_fences() {
    insta::assert_snapshot!(report_in_order(
        SM_90,
        &["orders", "scopes", "fences"],
        MEMORY
    ));
}

#[test]
fn atomics_of_sm_70() {
    insta::assert_snapshot!(report(
        SM_70,
        &["operations_u32", "add_f16", "count_u16", "orders", "fences"],
        MEMORY
    ));
}

// covers: PDL-01, PDL-02
#[test]
fn dependent_launch() {
    insta::assert_snapshot!(report_in_order(
        SM_90,
        &["primary", "secondary", "secondary_matrix"],
        &["griddepcontrol", "ld.global", "st.global"],
    ));
}

// covers: MODEL-08, DSMEM-01, DSMEM-02
#[test]
fn clusters() {
    insta::assert_snapshot!(report(
        SM_90,
        &kernels(SM_90, "cluster_"),
        &[
            "mov.u32 %r, %cluster",
            "mov.u32 %r, %ncluster",
            "mov.pred",
            "barrier",
            "mapa",
            "getctarank",
            "red",
            "ld.b32"
        ],
    ));
}

// covers: CPASYNC-02, CPASYNC-04, CPASYNC-05
#[test]
fn asynchronous_copies() {
    let families = &["cp.async", "bar.", "isspacep"];
    insta::assert_snapshot!(report(SM_80, &kernels(SM_80, "copied_"), families));
}

// covers: CC-16, CPASYNC-10
#[test]
fn copies_of_sm_70() {
    let families = &["cp.async", "bar.", "st.shared"];
    insta::assert_snapshot!(report(SM_70, &kernels(SM_70, "copied_"), families));
}

// covers: MBAR-02, MBAR-03, MBAR-04, MBAR-10, CC-16
#[test]
fn split_barriers() {
    let of = |ptx| report(ptx, &["split_rounds"], &["mbarrier", "bar.", "membar"]);
    insta::assert_snapshot!(format!(
        "sm_70\n{}sm_80\n{}sm_90\n{}",
        of(SM_70),
        of(SM_80),
        of(SM_90)
    ));
}

const DPX: &[&str] = &[
    "add.s16x2",
    "add.u16x2",
    "max.",
    "min.relu",
    "min.s",
    "min.u16",
    "min.u32",
    "setp.eq.b16",
];

// covers: DPX-01, DPX-02, DPX-03
#[test]
fn dpx() {
    insta::assert_snapshot!(report(SM_90, &kernels(SM_90, "dpx_"), DPX));
}

// covers: CC-16
#[test]
fn dpx_of_sm_80() {
    insta::assert_snapshot!(report(SM_80, &kernels(SM_80, "dpx_"), DPX));
}

// covers: CG-10
#[test]
fn grid_barrier() {
    insta::assert_snapshot!(report(
        SM_90,
        &["arrive_and_wait"],
        &[
            "mov.u32 %r, %envreg",
            "bar.",
            "atom",
            "red",
            "ld.acquire",
            "ld.relaxed"
        ],
    ));
}

const HALF: &[&str] = &[
    "add.rn",
    "sub.rn",
    "mul.rn",
    "fma.rn",
    "neg",
    "abs",
    "min.f16",
    "max.f16",
    "min.bf16",
    "max.bf16",
    "setp.eq.f16",
    "setp.ne.f16",
    "setp.lt.f16",
    "setp.le.f16",
    "setp.gt.f16",
    "setp.ge.f16",
    "setp.eq.bf16",
    "setp.ne.bf16",
    "setp.lt.bf16",
    "setp.le.bf16",
    "setp.gt.bf16",
    "setp.ge.bf16",
    "cvt.r",
    "cvt.f32",
];

// covers: MATH-30, WMMA-09
#[test]
fn half() {
    insta::assert_snapshot!(report(
        SM_90,
        &[
            "f16_operation",
            "f16x2_operation",
            "bf16_operation",
            "bf16x2_operation",
            "f16_from_f32",
            "f16_to_others",
            "f16_from_integers",
            "bf16_conversions",
            "bf16_integers",
        ],
        HALF,
    ));
}

#[test]
fn half_of_older_architectures() {
    insta::assert_snapshot!(
        "half_of_sm_80",
        report(
            SM_80,
            &[
                "bf16_operation",
                "bf16x2_operation",
                "bf16_conversions",
                "f16x2_operation"
            ],
            HALF
        )
    );
    insta::assert_snapshot!(
        "half_of_sm_70",
        report(SM_70, &["f16_operation", "f16x2_operation"], HALF)
    );
}

// covers: WMMA-01, WMMA-02, WMMA-03, WMMA-05, WMMA-14
#[test]
fn matrix() {
    insta::assert_snapshot!(report(SM_90, &kernels(SM_90, "wmma_"), &["wmma"]));
}

#[test]
fn mma_and_ldmatrix() {
    let mut names = kernels(SM_90, "mma_");
    names.push("ldmatrix");
    insta::assert_snapshot!(report(SM_90, &names, &["mma", "ldmatrix"]));
}

/// Fragments stay in registers, and state spaces are found.
#[test]
fn fragments_use_no_local_memory() {
    for kernel in kernels(SM_90, "wmma_")
        .into_iter()
        .chain(kernels(SM_90, "mma_"))
    {
        let body = warpsmith_tests::ptx::instructions(SM_90, kernel);
        assert!(
            !body
                .iter()
                .any(|line| line.contains("%SP") || line.contains(".local")),
            "{kernel} uses local memory: {body:#?}"
        );
    }
    assert!(
        !SM_90.contains("space="),
        "a state space mark is left in the PTX"
    );
}

// covers: SYNC-01, SYNC-03, SYNC-04, SYNC-05, VOTE-01, VOTE-02, MATCH-01, MATCH-02, REDUX-01, REDUX-02, SHFL-01, SHFL-02, SHFL-03, SHFL-04
#[test]
fn warps_and_barriers() {
    insta::assert_snapshot!(report(
        SM_90,
        &[
            "warp_shuffles",
            "warp_shuffles_in_segments",
            "warp_votes",
            "warp_reductions",
            "warp_scans",
            "voting_barriers",
            "named_barriers",
            "diverged_barrier",
        ],
        &[
            "shfl",
            "vote",
            "match",
            "redux",
            "elect",
            "activemask",
            "bar.",
            "barrier",
            "mov.u32 %r, %lane"
        ],
    ));
}

#[test]
fn warps_of_sm_70() {
    insta::assert_snapshot!(report(
        SM_70,
        &["warp_votes", "warp_reductions"],
        &["shfl", "vote", "match", "redux", "elect"],
    ));
}

/// What the convergent operations of these kernels stand beside: the order is the point.
#[test]
fn convergent_operations_stay_where_they_are() {
    assert_snapshot_of_llvm!(report_in_order(
        SM_90,
        &[
            "shuffle_before_branch",
            "barriers_in_both_arms",
            "shuffles_in_a_loop",
        ],
        &["shfl", "bar", "bra", "@", "st.", "ld.shared"],
    ));
}

// covers: SPACE-10, SPACE-11, SPACE-12
#[test]
fn shared_memory() {
    assert_snapshot_of_llvm!(report(
        SM_90,
        &[
            "reverse",
            "tree_sum",
            "tile_columns",
            "rounds",
            "neighbours",
            "rotate_dynamic",
            "carve"
        ],
        &["ld.", "st.", "bar", "mov.u32 %r, %dynamic"],
    ));
}

// covers: LDST-01, LDST-02, LDST-03, VEC-03, ADDR-01, ADDR-02, ADDR-03, ADDR-04, CLOCK-01, SLEEP-01, DEBUG-01, DEBUG-07
#[test]
fn memory_and_clocks() {
    insta::assert_snapshot!(report(
        SM_90,
        &[
            "hinted_copies__u8",
            "hinted_copies__f64",
            "hinted_copies__Float4",
            "hinted_global_copies__u8",
            "hinted_global_copies__u16",
            "hinted_global_copies__f32",
            "hinted_global_copies__Float4",
            "filter",
            "spaces",
            "clocks",
            "thread_ends",
        ],
        &[
            "ld.",
            "st.",
            "isspacep",
            "cvta.to.s",
            "cvta.to.l",
            "cvta.s",
            "cvta.l",
            "mov.u32 %r, %clock",
            "mov.u64 %rd, %",
            "nanosleep",
            "pmevent",
            "brkpt",
            "cp.async",
            "exit"
        ],
    ));
}

// covers: MATH-01, MATH-02, MATH-04, MATH-25, MATH-26, MATH-27
#[test]
fn floats() {
    insta::assert_snapshot!(report(
        SM_90,
        &[
            "exact_floats__f32",
            "exact_floats__f64",
            "rounded_floats__f32",
            "rounded_floats__f64",
            "approximate_floats",
            "approximate_tanh",
        ],
        &[
            "add", "sub", "mul", "div", "fma", "rcp", "sqrt", "rsqrt", "cvt.r", "ex2", "lg2",
            "sin", "cos", "tanh"
        ],
    ));
}

// covers: SPACE-13, SPACE-15, VEC-05, LDST-05, LAUNCH-06, LAUNCH-07, LAUNCH-11, PRINTF-01
#[test]
fn parameters_and_output() {
    assert_snapshot_of_llvm!(report(
        SM_90,
        &[
            "saxpy",
            "squares",
            "parameters",
            "raw_copy_entry",
            "bounded",
            "frugal",
            "prints",
            "asserts",
            "traps"
        ],
        &[
            "ld.", "st.", "mul", "add.rn", "fma", "call", "trap", "exit", "mad"
        ],
    ));
}

/// Views compute addresses and nothing else; scattered elements are stored by relaxed instructions; a warp's row needs barriers of
/// the warp, after the block's first; what was not lent needs none before it is filled.
#[test]
fn views() {
    insta::assert_snapshot!(report(
        SM_90,
        &[
            "sum_per_warp",
            "rows_per_warp",
            "rows_per_block",
            "tiles_per_block",
            "positions",
            "scatter__u32",
            "scatter__f64",
            "scatter_once",
            "reverse_in_warps",
        ],
        &[
            "st.global",
            "st.relaxed",
            "atom",
            "bar",
            "ld.shared",
            "st.shared"
        ],
    ));
}

/// Behind `len32` an index is added and compared in 32 bits, and an address is one wide multiplication. The only other comparisons are those
/// of the lengths themselves, and that of `PerThread::mine`.
#[test]
fn indices_of_32_bits() {
    for (kernel, wide) in [
        ("saxpy32", 1),
        ("strided_dot32", 10),
        ("rows_per_warp32", 5),
    ] {
        let lines = selected(SM_90, kernel, &["mul.wide.u32 %rd, %r, 4", "shl.b64"]);
        let is_wide = |line: &&String| line.starts_with("mul.wide.u32 %rd, %r, 4");
        assert!(
            lines.iter().filter(is_wide).count() * 2 >= wide,
            "{kernel}: {lines:#?}"
        );
    }
    for (kernel, of_indices) in [("saxpy32", 1), ("strided_dot32", 1)] {
        let lines = selected(
            SM_90,
            kernel,
            &["setp.ge.u64", "setp.lt.u64", "setp.gt.u64", "setp.le.u64"],
        );
        let count = lines
            .iter()
            .filter(|line| line.ends_with("%rd, %rd"))
            .count();
        assert_eq!(count, of_indices, "{kernel}: {lines:#?}");
    }
}

// covers: TEX-02, SURF-04
#[test]
fn textures_and_surfaces() {
    let prefixes = [
        "fetch_",
        "elements__",
        "add_places_",
        "copy_texels__",
        "gather_",
        "ask_",
    ];
    let mut names: Vec<&str> = prefixes
        .into_iter()
        .flat_map(|prefix| kernels(SM_90, prefix))
        .collect();
    names.extend(["mirror_rows", "copy_bytes"]);
    insta::assert_snapshot!(report(
        SM_90,
        &names,
        &["tex", "tld4", "suld", "sust", "txq", "suq"]
    ));
}

// covers: VMM-42, VMM-43
#[test]
fn multicast() {
    insta::assert_snapshot!(report_in_order(
        SM_90,
        &[
            "multimem_u32",
            "multimem_i32",
            "multimem_u64",
            "multimem_i64",
            "multimem_f32",
            "multimem_f64",
            "multimem_f16x2",
            "multimem_bf16x2",
            "multimem_orders",
            "norm",
        ],
        &["multimem", "fence", "ld.acquire"],
    ));
}

/// A graph is launched by its handle and the named stream's; its own handle is in a special register.
// covers: DGRAPH-05, DGRAPH-06, DGRAPH-12
#[test]
fn launches_of_graphs() {
    insta::assert_snapshot!(report(
        SM_70,
        &["tail", "again", "fire", "sibling"],
        &["mov.u64", "st.param", "call", "cudaGraphLaunch"],
    ));
}

#[test]
fn an_unrolled_loop_leaves_no_loop_and_no_local_memory() {
    let local = ["ld.local", "st.local"];
    // The linker unrolls ordinary loops of the same shape by itself, as that makes all indices constant.
    assert_eq!(selected(SM_90, "looped_sums", &local), [""; 0]);
    assert_eq!(selected(SM_90, "unrolled_sums", &local), [""; 0]);
    // Each of the hundred sums has its multiply-add, in the one loop that is left: over the turns.
    let arithmetic = selected(SM_90, "unrolled_sums", &["fma.rn.f32", "mul.rn.f32"]);
    assert!(arithmetic.len() >= 99, "{}", arithmetic.len());
    let branches = selected(SM_90, "unrolled_sums", &["bra"]);
    assert!(branches.len() <= 3, "{branches:?}");
}

/// What a search has found is moved in registers, wherever it is.
#[test]
fn elements_that_are_moved_are_in_no_local_memory() {
    let local = ["ld.local", "st.local"];
    for kernel in ["inserted_least", "inserted_at_front"] {
        assert_eq!(selected(SM_90, kernel, &local), [""; 0], "{kernel}");
    }
}

/// A panic whose place and message are known is stores and an exit, once in each kernel; what needs formatting is a call.
#[test]
fn a_panic_at_a_known_place_is_no_call() {
    let count = |kernel: &str, family: &str| selected(SM_90, kernel, &[family]).len();
    for kernel in ["bounded", "frugal", "raw_copy_entry", "reverse"] {
        assert_eq!(count(kernel, "call"), 0, "{kernel}");
    }
    // Three checks, and one claim of a record: of its word, and of the last launch's.
    assert_eq!(count("bounded", "atom.relaxed.sys.global.exch.b32"), 1);
    assert_eq!(count("bounded", "atom.acq_rel.sys.global.cas.b32"), 1);
    // The host finds each check's place in the signature.
    let (_, signature) = SM_90
        .split_once("\n// kernel bounded ")
        .expect("it is signed");
    let places = signature.lines().skip(1);
    let places = places.take_while(|line| line.starts_with("// panic "));
    let checks = places.filter(|line| line.contains("the%20index%20is%20%02"));
    assert_eq!(checks.count(), 3);
}
