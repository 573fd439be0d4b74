//! Copies between arrays and all other memory, by calls and by nodes of graphs.

use super::*;

// covers: SURF-02
#[test]
fn copies_must_lie_in_the_array() {
    let _turn = turn();
    gpu();
    let array = array([8, 4, 2], U32, 1);
    fill(array, [32, 4, 2], &pattern(256));
    let mut data = [0u8; 256];
    let mut attempt = |extents, [x, y, z]: [usize; 3], level| {
        let copy = CUDA_MEMCPY3D {
            srcXInBytes: x,
            srcY: y,
            srcZ: z,
            srcLOD: level,
            ..from_array(copy_of(extents), array)
        };
        // SAFETY: the host's memory has as many bytes as are copied at most.
        unsafe { cuMemcpy3D_v2(&to_host(copy, &mut data)) }.0
    };
    assert_eq!(attempt([32, 4, 2], [0, 0, 0], 0), 0);
    assert_eq!(attempt([4, 1, 1], [28, 3, 1], 0), 0);
    // Within a texel.
    assert_eq!(attempt([4, 1, 1], [2, 0, 0], 0), 0);
    for (extents, at) in [
        ([36, 1, 1], [0, 0, 0]),
        ([32, 1, 1], [4, 0, 0]),
        ([4, 1, 1], [32, 0, 0]),
        ([4, 2, 1], [0, 3, 0]),
        ([4, 1, 2], [0, 0, 1]),
    ] {
        assert_eq!(attempt(extents, at, 0), 1, "{extents:?} at {at:?}");
    }
    // A real driver may follow these.
    if gpu() == Backend::Simulator {
        assert_eq!(attempt([4, 1, 1], [usize::MAX - 3, 0, 0], 0), 1);
        assert_eq!(attempt([4, 1, 1], [0, usize::MAX, 0], 0), 1);
        assert_eq!(attempt([4, 1, 1], [0, 0, 0], 1), 1, "there are no levels");
    }
    ok!(cuArrayDestroy(array));
}

#[test]
fn rows_of_flat_arrays_have_functions_of_their_own() {
    let _turn = turn();
    gpu();
    let stream = stream();
    let (one, two) = (bytes(64, 0), bytes(64, 0));
    let data = pattern(64);
    ok!(cuMemcpyHtoA_v2(one, 0, data.as_ptr().cast(), 64));
    ok!(cuMemcpyAtoA_v2(two, 0, one, 0, 64));
    ok!(cuMemcpyAtoA_v2(two, 8, one, 40, 16));
    let memory = upload(&[0u8; 64]);
    ok!(cuMemcpyAtoD_v2(memory + 4, two, 4, 60));
    let mut expected = data.clone();
    expected.copy_within(40..56, 8);
    assert_eq!(download::<u8>(memory, 64)[4..], expected[4..]);
    ok!(cuMemcpyDtoA_v2(one, 32, memory + 4, 32));
    let mut back = [0u8; 64];
    ok!(cuMemcpyAtoH_v2(back.as_mut_ptr().cast(), one, 0, 64));
    assert_eq!((&back[..32], &back[32..]), (&data[..32], &expected[4..36]));
    // Asynchronous ones, with page-locked memory.
    let locked = pinned::<u8>(128);
    // SAFETY: page-locked memory of this size, and nothing is running.
    unsafe { locked.copy_from(data.as_ptr(), 64) };
    ok!(cuMemcpyHtoAAsync_v2(two, 0, locked.cast(), 64, stream));
    // SAFETY: the second half of the memory.
    let second = unsafe { locked.add(64) };
    ok!(cuMemcpyAtoHAsync_v2(second.cast(), two, 0, 64, stream));
    ok!(cuStreamSynchronize(stream));
    // SAFETY: page-locked memory of this size, and nothing is running.
    assert_eq!(unsafe { core::slice::from_raw_parts(second, 64) }, data);
    fails!(1, cuMemcpyHtoA_v2(one, 1, data.as_ptr().cast(), 64));
    fails!(1, cuMemcpyAtoH_v2(back.as_mut_ptr().cast(), one, 65, 1));
    ok!(cuMemFree_v2(memory));
    ok!(cuMemFreeHost(locked.cast()));
    ok!(cuArrayDestroy(one));
    ok!(cuArrayDestroy(two));
    ok!(cuStreamDestroy_v2(stream));
}

const VARIABLE: &str = ptx!(
    "7.8",
    "sm_90",
    "
.visible .global .align 16 .b8 symbol[256];
\0"
);

/// Where the rows of a rectangle lie.
#[derive(Clone, Copy, Debug)]
enum Place {
    Host(*mut u8, usize),
    Device(CUdeviceptr, usize),
    Array(CUarray),
}

/// A rectangle of 5 rows of 12 bytes, from byte 4 of row 2 on, in each of them.
fn rectangle(from: Place, to: Place) -> CUDA_MEMCPY2D {
    let mut copy = CUDA_MEMCPY2D {
        srcXInBytes: 4,
        srcY: 2,
        dstXInBytes: 4,
        dstY: 2,
        WidthInBytes: 12,
        Height: 5,
        ..Default::default()
    };
    match from {
        Place::Host(address, pitch) => {
            copy.srcMemoryType = HOST;
            copy.srcHost = address.cast();
            copy.srcPitch = pitch;
        }
        Place::Device(address, pitch) => {
            copy.srcMemoryType = DEVICE;
            copy.srcDevice = address;
            copy.srcPitch = pitch;
        }
        Place::Array(array) => {
            copy.srcMemoryType = ARRAY;
            copy.srcArray = array;
        }
    }
    match to {
        Place::Host(address, pitch) => {
            copy.dstMemoryType = HOST;
            copy.dstHost = address.cast();
            copy.dstPitch = pitch;
        }
        Place::Device(address, pitch) => {
            copy.dstMemoryType = DEVICE;
            copy.dstDevice = address;
            copy.dstPitch = pitch;
        }
        Place::Array(array) => {
            copy.dstMemoryType = ARRAY;
            copy.dstArray = array;
        }
    }
    copy
}

// covers: MEM-07, MEM-06, SURF-02
#[test]
fn rectangles_go_between_all_kinds_of_memory() {
    let _turn = turn();
    gpu();
    let stream = stream();
    let mut plain = vec![0u8; 20 * 8];
    let locked = pinned::<u8>(24 * 8);
    let (mut pitched, mut pitch) = (0, 0);
    ok!(cuMemAllocPitch_v2(&mut pitched, &mut pitch, 16, 8, 4));
    let linear = upload(&[0u8; 28 * 8]);
    let (mut symbol, mut size) = (0, 0);
    let module: CUmodule = get!(cuModuleLoadData(VARIABLE.as_ptr().cast()));
    ok!(cuModuleGetGlobal_v2(
        &mut symbol,
        &mut size,
        module,
        c"symbol".as_ptr()
    ));
    assert_eq!(size, 32 * 8);
    let (one, two) = (array([4, 8, 0], U32, 1), array([4, 8, 0], FORMATS[1].0, 2));
    for array in [one, two] {
        fill(array, [16, 8, 1], &[0; 128]);
    }
    let places = [
        Place::Host(plain.as_mut_ptr(), 20),
        Place::Host(locked, 24),
        Place::Device(linear, 28),
        Place::Device(pitched, pitch),
        Place::Device(symbol, 32),
        Place::Array(one),
        Place::Array(two),
    ];
    // An asynchronous copy's ordinary memory must stay until it is done, which the wait for the stream says.
    let go = |how: usize, copy: &CUDA_MEMCPY2D| match how % 3 {
        0 => ok!(cuMemcpy2D_v2(copy)),
        1 => ok!(cuMemcpy2DUnaligned_v2(copy)),
        _ => {
            ok!(cuMemcpy2DAsync_v2(copy, stream));
            ok!(cuStreamSynchronize(stream));
        }
    };
    for (i, &from) in places.iter().enumerate() {
        for (j, &to) in places.iter().enumerate().filter(|(j, _)| *j != i) {
            let mut mark: Vec<u8> = pattern(16 * 8)
                .iter()
                .map(|b| b ^ (7 * i + j) as u8)
                .collect();
            go(i + j, &rectangle(Place::Host(mark.as_mut_ptr(), 16), from));
            ok!(cuStreamSynchronize(null_mut()));
            go(i + j + 1, &rectangle(from, to));
            // Within the device no function waits for the copy.
            ok!(cuStreamSynchronize(null_mut()));
            let mut back = vec![0xeeu8; 16 * 8];
            go(
                i + j + 2,
                &rectangle(to, Place::Host(back.as_mut_ptr(), 16)),
            );
            for row in 0..8 {
                for byte in 0..16 {
                    let at = 16 * row + byte;
                    let inside = (2..7).contains(&row) && (4..16).contains(&byte);
                    let expected = if inside { mark[at] } else { 0xee };
                    assert_eq!(
                        back[at], expected,
                        "{from:?} to {to:?}: byte {byte} of row {row}"
                    );
                }
            }
        }
    }
    ok!(cuArrayDestroy(one));
    ok!(cuArrayDestroy(two));
    ok!(cuModuleUnload(module));
    ok!(cuMemFree_v2(pitched));
    ok!(cuMemFree_v2(linear));
    ok!(cuMemFreeHost(locked.cast()));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn copies_of_arrays_are_captured_and_are_nodes() {
    let _turn = turn();
    gpu();
    let stream = stream();
    let (one, two) = (bytes(16, 4), bytes(16, 4));
    fill(one, [16, 4, 1], &pattern(64));
    fill(two, [16, 4, 1], &[0; 64]);
    ok!(cuStreamBeginCapture_v2(
        stream,
        CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED
    ));
    let copy = CUDA_MEMCPY3D {
        srcXInBytes: 4,
        srcY: 1,
        dstXInBytes: 2,
        dstY: 2,
        srcPitch: 0,
        srcHeight: 0,
        dstPitch: 0,
        dstHeight: 0,
        ..to_array(from_array(copy_of([8, 2, 1]), one), two)
    };
    ok!(cuMemcpy3DAsync_v2(&copy, stream));
    let graph: CUgraph = {
        let mut graph = null_mut();
        ok!(cuStreamEndCapture(stream, &mut graph));
        graph
    };
    let (mut node, mut count) = (null_mut(), 1);
    ok!(cuGraphGetNodes(graph, &mut node, &mut count));
    assert_eq!(count, 1);
    let is: CUDA_MEMCPY3D = get_node(node);
    assert_eq!((is.srcMemoryType, is.dstMemoryType), (ARRAY, ARRAY));
    assert_eq!((is.srcArray, is.dstArray), (one, two));
    assert_eq!(
        [is.srcXInBytes, is.srcY, is.dstXInBytes, is.dstY],
        [4, 1, 2, 2]
    );
    assert_eq!([is.WidthInBytes, is.Height, is.Depth], [8, 2, 1]);
    let exec: CUgraphExec = get!(cuGraphInstantiateWithFlags(graph, 0));
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    let (from, to) = (pattern(64), contents(two, [16, 4, 1]));
    assert_eq!(to[34..42], from[20..28]);
    assert_eq!(to[50..58], from[36..44]);
    assert!(to[..34].iter().chain(&to[58..]).all(|&byte| byte == 0));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    ok!(cuArrayDestroy(one));
    ok!(cuArrayDestroy(two));
    ok!(cuStreamDestroy_v2(stream));
}

fn get_node(node: CUgraphNode) -> CUDA_MEMCPY3D {
    let mut is = CUDA_MEMCPY3D::default();
    ok!(cuGraphMemcpyNodeGetParams(node, &mut is));
    is
}

/// A real driver does not notice.
#[test]
fn a_graph_that_copies_to_an_array_that_is_gone_is_a_fault() {
    if in_child(&[("WARPSMITH_REPORT", "0")]).is_some() {
        return;
    }
    let _turn = turn();
    gpu();
    let (stream, array, data) = (stream(), bytes(16, 0), pattern(16));
    let (mut graph, mut node) = (null_mut(), null_mut());
    ok!(cuGraphCreate(&mut graph, 0));
    let copy = to_array(from_host(copy_of([16, 1, 1]), &data), array);
    let context: CUcontext = get!(cuCtxGetCurrent());
    ok!(cuGraphAddMemcpyNode(
        &mut node,
        graph,
        null(),
        0,
        &copy,
        context
    ));
    let exec: CUgraphExec = get!(cuGraphInstantiateWithFlags(graph, 0));
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    ok!(cuArrayDestroy(array));
    ok!(cuGraphLaunch(exec, stream));
    fails!(700, cuStreamSynchronize(stream));
    let fault = warpsmith_driver::fault(null_mut()).expect("a fault");
    assert!(
        fault
            .message
            .contains("a CUDA array that had been destroyed"),
        "{fault}"
    );
}

/// A GPU does not tell.
#[test]
fn texels_that_nothing_has_written_are_named_when_they_are_copied_out() {
    let Some(printed) = in_child(&[]) else {
        gpu();
        let (one, two) = (bytes(16, 4), bytes(16, 4));
        // All but one byte.
        fill(one, [16, 3, 1], &pattern(48));
        let mut last = to_array(from_host(copy_of([15, 1, 1]), &pattern(15)), one);
        last.dstY = 3;
        ok!(cuMemcpy3D_v2(&last));
        contents(one, [16, 3, 1]);
        println!("so far nothing");
        // A copy to another array tells nothing, but what is not known stays so.
        let whole = copy_of([16, 4, 1]);
        ok!(cuMemcpy3D_v2(&to_array(from_array(whole, one), two)));
        contents(two, [16, 4, 1]);
        contents(two, [16, 4, 1]);
        ok!(cuArrayDestroy(one));
        ok!(cuArrayDestroy(two));
        return;
    };
    let named =
        "reads texels of a CUDA array (16 x 4 texels of 1 bytes each) that nothing has written";
    assert_eq!(
        printed.matches("nothing has written").count(),
        1,
        "{printed}"
    );
    assert!(printed.contains(named), "{printed}");
    assert!(printed.contains("byte 15 of row 3 of slice 0"), "{printed}");
}
