//! A matrix product by `wgmma`, with a warpgroup that copies and one that multiplies, which take registers from each other
//! (`setmaxnreg`): on the simulator, and on a device of compute capability 9.0.

use crate::common::*;
use warpsmith_testkit::Random;
use warpsmith_testkit::wgmma::encode;

/// Rows and columns of D, and the depth: of two by two blocks, each 64 by 16.
const ROWS: usize = 128;
const COLUMNS: usize = 32;
const DEPTH: usize = 80;

/// D = A * B: A row by row, B column by column, of f16; D row by row, of f32.
///
/// The second warpgroup copies 16 places of A and B along k at a time into shared memory, as tiles of 8 lines by 16 bytes, and gives
/// registers away; the first takes them and multiplies. Barrier 1: the tiles are there; barrier 2: they have been read.
const PTX: &core::ffi::CStr = c"
.version 8.0
.target sm_90a
.address_size 64

.visible .entry gemm(.param .u64 a, .param .u64 b, .param .u64 d, .param .u32 depth, .param .u32 columns)
.reqntid 256
.maxnreg 128
{
    .shared .align 128 .b8 tile_a[2048];
    .shared .align 128 .b8 tile_b[512];
    .reg .b32 %x, %warp, %lane, %depth, %columns, %k, %row, %chunk, %at, %from, %v<4>, %c<8>, %t<4>;
    .reg .b64 %a, %b, %d, %p, %da, %db, %w;
    .reg .pred %copies, %copies_b, %more, %last, %yes;

    ld.param.u64 %a, [a];
    ld.param.u64 %b, [b];
    ld.param.u64 %d, [d];
    ld.param.u32 %depth, [depth];
    ld.param.u32 %columns, [columns];
    mov.u32 %x, %tid.x;
    mov.u32 %k, 0;
    setp.ge.u32 %copies, %x, 128;
    @%copies bra copy;

    setmaxnreg.inc.sync.aligned.u32 216;
    mov.b32 %c0, 0; mov.b32 %c1, 0; mov.b32 %c2, 0; mov.b32 %c3, 0;
    mov.b32 %c4, 0; mov.b32 %c5, 0; mov.b32 %c6, 0; mov.b32 %c7, 0;
    // Both: 128 bytes from tile to tile along k, 256 bytes to the next eight lines.
    mov.u32 %t0, tile_a;
    shr.u32 %t0, %t0, 4;
    cvt.u64.u32 %da, %t0;
    or.b64 %da, %da, 0x1000080000;
    mov.u32 %t0, tile_b;
    shr.u32 %t0, %t0, 4;
    cvt.u64.u32 %db, %t0;
    or.b64 %db, %db, 0x1000080000;
    setp.eq.u32 %yes, %x, %x;
multiply:
    bar.sync 1, 256;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7}, %da, %db, %yes, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    add.u32 %k, %k, 16;
    setp.ge.u32 %last, %k, %depth;
    @%last bra write;
    bar.arrive 2, 256;
    bra multiply;
write:
    shr.u32 %warp, %x, 5;
    and.b32 %lane, %x, 31;
    // The row of the first four elements, the column of the first.
    mov.u32 %t0, %ctaid.y;
    shl.b32 %t0, %t0, 6;
    shl.b32 %t1, %warp, 4;
    add.u32 %t0, %t0, %t1;
    shr.u32 %t1, %lane, 2;
    add.u32 %row, %t0, %t1;
    mov.u32 %t0, %ctaid.x;
    shl.b32 %t0, %t0, 4;
    and.b32 %t1, %lane, 3;
    shl.b32 %t1, %t1, 1;
    add.u32 %at, %t0, %t1;
    mad.lo.u32 %at, %row, %columns, %at;
    mad.wide.u32 %p, %at, 4, %d;
    mul.wide.u32 %w, %columns, 32;
    add.u64 %w, %p, %w;
    st.global.v2.b32 [%p], {%c0, %c1};
    st.global.v2.b32 [%w], {%c2, %c3};
    st.global.v2.b32 [%p+32], {%c4, %c5};
    st.global.v2.b32 [%w+32], {%c6, %c7};
    ret;

copy:
    setmaxnreg.dec.sync.aligned.u32 40;
    sub.u32 %x, %x, 128;
    setp.lt.u32 %copies_b, %x, 32;
    // A line, and its half of the 16 places.
    shr.u32 %row, %x, 1;
    and.b32 %chunk, %x, 1;
    shr.u32 %t0, %row, 3;
    shl.b32 %t0, %t0, 8;
    shl.b32 %t1, %chunk, 7;
    add.u32 %t0, %t0, %t1;
    and.b32 %t1, %row, 7;
    shl.b32 %t1, %t1, 4;
    add.u32 %at, %t0, %t1;
    mov.u32 %t0, %ctaid.y;
    shl.b32 %t0, %t0, 6;
    add.u32 %t0, %t0, %row;
    mul.lo.u32 %t0, %t0, %depth;
    shl.b32 %t1, %chunk, 3;
    add.u32 %t0, %t0, %t1;
    mad.wide.u32 %a, %t0, 2, %a;
    mov.u32 %t0, %ctaid.x;
    shl.b32 %t0, %t0, 4;
    add.u32 %t0, %t0, %row;
    mul.lo.u32 %t0, %t0, %depth;
    add.u32 %t0, %t0, %t1;
    mad.wide.u32 %b, %t0, 2, %b;
    mov.u32 %t2, tile_a;
    add.u32 %t2, %t2, %at;
    mov.u32 %t3, tile_b;
    add.u32 %t3, %t3, %at;
fill:
    ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%a];
    st.shared.v4.b32 [%t2], {%v0, %v1, %v2, %v3};
    @%copies_b ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%b];
    @%copies_b st.shared.v4.b32 [%t3], {%v0, %v1, %v2, %v3};
    fence.proxy.async.shared::cta;
    bar.arrive 1, 256;
    add.u64 %a, %a, 32;
    add.u64 %b, %b, 32;
    add.u32 %k, %k, 16;
    setp.lt.u32 %more, %k, %depth;
    @!%more bra done;
    bar.sync 2, 256;
    bra fill;
done:
    ret;
}
";

/// Small whole numbers, whose products and sums are exact.
fn numbers(random: &mut Random, count: usize) -> Vec<i32> {
    (0..count).map(|_| random.below(8) as i32 - 4).collect()
}

#[test]
fn a_product_with_a_warpgroup_that_copies() {
    // covers: CC-15
    gpu();
    let attribute = |number| -> c_int { get!(cuDeviceGetAttribute(CUdevice_attribute(number), 0)) };
    if (attribute(75), attribute(76)) != (9, 0) {
        eprintln!("skipped: wgmma and setmaxnreg are of compute capability 9.0");
        return;
    }
    let module: CUmodule = get!(cuModuleLoadData(PTX.as_ptr().cast()));
    let function: CUfunction = get!(cuModuleGetFunction(module, c"gemm".as_ptr()));
    let mut random = Random::new(15);
    let a = numbers(&mut random, ROWS * DEPTH);
    let b = numbers(&mut random, COLUMNS * DEPTH);
    let halves = |values: &[i32]| -> Vec<u16> {
        values
            .iter()
            .map(|&value| encode("f16", value) as u16)
            .collect()
    };
    let buffers = [
        upload(&halves(&a)),
        upload(&halves(&b)),
        upload(&vec![f32::NAN; ROWS * COLUMNS]),
    ];
    let (mut addresses, mut depth, mut columns) = (buffers, DEPTH as u32, COLUMNS as u32);
    let [pa, pb, pd] = addresses.each_mut().map(|a| (&raw mut *a).cast::<c_void>());
    let mut parameters = [
        pa,
        pb,
        pd,
        (&raw mut depth).cast(),
        (&raw mut columns).cast(),
    ];
    ok!(cuLaunchKernel(
        function,
        (COLUMNS / 16) as u32,
        (ROWS / 64) as u32,
        1,
        256,
        1,
        1,
        0,
        null_mut(),
        parameters.as_mut_ptr(),
        null_mut()
    ));
    ok!(cuCtxSynchronize());
    let got: Vec<f32> = download(buffers[2], ROWS * COLUMNS);
    for row in 0..ROWS {
        for column in 0..COLUMNS {
            let products = (0..DEPTH).map(|k| a[row * DEPTH + k] * b[column * DEPTH + k]);
            let want = products.sum::<i32>() as f32;
            assert_eq!(
                got[row * COLUMNS + column],
                want,
                "row {row}, column {column}"
            );
        }
    }
    for buffer in buffers {
        ok!(cuMemFree_v2(buffer));
    }
    ok!(cuModuleUnload(module));
}
