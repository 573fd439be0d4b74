//! Surface accesses in kernels: which texel, and what is refused.

use crate::common::texels::*;
use crate::common::*;
use warpsmith_abi::fault::FaultKind;
use warpsmith_testkit::{Side, own_process};

#[test]
fn outside_a_surface_are_nothing_or_the_nearest_texel() {
    // covers: SURF-05
    let _turn = turn();
    gpu();
    let texels: Vec<u32> = (1..=8).collect();
    let array = filled([8, 0, 0], U32, CUDA_ARRAY3D_SURFACE_LDST, &texels);
    let at: Vec<[u32; 4]> = [-4_i32, 0, 28, 32]
        .map(|x| [x.cast_unsigned(), 0, 0, 0])
        .to_vec();
    let read = |mode: &str| -> Vec<u32> {
        let body = format!("suld.b.1d.b32.{mode} %v0, [%o, {{%c0}}];");
        let found = run(&body, surface(array), &at);
        found.iter().map(|texel| texel[0]).collect()
    };
    assert_eq!(read("clamp"), [1, 1, 8, 8]);
    assert_eq!(read("zero"), [0, 1, 8, 0]);
    // A write outside is dropped.
    let body = "mov.b32 %v1, 77; sust.b.1d.b32.zero [%o, {%c0}], %v1;";
    run(body, surface(array), &at[..1]);
    run(body, surface(array), &at[3..]);
    assert_eq!(read("clamp"), [1, 1, 8, 8]);
    run(
        "mov.b32 %v1, 77; sust.b.1d.b32.clamp [%o, {%c0}], %v1;",
        surface(array),
        &at[3..],
    );
    assert_eq!(read("clamp"), [1, 1, 77, 77]);
}

#[test]
fn surface_x_counts_bytes() {
    let _turn = turn();
    gpu();
    let texels = numbers(4 * 3 * 2);
    let array = array_of([4, 3, 2], F32, 1, CUDA_ARRAY3D_SURFACE_LDST);
    let at: Vec<[u32; 4]> = (0..24)
        .map(|i| [i % 4, i / 4 % 3, i / 12, texels[i as usize].to_bits()])
        .collect();
    let store = "shl.b32 %v0, %c0, 2; sust.b.3d.b32.trap [%o, {%v0, %c1, %c2, %c2}], %c3;";
    run(store, surface(array), &at);
    let floats: Vec<_> = at
        .iter()
        .map(|at| [at[0] as f32, at[1] as f32, at[2] as f32])
        .collect();
    compare(
        "stored",
        &floats,
        &fetched("3d", texture(array, CLAMP, POINT, 0), &floats),
        &texels,
        0,
    );
    let load = "shl.b32 %v1, %c0, 2; suld.b.3d.b32.trap %v0, [%o, {%v1, %c1, %c2, %c2}];";
    let found: Vec<_> = run(load, surface(array), &at)
        .iter()
        .map(|v| f32::from_bits(v[0]))
        .collect();
    compare("loaded", &floats, &found, &texels, 0);
    let pairs = run(
        "suld.b.3d.v2.b32.trap {%v0, %v1}, [%o, {8, 1, 1, 0}];",
        surface(array),
        &at[..1],
    );
    assert_eq!(pairs[0][..2], [texels[18].to_bits(), texels[19].to_bits()]);
}

#[test]
fn a_surface_access_behind_the_last_byte_traps() {
    trapped(32, 700, FaultKind::IllegalAddress);
}

#[test]
fn a_surface_access_before_the_first_byte_traps() {
    trapped(-4, 700, FaultKind::IllegalAddress);
}

#[test]
fn a_surface_access_at_a_byte_inside_of_a_texel_traps() {
    trapped(1, 716, FaultKind::MisalignedAddress);
}

/// Reads at this byte of a surface of 8 words, in a process of its own; it has to fail with this code, and in the simulator as this.
fn trapped(at: i32, code: u32, kind: FaultKind) {
    let Side::Child = own_process(&[]) else {
        return;
    };
    let backend = gpu();
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let texels: Vec<u32> = (1..=8).collect();
    let array = filled([8, 0, 0], U32, CUDA_ARRAY3D_SURFACE_LDST, &texels);
    let body = "suld.b.1d.b32.trap %v0, [%o, {%c0}];";
    let result = launch(body, surface(array), &[[at.cast_unsigned(), 0, 0, 0]]).0;
    expect_fault(backend, context, result, code, kind);
}
