//! Mipmapped arrays of memory that another program interface made (CUDA C++ Programming Guide, "External Resource Interoperability").
//!
//! How a GPU's driver lays texels out is known to it and to the exporter alone, so only the simulator's layout is compared with bytes.

use std::os::fd::OwnedFd;

use crate::common::external::*;
use crate::common::texels::*;
use crate::common::*;
use warpsmith_abi::fault::FaultKind;

const WIDTH: usize = 8;
const HEIGHT: usize = 4;
const LEVELS: u32 = 3;
/// Texels of three levels of 8 x 4.
const TEXELS: usize = 32 + 8 + 2;

fn described(offset: usize, extents: [usize; 3], flags: u32) -> Wish {
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC {
        offset: offset as u64,
        arrayDesc: CUDA_ARRAY3D_DESCRIPTOR {
            Width: extents[0],
            Height: extents[1],
            Depth: extents[2],
            Format: F32,
            NumChannels: 1,
            Flags: flags,
        },
        numLevels: LEVELS,
        reserved: [0; 16],
    }
}

type Wish = CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC;

fn map(memory: CUexternalMemory, wish: &Wish) -> CUmipmappedArray {
    get!(cuExternalMemoryGetMappedMipmappedArray(memory, wish))
}

fn level(array: CUmipmappedArray, level: u32) -> CUarray {
    get!(cuMipmappedArrayGetLevel(array, level))
}

fn read(array: CUarray) -> Vec<f32> {
    let is: CUDA_ARRAY3D_DESCRIPTOR = get!(cuArray3DGetDescriptor_v2(array));
    contents(array, [is.Width, is.Height, is.Depth])
}

/// Texels of the exporter.
fn exported(file: &OwnedFd, offset: usize, count: usize) -> Vec<f32> {
    let mut bytes = vec![0; count * size_of::<f32>()];
    let read = rustix::io::pread(file, &mut bytes, offset as u64).expect("it is open");
    assert_eq!(read, bytes.len());
    let words = bytes.as_chunks().0;
    words.iter().map(|&word| f32::from_ne_bytes(word)).collect()
}

fn put(file: &OwnedFd, offset: usize, texels: &[f32]) {
    let bytes: Vec<u8> = texels
        .iter()
        .flat_map(|texel| texel.to_ne_bytes())
        .collect();
    let written = rustix::io::pwrite(file, &bytes, offset as u64).expect("it is open");
    assert_eq!(written, bytes.len());
}

fn mipmapped_texture(array: CUmipmappedArray) -> CUtexObject {
    let mut resource = CUDA_RESOURCE_DESC {
        resType: CUresourcetype::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
        ..Default::default()
    };
    resource.res.mipmap.hMipmappedArray = array;
    let sampling = CUDA_TEXTURE_DESC {
        addressMode: [CLAMP; 3],
        flags: CU_TRSF_NORMALIZED_COORDINATES,
        maxMipmapLevelClamp: 9.0,
        ..Default::default()
    };
    get!(cuTexObjectCreate(&resource, &sampling, null()))
}

const FETCH: &str = "tex.level.2d.v4.f32.f32 {%v0, %v1, %v2, %v3}, [%o, {%c0, %c1}], %c2;";

/// The texel of the first row and column of each level.
fn corners(object: CUtexObject) -> Vec<f32> {
    let at: Vec<_> = (0..LEVELS)
        .map(|level| [0.01, 0.01, level as f32, 0.0].map(f32::to_bits))
        .collect();
    let texels = run(FETCH, object, &at);
    texels
        .iter()
        .map(|texel| f32::from_bits(texel[0]))
        .collect()
}

// covers: INTEROP-07
#[test]
fn levels_follow_each_other_in_the_memory() {
    let _turn = turn();
    if gpu() != Backend::Simulator {
        return;
    }
    let exporter = file("external-levels", BYTES);
    let memory = import(exporter.try_clone().expect("there is room"), BYTES);
    let texels = numbers(TEXELS);
    put(&exporter, PAGE, &texels);
    let wish = described(PAGE, [WIDTH, HEIGHT, 0], CUDA_ARRAY3D_SURFACE_LDST);
    let whole = map(memory, &wish);
    assert_eq!(read(level(whole, 0)), texels[..32]);
    assert_eq!(read(level(whole, 1)), texels[32..40]);
    assert_eq!(read(level(whole, 2)), texels[40..]);
    let object = mipmapped_texture(whole);
    assert_eq!(corners(object), [1.0, 33.0, 41.0]);

    // What copies and surfaces write, the exporter sees.
    fill(level(whole, 1), [4, 2, 0], &[7.0_f32; 8]);
    let target = surface(level(whole, 2));
    run(
        "sust.b.2d.b32.trap [%o, {%c0, %c1}], {%c2};",
        target,
        &[[4, 0, 9.5_f32.to_bits(), 0]],
    );
    let found = exported(&exporter, PAGE, TEXELS + 1);
    assert_eq!(found[..32], texels[..32]);
    assert_eq!(
        found[32..],
        [7.0, 7.0, 7.0, 7.0, 7.0, 7.0, 7.0, 7.0, 41.0, 9.5, 0.0]
    );
    // A buffer of the same memory, too.
    let part = CUDA_EXTERNAL_MEMORY_BUFFER_DESC {
        offset: PAGE as u64,
        size: (4 * TEXELS) as u64,
        ..Default::default()
    };
    let buffer: CUdeviceptr = get!(cuExternalMemoryGetMappedBuffer(memory, &part));
    assert_eq!(download::<f32>(buffer, TEXELS), found[..TEXELS]);
    ok!(cuMemFree_v2(buffer));
    ok!(cuTexObjectDestroy(object));
    ok!(cuSurfObjectDestroy(target));
    ok!(cuMipmappedArrayDestroy(whole));
    fails!(400, cuMipmappedArrayDestroy(whole));
    // The memory is there for the next one.
    let again = map(memory, &described(PAGE, [WIDTH, HEIGHT, 0], 0));
    assert_eq!(read(level(again, 1)), [7.0; 8]);
    ok!(cuMipmappedArrayDestroy(again));
    ok!(cuDestroyExternalMemory(memory));
}

// covers: INTEROP-07
#[test]
fn layers_are_in_each_level() {
    let _turn = turn();
    if gpu() != Backend::Simulator {
        return;
    }
    let exporter = file("external-layers", BYTES);
    let memory = import(exporter.try_clone().expect("there is room"), BYTES);
    // Two levels of three layers of 4 x 2, and cubes that another interface draws to.
    let texels = numbers(24 + 6);
    put(&exporter, 0, &texels);
    let mut wish = described(0, [4, 2, 3], CUDA_ARRAY3D_LAYERED);
    wish.numLevels = 2;
    let layers = map(memory, &wish);
    assert_eq!(read(level(layers, 0)), texels[..24]);
    assert_eq!(read(level(layers, 1)), texels[24..]);
    let flags = CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_COLOR_ATTACHMENT;
    wish.arrayDesc.Flags = flags;
    (wish.arrayDesc.Height, wish.arrayDesc.Depth) = (4, 6);
    let cube = map(memory, &wish);
    let is: CUDA_ARRAY3D_DESCRIPTOR = get!(cuArray3DGetDescriptor_v2(level(cube, 1)));
    assert_eq!((is.Width, is.Height, is.Depth, is.Flags), (2, 2, 6, flags));
    assert_eq!(read(level(cube, 0))[..30], texels);
    ok!(cuMipmappedArrayDestroy(cube));
    ok!(cuMipmappedArrayDestroy(layers));
    ok!(cuDestroyExternalMemory(memory));
}

// covers: INTEROP-07
#[test]
fn an_array_outlives_its_memory_only_to_be_destroyed() {
    let _turn = turn();
    if gpu() != Backend::Simulator {
        return;
    }
    let memory = import(file("external-outlived-array", BYTES), BYTES);
    let whole = map(memory, &described(0, [WIDTH, HEIGHT, 0], 0));
    let first = level(whole, 0);
    let object = mipmapped_texture(whole);
    assert_eq!(corners(object), [0.0; 3]);
    ok!(cuDestroyExternalMemory(memory));
    let mut none = null_mut();
    fails!(
        400,
        cuExternalMemoryGetMappedMipmappedArray(&mut none, memory, &described(0, [8, 4, 0], 0))
    );
    fails!(1, cuMipmappedArrayGetLevel(&mut none.cast(), whole, 0));
    let mut texels = [0.0_f32; 8];
    fails!(1, cuMemcpyAtoH_v2(texels.as_mut_ptr().cast(), first, 0, 32));
    let mut none = 0;
    fails!(1, cuSurfObjectCreate(&mut none, &resource(first)));
    ok!(cuMipmappedArrayDestroy(whole));
    fails!(400, cuMipmappedArrayDestroy(whole));
}

// covers: INTEROP-07
#[test]
fn a_fetch_from_memory_that_was_destroyed_is_a_fault() {
    let _turn = turn();
    let backend = gpu();
    if backend != Backend::Simulator {
        return;
    }
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let memory = import(file("external-fetched", BYTES), BYTES);
    let whole = map(memory, &described(0, [WIDTH, HEIGHT, 0], 0));
    let object = mipmapped_texture(whole);
    ok!(cuDestroyExternalMemory(memory));
    let (result, _) = launch(FETCH, object, &[[0; 4]]);
    expect_fault(backend, context, result, 700, FaultKind::UseAfterFree);
}

// covers: INTEROP-07
#[test]
fn what_is_no_array_of_the_memory_is_refused() {
    let _turn = turn();
    if gpu() != Backend::Simulator {
        return;
    }
    let memory = import(file("external-refused", 2 * PAGE), 2 * PAGE);
    let right = described(PAGE, [WIDTH, HEIGHT, 0], 0);
    let with = |change: &dyn Fn(&mut Wish)| {
        let mut wish = right;
        change(&mut wish);
        wish
    };
    let mut none = null_mut();
    for (what, code, wrong) in [
        ("no level", 1, with(&|wish| wish.numLevels = 0)),
        ("levels", 1, with(&|wish| wish.numLevels = 5)),
        (
            "components",
            1,
            with(&|wish| wish.arrayDesc.NumChannels = 3),
        ),
        (
            "format",
            1,
            with(&|wish| wish.arrayDesc.Format = CUarray_format(0)),
        ),
        (
            "blocks",
            801,
            with(&|wish| wish.arrayDesc.Format = CUarray_format(0x91)),
        ),
        ("no width", 1, with(&|wish| wish.arrayDesc.Width = 0)),
        (
            "cube",
            1,
            with(&|wish| wish.arrayDesc.Flags = CUDA_ARRAY3D_CUBEMAP),
        ),
        ("flag", 1, with(&|wish| wish.arrayDesc.Flags = 1 << 20)),
        ("sparse", 801, with(&|wish| wish.arrayDesc.Flags = 0x40)),
        ("page", 801, with(&|wish| wish.offset = 512)),
        ("end", 1, with(&|wish| wish.offset = 2 * PAGE as u64)),
        ("wraps", 1, with(&|wish| wish.offset = u64::MAX - 4095)),
        ("too long", 1, with(&|wish| wish.arrayDesc.Width = 300)),
        (
            "far too long",
            1,
            with(&|wish| wish.arrayDesc.Width = usize::MAX),
        ),
    ] {
        // SAFETY: both pointers are valid during the call.
        let answer = unsafe { cuExternalMemoryGetMappedMipmappedArray(&mut none, memory, &wrong) };
        assert_eq!(answer.0, code, "{what}");
    }
    fails!(
        1,
        cuExternalMemoryGetMappedMipmappedArray(null_mut(), memory, &right)
    );
    fails!(
        1,
        cuExternalMemoryGetMappedMipmappedArray(&mut none, memory, null())
    );
    fails!(
        1,
        cuExternalMemoryGetMappedMipmappedArray(&mut none, null_mut(), &right)
    );
    // All that there is, to the last byte.
    let most = with(&|wish| (wish.arrayDesc.Width, wish.numLevels) = (PAGE / 16, 1));
    let whole = map(memory, &most);
    assert_eq!(read(level(whole, 0)).len(), PAGE / 4);
    ok!(cuMipmappedArrayDestroy(whole));
    ok!(cuDestroyExternalMemory(memory));
}

// covers: INTEROP-07
#[test]
fn exported_physical_memory_may_hold_an_array() {
    let _turn = turn();
    gpu();
    let physical = physical(BYTES);
    let memory = import(export(physical), BYTES);
    let whole = map(memory, &described(0, [WIDTH, HEIGHT, 0], 0));
    for number in 0..LEVELS {
        let (width, height) = (WIDTH >> number, HEIGHT >> number);
        let texels = vec![number as f32 + 0.5; width * height];
        fill(level(whole, number), [width, height, 0], &texels);
    }
    assert_eq!(corners(mipmapped_texture(whole)), [0.5, 1.5, 2.5]);
    assert_eq!(read(level(whole, 1)), [1.5; 8]);
    ok!(cuMipmappedArrayDestroy(whole));
    ok!(cuDestroyExternalMemory(memory));
    ok!(cuMemRelease(physical));
}
