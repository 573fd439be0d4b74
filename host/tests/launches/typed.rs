//! Kernels by their Rust items. The PTX is by hand; what `#[kernel]` makes on the host is what is tested.
#![allow(missing_docs)]

use crate::common::{gpu, signed_kernel};
use warpsmith_device::prelude::*;
use warpsmith_host::prelude::*;
use warpsmith_signature::Signature;
use warpsmith_testkit::ptx;

#[kernel]
pub fn saxpy(a: f32, x: &[f32], mut y: PerThread<[f32]>) {
    if let (Some(x), Some(y)) = (x.get(thread::index()), y.mine()) {
        *y += a * x;
    }
}

#[kernel(launch_bounds(64))]
pub fn scale(by: &f32, mut y: PerThread<[f32]>) {
    if let Some(y) = y.mine() {
        *y *= *by;
    }
}

#[kernel(instantiate(f32, u32))]
pub fn clear<T: Copy + Default>(mut y: PerThread<[T]>) {
    if let Some(y) = y.mine() {
        *y = T::default();
    }
}

#[kernel]
pub unsafe fn poke(p: *mut f32, v: f32) {
    // SAFETY: by the kernel's contract.
    unsafe { *p = v };
}

/// The kernel of this name when the PTX was built.
mod before {
    use warpsmith_device::prelude::*;

    #[kernel]
    pub fn outdated(mut y: PerThread<[f32]>) {
        let _ = y.mine();
    }
}

/// Another one has this name in the PTX, with other parameters.
#[kernel]
pub fn outdated(x: &[f32], mut y: PerThread<[f32]>) {
    let _ = (x, y.mine());
}

const PTX: &str = ptx!(
    "7.0",
    "sm_70",
    "
.visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 nx, .param .u64 y, .param .u64 ny)
{
    .reg .pred %p;
    .reg .b32 %t, %b, %d, %i;
    .reg .f32 %a, %x, %y;
    .reg .b64 %n, %l, %q;
    mov.u32 %t, %tid.x;
    mov.u32 %b, %ctaid.x;
    mov.u32 %d, %ntid.x;
    mad.lo.u32 %i, %b, %d, %t;
    cvt.u64.u32 %l, %i;
    ld.param.u64 %n, [ny];
    setp.ge.u64 %p, %l, %n;
    @%p bra end;
    ld.param.f32 %a, [a];
    ld.param.u64 %q, [x];
    mad.wide.u32 %q, %i, 4, %q;
    ld.global.f32 %x, [%q];
    ld.param.u64 %q, [y];
    mad.wide.u32 %q, %i, 4, %q;
    ld.global.f32 %y, [%q];
    fma.rn.f32 %y, %a, %x, %y;
    st.global.f32 [%q], %y;
end:
    ret;
}
.visible .entry scale(.param .u64 by, .param .u64 y, .param .u64 ny)
.maxntid 64, 1, 1
{
    .reg .pred %p;
    .reg .b32 %i;
    .reg .f32 %a, %y;
    .reg .b64 %n, %l, %q;
    mov.u32 %i, %tid.x;
    cvt.u64.u32 %l, %i;
    ld.param.u64 %n, [ny];
    setp.ge.u64 %p, %l, %n;
    @%p bra end;
    ld.param.u64 %q, [by];
    ld.global.f32 %a, [%q];
    ld.param.u64 %q, [y];
    mad.wide.u32 %q, %i, 4, %q;
    ld.global.f32 %y, [%q];
    mul.f32 %y, %a, %y;
    st.global.f32 [%q], %y;
end:
    ret;
}
.visible .entry clear__u32(.param .u64 y, .param .u64 ny)
{
    .reg .b64 %q;
    ld.param.u64 %q, [y];
    st.global.u32 [%q], 0;
    ret;
}
.visible .entry poke(.param .u64 p, .param .f32 v)
{
    .reg .f32 %v;
    .reg .b64 %q;
    ld.param.u64 %q, [p];
    ld.param.f32 %v, [v];
    st.global.f32 [%q], %v;
    ret;
}
.visible .entry outdated(.param .u64 y, .param .u64 ny) { ret; }
"
);

/// As the builder would have signed it.
fn signed() -> String {
    let signature = Signature {
        kernels: vec![
            signed_kernel::<saxpy>(),
            signed_kernel::<scale>(),
            signed_kernel::<clear<u32>>(),
            signed_kernel::<poke>(),
            signed_kernel::<before::outdated>(),
        ],
        variables: vec![],
        ..Signature::default()
    };
    // SAFETY: the entries do what the kernels above do, and nothing else.
    unsafe { warpsmith_signature::sign(PTX, &signature) }
}

#[test]
fn safe_kernels_by_their_items() -> Result<()> {
    let gpu = gpu();
    let module = gpu.load(&signed())?;
    let saxpy: TypedKernel<saxpy> = module.kernel(saxpy)?;
    let stream = gpu.stream()?;
    let x: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let dx = stream.upload(&x)?;
    let mut y = stream.filled(1000, 1.0_f32)?;
    stream.launch(&saxpy, Grid::cover(1000, 128), (2.0, &dx, &mut y))?;
    // Parts of buffers, and the same input twice.
    stream.launch(
        &saxpy,
        Grid::cover(10, 128),
        (1.0, dx.slice(5..15), y.slice_mut(..10)),
    )?;
    let expected: Vec<f32> = (0..1000)
        .map(|i| 1.0 + 2.0 * i as f32 + if i < 10 { (i + 5) as f32 } else { 0.0 })
        .collect();
    assert_eq!(stream.download(&y)?, expected);
    // Nothing at all is a slice too.
    let nothing = stream.zeroed::<f32>(0)?;
    stream.launch(&saxpy, Grid::new(1, 32), (2.0, &nothing, y.slice_mut(..0)))?;
    assert_eq!(stream.download(&y)?, expected);
    // Unified and mapped memory in the places of buffers.
    let mut unified = gpu.unified::<f32>(1000)?;
    let mapped = gpu.mapped::<f32>(1000)?;
    stream.launch(&saxpy, Grid::cover(1000, 128), (2.0, &dx, &mut unified))?;
    stream.launch(&saxpy, Grid::cover(1000, 128), (2.0, &mapped, &mut unified))?;
    stream.synchronize()?;
    assert_eq!(unified.host()?[7], 14.0);
    Ok(())
}

#[test]
fn bounds_dimensions_and_references() -> Result<()> {
    let gpu = gpu();
    let module = gpu.load(&signed())?;
    let (saxpy, scale) = (module.kernel(saxpy)?, module.kernel(scale)?);
    let stream = gpu.stream()?;
    let by = stream.upload(&[3.0_f32])?;
    let mut y = stream.filled(4, 2.0_f32)?;
    stream.launch(&scale, Grid::new(1, 64), (&by, &mut y))?;
    assert_eq!(stream.download(&y)?, [6.0; 4]);

    let error = stream
        .launch(&scale, Grid::new(1, 65), (&by, &mut y))
        .unwrap_err();
    assert!(error.to_string().contains("`launch_bounds`"), "{error}");
    let error = stream
        .launch(&scale, Grid::new(1, 64), (by.slice(1..), &mut y))
        .unwrap_err();
    assert!(error.to_string().contains("the least is 1"), "{error}");
    // Two dimensions would give an element of `PerThread` to several threads.
    for grid in [
        Grid::new((1, 2), 32),
        Grid::new(1, (32, 2)),
        Grid::new((1, 1, 2), 32),
    ] {
        let error = stream.launch(&saxpy, grid, (1.0, &by, &mut y)).unwrap_err();
        assert!(error.to_string().contains("dimensions"), "{error}");
        assert_eq!(error.code(), Some(Code::INVALID_VALUE));
    }
    assert_eq!(stream.download(&y)?, [6.0; 4]);
    Ok(())
}

#[test]
fn instantiations_and_unsafe_kernels() -> Result<()> {
    let gpu = gpu();
    let module = gpu.load(&signed())?;
    let clear_words = module.kernel(clear::<u32>)?;
    assert_eq!(clear_words.name(), "clear__u32");
    let stream = gpu.stream()?;
    let mut words = stream.filled(2, 9_u32)?;
    stream.launch(&clear_words, Grid::new(1, 1), (&mut words,))?;
    assert_eq!(stream.download(&words)?, [0, 9]);
    // Compiled in the crate, but not in this PTX.
    let error = module.kernel(clear::<f32>).map(drop).unwrap_err();
    assert!(
        error.to_string().contains("did you mean `clear__u32`"),
        "{error}"
    );

    let poke = module.kernel(poke)?;
    let mut x = stream.zeroed::<f32>(2)?;
    // SAFETY: the pointer is good for one word.
    unsafe { stream.launch_unchecked(&poke, Grid::new(1, 1), (&mut x, 1.5))? };
    let second = DevicePointer::<f32>::from_address(x.as_device_ptr().address() + 4);
    // SAFETY: the pointer is that of the second word of `x`, which is alive until the download below.
    unsafe { stream.launch_unchecked(&poke, Grid::new(1, 1), (second, 2.5))? };
    assert_eq!(stream.download(&x)?, [1.5, 2.5]);
    Ok(())
}

// covers: DRV-14
#[test]
fn ptx_of_another_source_is_noticed() -> Result<()> {
    let module = gpu().load(&signed())?;
    let error = module.kernel(outdated).map(drop).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("has 2 parameters in the PTX, its launcher passes 4"),
        "{error}"
    );
    Ok(())
}

#[test]
fn typed_kernels_in_graphs() -> Result<()> {
    let gpu = gpu();
    let module = gpu.load(&signed())?;
    let (saxpy, scale) = (module.kernel(saxpy)?, module.kernel(scale)?);
    let stream = gpu.stream()?;
    let x = stream.filled(50, 1.0_f32)?;
    let mut y = stream.zeroed::<f32>(50)?;
    let by = stream.upload(&[10.0_f32])?;
    let mut graph = gpu.graph()?;
    graph.kernel(&saxpy, Grid::cover(50, 32), (3.0, &x, &mut y))?;
    graph.kernel(&scale, Grid::new(1, 64), (&by, &mut y))?;
    assert!(
        graph
            .kernel(&scale, Grid::new(1, 128), (&by, &mut y))
            .is_err()
    );
    let mut ready = graph.instantiate()?;
    ready.launch(&stream)?;
    assert_eq!(stream.download(&y)?, [30.0; 50]);
    Ok(())
}
