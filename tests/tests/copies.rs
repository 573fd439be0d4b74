//! Asynchronous copies into shared memory, and what stands for them where there are none: for each architecture that the kernels are
//! compiled for.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::copies as kernels;
use warpsmith_tests::ptx;

/// All modules that the device takes.
fn modules(gpu: &Gpu) -> Vec<(&'static str, Module)> {
    ptx::taken_by(gpu.compute_capability())
        .map(|(name, text)| (name, gpu.load(text).unwrap()))
        .collect()
}

fn device() -> (Gpu, Stream) {
    let gpu = Gpu::open_default().unwrap();
    let stream = gpu.stream().unwrap();
    (gpu, stream)
}

macro_rules! reversed {
    ($($name:ident $ty:ident;)*) => {$(
        // covers: CPASYNC-02, CPASYNC-07, CPASYNC-10, CC-16
        #[test]
        fn $name() {
            let (gpu, stream) = device();
            for (arch, module) in modules(&gpu) {
                let kernel = module.kernel(kernels::copied_reversed::<$ty>).unwrap();
                for n in [1usize, 127, 128, 300] {
                    let x: Vec<$ty> = (0..n).map(|i| <$ty>::MAX / 3 - i as $ty).collect();
                    let blocks = n.div_ceil(128);
                    let mut out = stream.zeroed::<[$ty; 2]>(64 * blocks).unwrap();
                    let grid = Grid::new(blocks as u32, 64);
                    stream.launch(&kernel, grid, (&stream.upload(&x).unwrap(), &mut out)).unwrap();
                    let want: Vec<$ty> = (0..128 * blocks)
                        .map(|i| x.get(i / 128 * 128 + 127 - i % 128).copied().unwrap_or(0))
                        .collect();
                    let got = stream.download(&out).unwrap();
                    assert_eq!(got.as_flattened(), want, "{arch}, {n}");
                }
            }
        }
    )*};
}
reversed! {
    of_4_bytes u32;
    of_8_bytes u64;
    of_16_bytes u128;
}

// covers: CPASYNC-04, CPASYNC-05, CPASYNC-07, CC-16
#[test]
fn a_ring_of_arrays() {
    let (gpu, stream) = device();
    for (arch, module) in modules(&gpu) {
        let kernel = module.kernel(kernels::copied_ring).unwrap();
        for tiles in [0u32, 1, 2, 3, 7] {
            let x: Vec<u32> = (0..tiles * 128 + 40)
                .map(|i| i.wrapping_mul(2654435761))
                .collect();
            let mut out = stream.zeroed::<u32>(128).unwrap();
            let arguments = (&stream.upload(&x).unwrap(), tiles, &mut out);
            stream
                .launch(&kernel, Grid::new(1, 128), arguments)
                .unwrap();
            let want: Vec<u32> = (0..128)
                .map(|own| {
                    let terms = (0..tiles)
                        .map(|tile| x[tile as usize * 128 + 127 - own].wrapping_mul(tile + 1));
                    terms.fold(0u32, u32::wrapping_add)
                })
                .collect();
            assert_eq!(
                stream.download(&out).unwrap(),
                want,
                "{arch}, {tiles} tiles"
            );
        }
    }
}

// covers: CPASYNC-10
#[test]
fn memory_that_is_not_global_is_copied_at_once() {
    let (gpu, stream) = device();
    for (arch, module) in modules(&gpu) {
        let kernel = module.kernel(kernels::copied_from_elsewhere).unwrap();
        let mut out = stream.zeroed::<u32>(32).unwrap();
        stream
            .launch(&kernel, Grid::new(1, 32), (5, &mut out))
            .unwrap();
        assert_eq!(stream.download(&out).unwrap(), [31 * 5; 32], "{arch}");
    }
}

// covers: CPASYNC-08
#[test]
fn a_copy_that_is_forgotten_ends_with_its_scope() {
    let (gpu, stream) = device();
    for (arch, module) in modules(&gpu) {
        let kernel = module.kernel(kernels::copied_and_forgotten).unwrap();
        let x = stream.upload(&[9u32; 32]).unwrap();
        let mut out = stream.zeroed::<u32>(32).unwrap();
        stream
            .launch(&kernel, Grid::new(1, 32), (&x, &mut out))
            .unwrap();
        let want: Vec<u32> = (0..32).map(|lane| 131 - lane).collect();
        assert_eq!(stream.download(&out).unwrap(), want, "{arch}");
    }
}
