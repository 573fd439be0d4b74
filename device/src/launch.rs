//! What a launcher knows of a kernel: types only; the host library gives them meaning.
//!
//! On the host, `#[kernel]` turns the function `saxpy` into a type `saxpy` that implements [`Kernel`], and a function
//! `saxpy()` that gives its value, so that both `module.kernel(saxpy)` and `TypedKernel<saxpy>` name it. The type's
//! [`Kernel::Parameters`] is a tuple of the marker types below, one per Rust parameter; the host library decides which
//! arguments it takes for each marker and how they become flat parameters.

use core::marker::PhantomData;

/// A kernel, or one instantiation of a generic one. `#[kernel]` implements it.
///
/// # Safety
///
/// All of it is as `#[kernel]` makes it for the function that the entry [`NAME`](Self::NAME) is made of: launches pass what
/// [`Parameters`](Self::Parameters) says, and compare [`RECORD`](Self::RECORD) with that of the PTX.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel, or not an instantiation that was asked for",
    note = "a generic kernel exists for the types in its list only: add yours to `#[kernel(instantiate(...))]`"
)]
pub unsafe trait Kernel: Copy + Send + Sync + 'static {
    /// A tuple of markers, one for each parameter of the Rust function.
    type Parameters;
    /// The name of the PTX entry.
    const NAME: &'static str;
    /// The words that tell the PTX linker, and the host library by what the linker writes into the PTX, about parameters and bounds:
    /// equal words mean that a launch passes what the entry takes.
    const RECORD: &'static [u32];
    /// What `#[kernel(...)]` said.
    const ATTRIBUTES: KernelAttributes;
    /// Whether the function is safe to launch with any arguments of the right types.
    const SAFE: bool;
}

/// A kernel that is a safe function. `#[kernel]` implements it.
///
/// # Safety
///
/// The kernel is a safe function: any arguments of the right types will do.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is an `unsafe` kernel",
    note = "launch it with `stream.launch_unchecked(...)` in an `unsafe` block, and say why its conditions hold"
)]
pub unsafe trait SafeKernel: Kernel {}

/// What names a kernel in an expression: the function `saxpy`, an instantiation `reduce::<f32>`, or a value `saxpy()`.
///
/// ```
/// use warpsmith_device::launch::{Kernel, KernelItem};
/// use warpsmith_device::prelude::*;
///
/// #[kernel(instantiate(f32, f64))]
/// pub fn fill<T: Copy>(value: &T, mut out: PerThread<[T]>) {
///     if let Some(out) = out.mine() {
///         *out = *value;
///     }
/// }
///
/// fn entry<I: KernelItem>(_: I) -> &'static str {
///     <I::Kernel as Kernel>::NAME
/// }
/// assert_eq!(entry(fill::<f64>), "fill__f64");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name a kernel, or names an instantiation that was not asked for",
    note = "a generic kernel exists for the types in its list only: add yours to `#[kernel(instantiate(...))]`"
)]
pub trait KernelItem: Copy {
    /// The kernel.
    type Kernel: Kernel;
}

impl<F, K> KernelItem for F
where
    F: Fn() -> K + Copy,
    K: Kernel,
{
    type Kernel = K;
}

/// Bytes that the address of memory which is passed as elements `T` is a multiple of: the largest power of two of which their size is a multiple, up to the
/// 16 bytes that one instruction reads or writes; at least `T`'s own alignment. So a kernel reads `[u32; 2]` or a structure of four `f32` at once.
///
/// ```
/// use warpsmith_device::launch::element_alignment;
///
/// assert_eq!(element_alignment::<[u8; 4]>(), 4);
/// assert_eq!(element_alignment::<[f32; 2]>(), 8);
/// assert_eq!(element_alignment::<[f32; 3]>(), 4);
/// assert_eq!(element_alignment::<[f32; 8]>(), 16);
/// assert_eq!(element_alignment::<f32>(), align_of::<f32>());
/// ```
pub const fn element_alignment<T>() -> usize {
    const MOST: usize = 16;
    let (size, own) = (size_of::<T>(), align_of::<T>());
    let of_size = size & size.wrapping_neg();
    let of_size = if of_size < MOST { of_size } else { MOST };
    if of_size < own { own } else { of_size }
}

/// The launch-relevant arguments of `#[kernel(...)]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelAttributes {
    /// `launch_bounds(x, y, z)`: the most threads in a block.
    pub max_threads: Option<[u32; 3]>,
    /// The bounds are the block's exact size.
    pub exact: bool,
    /// The number of blocks that should fit on a multiprocessor.
    pub min_blocks: Option<u32>,
    /// The most registers a thread may use.
    pub max_registers: Option<u32>,
    /// Blocks of a cluster, fixed at compile time.
    pub cluster: Option<[u32; 3]>,
    /// The largest cluster that may be asked for at launch.
    pub max_cluster: Option<u32>,
    /// In how many dimensions the launch may extend: with 1, the grid and the block have y = z = 1, with 2, z = 1.
    ///
    /// A launcher has to hold this: views such as `PerThread` number the threads along x only (which costs two
    /// instructions instead of a dozen), so a launch in more dimensions would hand one element to several threads.
    pub launch_dimensions: u32,
}

macro_rules! markers {
    ($($(#[$documentation:meta])* $name:ident;)*) => {$(
        $(#[$documentation])*
        pub struct $name<T: ?Sized>(PhantomData<fn() -> PhantomData<T>>);
    )*};
}

markers! {
    /// `T` by value. Flat: the scalar itself; or, for a struct, its bytes in the parameter space.
    Value;
    /// `&[T]`: read by all, written by none while the grid runs. Flat: pointer, length.
    In;
    /// `&T`: a single value in device memory. Flat: pointer.
    InRef;
    /// A view of `[T]` that the kernel writes through. Flat: pointer, length.
    Out;
    /// `AtomicSlice<T, scope::System>`: words that the kernel uses by atomic operations of system scope alone, so that the host and other kernels may use
    /// them so at the same time. Flat: pointer, length.
    SystemAtomics;
    /// `MulticastSlice<T>`: words of which each device of a team has a replica. Flat: multicast address, length, address of the local replica.
    MulticastWords;
    /// `Matrix<T>`. Flat: pointer, rows, columns, stride in elements (each `u32`).
    InMatrix;
    /// A view of a matrix that the kernel writes through. Flat: pointer, rows, columns, stride in elements (each `u32`).
    OutMatrix;
    /// `VolumeOut<T>`. Flat: pointer, depth, rows (each `u32`), and [`volume_rows`](crate::view::volume_rows) of columns and stride (`u64`).
    OutVolume;
    /// `*const T` or `*mut T` of an unsafe kernel. Flat: pointer.
    RawPtr;
    /// [`AfterPrimary`](crate::dependent::AfterPrimary) of what the marker `T` stands for. Flat: as that.
    Awaited;
}

/// [`Texture<T, D>`](crate::texture::Texture), a texture whose fetches give a `T`. Flat: the object's number (64 bits), three extents (each
/// `u32`; 1 for those that it has not).
pub struct InTexture<T, D>(PhantomData<fn() -> (T, D)>);

/// [`Surface<T, D>`](crate::texture::Surface), a surface of texels `T`. Flat: as [`InTexture`].
pub struct OutSurface<T, D>(PhantomData<fn() -> (T, D)>);

/// A texture of any kind, for foreign PTX (`cudaTextureObject_t`). Flat: the object's number (64 bits).
pub struct TextureObject;

/// A surface of any kind, for foreign PTX (`cudaSurfaceObject_t`). Flat: the object's number (64 bits).
pub struct SurfaceObject;

/// [`DeviceGraph`](crate::graph::DeviceGraph): an executable graph that the kernel may launch. It is of the kernel's device, was uploaded, and
/// is kept until the graph that the kernel is a node of has ended with all that it has launched; whoever launches that has all in order that
/// this one uses, and launches none of the two meanwhile. Flat: its handle (`u64`).
pub struct GraphHandle(PhantomData<fn()>);

/// [`Condition`](crate::graph::Condition): a condition of the graph that the kernel is a node of, itself or in a body. Flat: its handle (`u64`).
pub struct ConditionHandle(PhantomData<fn()>);
