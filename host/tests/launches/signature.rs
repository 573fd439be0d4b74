//! Safe launches of typed kernels are for PTX that the builder made of these very kernels.
#![allow(missing_docs)]

use crate::common::{gpu, signed_kernel};
use warpsmith_device::prelude::*;
use warpsmith_host::prelude::*;
use warpsmith_signature::Signature;
use warpsmith_testkit::ptx;

/// Reads `x` and writes `y`.
#[kernel]
pub fn copy(x: &[f32], mut y: PerThread<[f32]>) {
    if let (Some(x), Some(y)) = (x.get(thread::index()), y.mine()) {
        *y = *x;
    }
}

/// Kernels of the same name whose entries have the same flat parameters.
mod others {
    pub mod both_read {
        use warpsmith_device::prelude::*;
        #[kernel]
        pub fn copy(x: &[f32], y: &[f32]) {
            let _ = (x, y);
        }
    }
    pub mod three_dimensions {
        use warpsmith_device::prelude::*;
        #[kernel]
        pub fn copy(x: &[f32], mut y: PerThread3d<[f32]>) {
            let _ = (x, y.mine());
        }
    }
    pub mod number_instead_of_length {
        use warpsmith_device::prelude::*;
        #[kernel]
        pub fn copy(x: &f32, n: usize, mut y: PerThread<[f32]>) {
            let _ = (x, n, y.mine());
        }
    }
    pub mod wider_elements {
        use warpsmith_device::prelude::*;
        #[kernel]
        pub fn copy(x: &[f64], mut y: PerThread<[f32]>) {
            let _ = (x, y.mine());
        }
    }
    pub mod with_conditions {
        use warpsmith_device::prelude::*;
        #[kernel]
        pub unsafe fn copy(x: &[f32], mut y: PerThread<[f32]>) {
            let _ = (x, y.mine());
        }
    }
}

/// One kernel, once with each view under its own name, once under another one's.
mod names {
    pub mod own {
        use warpsmith_device::prelude::*;
        use warpsmith_device::view::PerThreadVectors;
        #[kernel]
        pub fn views(
            a: PerThread<[f32]>,
            b: PerThread3d<[f32]>,
            c: PerThreadVectors<[f32]>,
            d: PerBlock<[f32]>,
            e: Matrix<f32>,
            f: MatrixOut<f32>,
            g: AtomicSlice<u32>,
        ) {
            let _ = (a, b, c, d, e, f, g);
        }
    }
    pub mod exchanged {
        use warpsmith_device::atomic::AtomicSlice as PerThread;
        use warpsmith_device::kernel;
        use warpsmith_device::view::{
            Matrix as MatrixOut, MatrixOut as Matrix, PerBlock as Strange,
            PerThread as PerThread3d, PerThread3d as PerBlock, PerThreadVectors as AtomicSlice,
        };
        pub type Alias<'a> = Strange<'a, [f32]>;
        #[kernel]
        pub fn views(
            a: PerThread3d<[f32]>,
            b: PerBlock<[f32]>,
            c: AtomicSlice<[f32]>,
            d: Alias,
            e: MatrixOut<f32>,
            f: Matrix<f32>,
            g: PerThread<u32>,
        ) {
            let _ = (a, b, c, d, e, f, g);
        }
    }
    /// By its name it may be launched in three dimensions.
    pub mod one_dimension {
        use warpsmith_device::kernel;
        use warpsmith_device::view::PerThread as PerThread3d;
        #[kernel]
        pub fn one(y: PerThread3d<[f32]>) {
            let _ = y;
        }
    }
}

#[test]
fn a_view_is_its_type_whatever_it_is_called() {
    /// The compiler sees that both have the same parameters.
    fn alike<P, A: Kernel<Parameters = P>, B: Kernel<Parameters = P>>() {}
    alike::<_, names::own::views, names::exchanged::views>();
    assert_eq!(names::own::views::RECORD, names::exchanged::views::RECORD);
    assert_eq!(
        names::exchanged::views::ATTRIBUTES.launch_dimensions,
        names::own::views::ATTRIBUTES.launch_dimensions
    );
    assert_eq!(names::one_dimension::one::ATTRIBUTES.launch_dimensions, 1);
}

/// It writes its input.
const PTX: &str = ptx!(
    "7.0",
    "sm_70",
    "
.visible .entry copy(.param .u64 x, .param .u64 nx, .param .u64 y, .param .u64 ny)
{
    .reg .b64 %q;
    ld.param.u64 %q, [x];
    st.global.f32 [%q], 0f42000000;
    ret;
}
"
);

fn signed<K: Kernel>() -> String {
    let signature = Signature {
        kernels: vec![signed_kernel::<K>()],
        variables: vec![],
        ..Signature::default()
    };
    // SAFETY: the entry, which does not do what `copy` says, is launched by nobody but `kernels_without_a_signature...`, which knows it.
    unsafe { warpsmith_signature::sign(PTX, &signature) }
}

#[track_caller]
fn refused(gpu: &Gpu, ptx: &str, why: &str) {
    let module = gpu.load(ptx).expect("the PTX is fine");
    let error = module.kernel(copy).map(drop).unwrap_err();
    assert!(error.to_string().contains(why), "{error}");
    assert_eq!(error.code(), Some(Code::INVALID_IMAGE));
}

#[test]
fn only_ptx_of_the_same_source_gives_a_typed_kernel() -> Result<()> {
    let gpu = gpu();
    gpu.load(&signed::<copy>())?.kernel(copy)?;
    refused(&gpu, PTX, "no signature");
    refused(
        &gpu,
        &signed::<copy>().replace("0f42000000", "0f00000000"),
        "was changed",
    );
    refused(&gpu, &signed::<others::both_read::copy>(), "dimensions");
    refused(
        &gpu,
        &signed::<others::three_dimensions::copy>(),
        "dimensions",
    );
    refused(
        &gpu,
        &signed::<others::number_instead_of_length::copy>(),
        "parameter 0 ",
    );
    refused(
        &gpu,
        &signed::<others::wider_elements::copy>(),
        "parameter 0 ",
    );
    refused(
        &gpu,
        &signed::<others::with_conditions::copy>(),
        "`unsafe fn`",
    );
    Ok(())
}

#[test]
fn kernels_without_a_signature_are_launched_by_those_who_know_them() -> Result<()> {
    let gpu = gpu();
    let module = gpu.load(PTX)?;
    // SAFETY: the entry has the parameters; that it writes `x` is what the next launch is about.
    let kernel = unsafe { module.kernel_unchecked(copy) }?;
    let stream = gpu.stream()?;
    let mut x = stream.zeroed::<f32>(1)?;
    let mut y = stream.zeroed::<f32>(1)?;
    stream.launch(&kernel, Grid::new(1, 1), (&x, &mut y))?;
    assert_eq!(stream.download(&x)?, [32.0]);
    stream.fill(&mut x, 0.0)?;
    let others = PTX.replace(", .param .u64 ny", "");
    let module = gpu.load(&others)?;
    // SAFETY: the kernel is not launched.
    let error = unsafe { module.kernel_unchecked(copy) }
        .map(drop)
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("has 3 parameters in the PTX, its launcher passes 4"),
        "{error}"
    );
    Ok(())
}
