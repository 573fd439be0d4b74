//! Launches: arguments as kernels see them, limits as errors, occupancy, modules that do not load.

use crate::common::{add, gpu, launch_add, module};
use warpsmith_host::SuggestedBlock;
use warpsmith_host::prelude::*;
use warpsmith_testkit::ptx;

fn limit(result: Result<()>) -> (Code, &'static str, u64, u64, String) {
    match result {
        Err(Error::Limit(error)) => (
            error.code,
            error.what,
            error.value,
            error.limit,
            error.to_string(),
        ),
        Err(other) => panic!("another error: {other}"),
        Ok(()) => panic!("no error"),
    }
}

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Pair {
    small: u32,
    _padding: u32,
    large: u64,
}

// covers: MODEL-23, DRV-14, DRV-16
#[test]
fn arguments_arrive_as_they_are() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let echo = module
        .untyped_kernel::<(Value<u8>, Value<u16>, Value<f64>, Value<Pair>, Out<u64>)>("echo")?;
    let stream = gpu.stream()?;
    let mut out = stream.zeroed::<u64>(5)?;
    let pair = Pair {
        small: 70_000,
        _padding: 0,
        large: u64::MAX - 1,
    };
    // SAFETY: the entry writes five words.
    unsafe {
        stream.launch_untyped(
            &echo,
            Grid::new(1, 1),
            (200_u8, 60_000_u16, 0.1, pair, &mut out),
        )?
    };
    assert_eq!(
        stream.download(&out)?,
        [200, 60_000, 0.1_f64.to_bits(), 70_000, u64::MAX - 1]
    );
    Ok(())
}

#[test]
fn matrices_carry_their_shape() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let number = module.untyped_kernel::<(OutMatrix<u32>,)>("number_matrix")?;
    let stream = gpu.stream()?;
    let mut buffer = stream.zeroed::<u32>(10)?;
    // SAFETY: the entry writes inside of the matrix.
    unsafe {
        stream.launch_untyped(
            &number,
            Grid::new(9, 32),
            (buffer.matrix_mut_with_stride(2, 3, 5)?,),
        )?
    };
    assert_eq!(
        stream.download(&buffer)?,
        [0, 1, 2, 0, 0, 1000, 1001, 1002, 0, 0]
    );
    Ok(())
}

// covers: MODEL-03, DRV-EX01
#[test]
fn grids_cover_ragged_sizes() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream()?;
    for n in [1, 127, 128, 129, 100_003] {
        let mut buffer = stream.filled(n, 1_u32)?;
        launch_add(&stream, &add, &mut buffer, 2);
        assert_eq!(stream.download(&buffer)?, vec![3; n]);
    }
    Ok(())
}

// covers: MODEL-03, MODEL-22
#[test]
fn limits_are_named() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream()?;
    let mut buffer = stream.zeroed::<u32>(4)?;
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    let mut launch = |grid: Grid| unsafe { stream.launch_untyped(&add, grid, (&mut buffer, 1)) };

    let (code, what, value, most, text) = limit(launch(Grid::new(1, 1025)));
    assert_eq!((code, value, most), (Code::INVALID_VALUE, 1025, 1024));
    assert_eq!(what, "the block's extent in x");
    assert!(text.contains("`add`") && text.contains("hint: "), "{text}");

    let (_, what, value, most, _) = limit(launch(Grid::new(1, (64, 32))));
    assert_eq!(
        (what, value, most),
        ("the block's number of threads", 2048, 1024)
    );
    let (_, what, value, _, text) = limit(launch(Grid::cover(0, 128)));
    assert_eq!((what, value), ("the grid's extent in x", 0));
    assert!(text.contains("is_empty"), "{text}");
    let (_, what, value, most, _) = limit(launch(Grid::new((1, 65_536), 32)));
    assert_eq!(
        (what, value, most),
        ("the grid's extent in y", 65_536, 65_535)
    );
    let (_, what, value, most, _) = limit(launch(Grid::new(1, (1, 1, 65))));
    assert_eq!((what, value, most), ("the block's extent in z", 65, 64));
    limit(launch(Grid::cover(usize::MAX, 1)));

    let most = gpu.attribute(Attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)? as u64;
    let (code, what, value, limit_, text) =
        limit(launch(Grid::new(1, 1).shared_bytes(most as u32 + 1)));
    assert_eq!(
        (code, value, limit_),
        (Code::INVALID_VALUE, most + 1, most),
        "{text}"
    );
    assert_eq!(what, "dynamic shared memory in bytes");

    let bounded = module.untyped_kernel::<()>("bounded")?;
    // SAFETY: the entry does nothing.
    let (_, what, value, most, _) =
        limit(unsafe { stream.launch_untyped(&bounded, Grid::new(1, 129), ()) });
    assert_eq!(
        (what, value, most),
        ("the block's number of threads", 129, 128)
    );
    // None of that harmed anything.
    launch(Grid::new(1, 4))?;
    assert_eq!(stream.download(&buffer)?, [1; 4]);
    Ok(())
}

#[test]
fn more_than_48_kilobytes_of_shared_memory() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let kernel = module.untyped_kernel::<(Out<u32>,)>("dynamic_shared")?;
    assert_eq!(kernel.attributes()?.static_shared_bytes, 1024);
    let stream = gpu.stream()?;
    let mut out = stream.zeroed::<u32>(1)?;
    let most = gpu.attribute(Attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)? as u32 - 1024;
    for bytes in [4, 47 * 1024, 64 * 1024, 100 * 1024, most] {
        // SAFETY: the entry writes one word.
        unsafe {
            stream.launch_untyped(&kernel, Grid::new(1, 1).shared_bytes(bytes), (&mut out,))?
        };
        assert_eq!(stream.download(&out)?, [bytes]);
    }
    let (_, _, value, limit, _) =
        // SAFETY: the entry would write one word; the launch is refused.
        limit(unsafe { stream.launch_untyped(&kernel, Grid::new(1, 1).shared_bytes(most + 4), (&mut out,)) });
    assert_eq!((value, limit), (u64::from(most) + 4, u64::from(most)));
    Ok(())
}

// covers: PERF-01
#[test]
fn occupancy_follows_the_limits() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let occupancy = add.occupancy(1024, 0)?;
    let threads = gpu.attribute(Attribute::MAX_THREADS_PER_MULTIPROCESSOR)? as u32;
    assert_eq!(occupancy.blocks_per_multiprocessor, threads / 1024);
    assert_eq!(occupancy.max_warps, threads / 32);
    assert!((occupancy.fraction - 1.0).abs() < 1e-9);
    let SuggestedBlock { blocks, threads } = add.suggested_block(0)?;
    assert!(
        blocks >= 1 && threads % 32 == 0 && threads <= 1024,
        "{blocks} {threads}"
    );
    let attributes = add.attributes()?;
    assert!(
        attributes.registers > 0 && attributes.max_threads_per_block == 1024,
        "{attributes:?}"
    );
    Ok(())
}

#[test]
fn a_cooperative_grid_must_fit() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream()?;
    let most = add.max_cooperative_blocks(1024, 0)?;
    let mut buffer = stream.zeroed::<u32>(most as usize * 1024)?;
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { stream.launch_untyped(&add, Grid::new(most, 1024).cooperative(), (&mut buffer, 1))? };
    // SAFETY: the entry takes a slice and a number, and writes only the slice; the launch is refused.
    let result = unsafe {
        stream.launch_untyped(
            &add,
            Grid::new(most + 1, 1024).cooperative(),
            (&mut buffer, 1),
        )
    };
    let (code, what, value, limit, text) = limit(result);
    assert_eq!(
        (code, value, limit),
        (
            Code::COOPERATIVE_LAUNCH_TOO_LARGE,
            u64::from(most) + 1,
            most.into()
        ),
        "{text}"
    );
    assert_eq!(what, "the number of blocks of a cooperative grid");
    assert!(stream.download(&buffer)?.iter().all(|&x| x == 1));
    Ok(())
}

const CLUSTER: &str = ptx!(
    "7.8",
    "sm_90",
    "
.visible .entry rank(.param .u64 out, .param .u64 n)
{
    .reg .pred %p;
    .reg .b32 %r, %b, %t;
    .reg .b64 %o;
    mov.u32 %t, %tid.x;
    setp.ne.u32 %p, %t, 0;
    @%p bra end;
    ld.param.u64 %o, [out];
    mov.u32 %b, %ctaid.x;
    mad.wide.u32 %o, %b, 4, %o;
    mov.u32 %r, %cluster_ctarank;
    st.global.u32 [%o], %r;
end:
    ret;
}"
);

// covers: MODEL-07, MODEL-09, EX1-05
#[test]
fn clusters_divide_the_grid() -> Result<()> {
    let gpu = gpu();
    if gpu.compute_capability() < ComputeCapability::new(9, 0) {
        println!("skipped: {} has no clusters", gpu.name());
        return Ok(());
    }
    let module = gpu.load(CLUSTER)?;
    let rank = module.untyped_kernel::<(Out<u32>,)>("rank")?;
    let stream = gpu.stream()?;
    let mut out = stream.zeroed::<u32>(8)?;
    // SAFETY: the entry writes a word for each block.
    let mut launch = |blocks: u32, cluster: u32| unsafe {
        stream.launch_untyped(&rank, Grid::new(blocks, 32).cluster(cluster), (&mut out,))
    };
    launch(8, 4)?;
    let error = launch(7, 4).unwrap_err();
    assert_eq!(error.code(), Some(Code::INVALID_CLUSTER_SIZE));
    let text = error.to_string();
    assert!(
        text.contains("the grid's extent in x is 7, no multiple of the cluster's, which is 4"),
        "{text}"
    );
    assert!(text.contains("8 blocks would do"), "{text}");
    let error = launch(32, 32).unwrap_err();
    assert_eq!(error.code(), Some(Code::INVALID_CLUSTER_SIZE), "{error}");
    assert!(rank.max_cluster_size(&Grid::new(64, 32))? >= 8);
    assert_eq!(stream.download(&out)?, [0, 1, 2, 3, 0, 1, 2, 3]);
    // SAFETY: the entry would write a word for each block; the launch is refused.
    let empty =
        unsafe { stream.launch_untyped(&rank, Grid::new(8, 32).cluster((2, 0, 1)), (&mut out,)) };
    let (code, what, value, least, text) = limit(empty);
    assert_eq!((code, value, least), (Code::INVALID_CLUSTER_SIZE, 0, 1));
    assert_eq!(what, "the cluster's extent in y");
    assert!(text.contains("write 1 for a dimension"), "{text}");

    let mut many = stream.zeroed::<u32>(16)?;
    // SAFETY: the entry writes a word for each block.
    let mut launch_16 =
        || unsafe { stream.launch_untyped(&rank, Grid::new(16, 32).cluster(16), (&mut many,)) };
    let error = launch_16().unwrap_err();
    assert_eq!(error.code(), Some(Code::INVALID_CLUSTER_SIZE), "{error}");
    let hint = error.hint().expect("there is a remedy");
    assert!(hint.contains("ClusterSizes::NonPortable"), "{hint}");
    rank.set_cluster_sizes(ClusterSizes::NonPortable)?;
    if rank.max_cluster_size(&Grid::new(64, 32))? >= 16 {
        launch_16()?;
    }
    rank.set_cluster_sizes(ClusterSizes::Portable)?;
    assert!(launch_16().is_err());
    if stream.download(&many)?[15] != 0 {
        assert_eq!(
            stream.download(&many)?,
            std::array::from_fn::<u32, 16, _>(|rank| rank as u32)
        );
    }
    Ok(())
}

// covers: BUILD-02, DRV-10, DRV-13
#[test]
fn modules_that_do_not_load() -> Result<()> {
    let gpu = gpu();
    let broken = crate::common::PTX.replace(
        "mad.wide.u32 %a, %i, 4, %y;",
        "mad.wilde.u32 %a, %i, 4, %y;",
    );
    let line = 1 + crate::common::PTX
        .lines()
        .position(|line| line.contains("mad.wide.u32 %a, %i, 4, %y;"))
        .unwrap();
    let error = gpu.load(&broken).unwrap_err();
    let Error::Ptx(ptx) = &error else {
        panic!("{error}")
    };
    assert_eq!(ptx.code, Code::INVALID_PTX);
    assert!(
        ptx.log.contains(&line.to_string()),
        "line {line} is not in: {error}"
    );

    assert!(matches!(gpu.load("a\0b"), Err(Error::Ptx(_))));
    let newer = crate::common::PTX.replace(".version 7.8", ".version 99.9");
    let error = gpu.load(&newer).unwrap_err();
    assert!(matches!(&error, Error::Ptx(_)), "{error}");

    let module = module(&gpu);
    let error = module.untyped_kernel::<()>("ad").map(drop).unwrap_err();
    assert_eq!(error.code(), Some(Code::NOT_FOUND));
    assert!(error.to_string().contains("did you mean `add`"), "{error}");
    assert!(module.kernel_names().iter().any(|name| name == "echo"));
    // Two modules with kernels of the same names live side by side.
    let again = crate::common::module(&gpu);
    again.global::<u32>("counter")?.set(&6)?;
    assert_eq!(module.global::<u32>("counter")?.get()?, 5);
    Ok(())
}

#[test]
fn devices_are_listed() -> Result<()> {
    let gpu = gpu();
    let devices = Gpu::devices()?;
    assert!(
        devices
            .iter()
            .any(|device| device.choice == gpu.choice() && device.name == gpu.name()),
        "{devices:?}"
    );
    Ok(())
}

// covers: LAZY-04
#[test]
fn preloaded_kernels_are_loaded() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    assert!(!module.kernel_names().is_empty());
    module.preload()?;
    // A kernel is what it was before: this is no launch.
    let add = crate::common::add(&module);
    let stream = gpu.stream()?;
    let mut words = stream.zeroed::<u32>(10)?;
    crate::common::launch_add(&stream, &add, &mut words, 3);
    assert_eq!(stream.download(&words)?, [3; 10]);
    Ok(())
}
