//! What can be passed for which kernel parameter, checked by the compiler.
//!
//! A kernel's type carries a tuple of markers (`Value<f32>`, `In<f32>`, `Out<f32>`...); a tuple of arguments fits if each element
//! implements [`Argument`] for the marker of the same position. A parameter that is written takes `&mut`, so that one buffer cannot be two
//! outputs, nor input and output.

use std::mem::MaybeUninit;
use std::sync::Arc;

use bytemuck::Pod;
use warpsmith_device::launch::{
    Awaited, In, InMatrix, InRef, InTexture, Out, OutMatrix, OutSurface, OutVolume, RawPtr,
    SurfaceObject, SystemAtomics, TextureObject, Value,
};
use warpsmith_device::panic::KERNEL_BITS;
use warpsmith_device::texture::{Dim2, Fetched, Linear, Mipmapped};
use warpsmith_device::view::volume_rows;

use crate::error::{Code, Error, LimitError};
use crate::gpu::open_device::OpenDevice;
use crate::memory::size::ALIGNMENT;
use crate::memory::used::Use;
use crate::memory::view::RawView;
use crate::memory::{
    AnyBuffer, ArrayExtents, DeviceBuffer, DevicePointer, DeviceRead, DeviceSlice, DeviceSliceMut,
    GrowableBuffer, LevelExtents, LinearTexture, MappedBuffer, Matrix, MatrixMut, MipmappedTexture,
    PitchedTexture, RegisteredBuffer, Shape, SharedAtomics, SharedWord, Surface, Texel, Texture,
    UnifiedBuffer, VolumeMut, WriteCombinedBuffer,
};
use crate::order::access::AccessKind;
use crate::order::launchable_graph::LaunchableGraph;

/// The most Rust parameters of a kernel.
pub(crate) const MOST_PARAMETERS: usize = 16;
/// A matrix takes four. Behind them are the two of the launch.
const MOST_FLAT: usize = 4 * MOST_PARAMETERS + 2;

/// The flat parameters of one launch, on the stack.
pub struct Packer<'a> {
    /// Where each parameter's value is.
    pointers: [MaybeUninit<*mut core::ffi::c_void>; MOST_FLAT],
    /// Values of at most 8 bytes, each at its parameter's index. They are not in the packer itself, so that the pointers to them stay
    /// valid while the packer is borrowed again.
    words: &'a mut Words,
    /// Parameters so far.
    flat_count: usize,
    uses: [MaybeUninit<Use<'a>>; MOST_PARAMETERS],
    /// Uses of memory so far.
    use_count: usize,
    graphs: [MaybeUninit<PassedGraph<'a>>; MOST_PARAMETERS],
    /// Graphs so far.
    graph_count: usize,
    /// The graphs whose conditions are passed.
    conditions: ConditionsOf,
    passed_conditions: [MaybeUninit<u64>; MOST_PARAMETERS],
    /// Conditions so far, passed as such or as numbers.
    condition_count: usize,
    /// The stream's number, which the memory's owners are compared with.
    stream_number: u64,
    /// Some memory was not used by this stream alone.
    needs_ordering: bool,
    /// A slice for an `&T` parameter has no element.
    pub(crate) empty_reference: bool,
    /// One array was passed twice, and at least once as a surface.
    pub(crate) written_array_twice: bool,
}

/// Whose conditions a kernel is passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ConditionsOf {
    Nobody,
    /// The graph of this number.
    Graph(u64),
    Several,
}

/// Room for the values of a [`Packer`].
pub(crate) struct Words([MaybeUninit<u64>; MOST_FLAT]);

impl Words {
    #[inline]
    pub(crate) fn new() -> Words {
        Words([const { MaybeUninit::uninit() }; MOST_FLAT])
    }
}

/// A graph that the kernel may launch.
#[derive(Clone, Copy)]
pub(crate) struct PassedGraph<'a> {
    pub(crate) gpu: &'a Arc<OpenDevice>,
    pub(crate) graph: &'a LaunchableGraph,
}

impl<'a> Packer<'a> {
    #[inline]
    pub(crate) fn new(stream_number: u64, words: &'a mut Words) -> Packer<'a> {
        Packer {
            pointers: [const { MaybeUninit::uninit() }; MOST_FLAT],
            words,
            flat_count: 0,
            uses: [const { MaybeUninit::uninit() }; MOST_PARAMETERS],
            use_count: 0,
            graphs: [const { MaybeUninit::uninit() }; MOST_PARAMETERS],
            graph_count: 0,
            conditions: ConditionsOf::Nobody,
            passed_conditions: [const { MaybeUninit::uninit() }; MOST_PARAMETERS],
            condition_count: 0,
            stream_number,
            needs_ordering: false,
            empty_reference: false,
            written_array_twice: false,
        }
    }

    /// A parameter whose value is somewhere else and outlives the launch call.
    #[inline]
    fn by_reference<T>(&mut self, value: &'a T) {
        self.pointers[self.flat_count].write(std::ptr::from_ref(value).cast_mut().cast());
        self.flat_count += 1;
    }

    /// A parameter of at most 8 bytes whose value is the low bytes of `word` (the device is little-endian, as the host).
    #[inline]
    fn word(&mut self, word: u64) {
        let stored = std::ptr::from_mut(self.words.0[self.flat_count].write(word));
        self.pointers[self.flat_count].write(stored.cast());
        self.flat_count += 1;
    }

    /// Notes a use, and gives the address to pass: an empty slice has one too, aligned for every type that there is memory of.
    #[inline]
    fn memory(&mut self, view: RawView<'a>, kind: AccessKind) -> u64 {
        match view.use_for(kind) {
            Some(used) => {
                self.needs_ordering |= !used.allocation.is_owned_by(self.stream_number);
                self.uses[self.use_count].write(used);
                self.use_count += 1;
                view.address
            }
            None => ALIGNMENT as u64,
        }
    }

    #[inline]
    fn slice(&mut self, view: RawView<'a>, kind: AccessKind) {
        let address = self.memory(view, kind);
        self.word(address);
        self.word(view.len as u64);
    }

    #[inline]
    fn matrix(&mut self, view: RawView<'a>, shape: Shape, kind: AccessKind) {
        let address = self.memory(view, kind);
        self.word(address);
        self.word(shape.rows.into());
        self.word(shape.columns.into());
        self.word(shape.stride.into());
    }

    /// Notes a use of an array, of which other textures and surfaces may exist: unlike buffers, the borrow does not keep them out.
    #[inline]
    fn array(&mut self, view: RawView<'a>, kind: AccessKind) {
        let access = view.access(kind);
        self.written_array_twice |= view.allocation.is_some_and(|allocation| {
            let others = self.uses().iter();
            others
                .filter(|other| Arc::ptr_eq(other.allocation, allocation))
                .any(|other| other.access().conflicts(&access))
        });
        self.memory(view, kind);
    }

    #[inline]
    fn texels(&mut self, object: u64, extents: [u32; 3]) {
        self.word(object);
        for extent in extents {
            self.word(extent.into());
        }
    }

    /// A graph that the kernel may launch. Its memory is no buffer's of the launch, so it needs ordering in any case.
    pub(crate) fn graph(&mut self, gpu: &'a Arc<OpenDevice>, graph: &'a LaunchableGraph) {
        self.needs_ordering = true;
        self.graphs[self.graph_count].write(PassedGraph { gpu, graph });
        self.graph_count += 1;
        self.word(graph.handle);
    }

    /// A condition of the graph of this number. In streams it means nothing: they refuse it where they look at what needs ordering.
    pub(crate) fn condition(&mut self, graph: u64, handle: u64) {
        self.needs_ordering = true;
        self.conditions = match self.conditions {
            ConditionsOf::Nobody => ConditionsOf::Graph(graph),
            ConditionsOf::Graph(known) if known == graph => ConditionsOf::Graph(graph),
            _ => ConditionsOf::Several,
        };
        self.note_condition(handle);
        self.word(handle);
    }

    /// A condition that is passed as a number, which sets it where it is one of the kernel's own graph.
    pub(crate) fn condition_as_number(&mut self, handle: &'a u64) {
        self.note_condition(*handle);
        self.by_reference(handle);
    }

    fn note_condition(&mut self, handle: u64) {
        self.passed_conditions[self.condition_count].write(handle);
        self.condition_count += 1;
    }

    /// The conditions that the kernel is passed.
    pub(crate) fn passed_conditions(&self) -> &[u64] {
        // SAFETY: `note_condition` has written so many, one after the other.
        unsafe { self.passed_conditions[..self.condition_count].assume_init_ref() }
    }

    /// Whose conditions the kernel is passed.
    pub(crate) fn conditions(&self) -> ConditionsOf {
        self.conditions
    }

    /// Adds the parameters of the launch: where panics are told, and which launch of which kernel it is.
    #[inline]
    pub(crate) fn launch(&mut self, log: u64, launch: u64, kernel: u32) {
        self.word(log);
        self.word(launch << KERNEL_BITS | u64::from(kernel));
    }

    /// How many parameters there are so far.
    pub(crate) fn parameters(&self) -> usize {
        self.flat_count
    }

    /// Whether some memory was not used by this stream alone, so that its use has to be put in order.
    #[inline]
    pub(crate) fn needs_ordering(&self) -> bool {
        self.needs_ordering
    }

    /// The array that the driver takes: a pointer to each parameter's value. It is good until `self` is moved or used again.
    #[inline]
    pub(crate) fn pointers(&mut self) -> *mut *mut core::ffi::c_void {
        self.pointers.as_mut_ptr().cast()
    }

    #[inline]
    pub(crate) fn uses(&self) -> &[Use<'a>] {
        // SAFETY: `memory` writes each use before it counts it in `use_count`, and `MaybeUninit<T>` is laid out as `T`.
        unsafe { std::slice::from_raw_parts(self.uses.as_ptr().cast(), self.use_count) }
    }

    pub(crate) fn graphs(&self) -> &[PassedGraph<'a>] {
        // SAFETY: `graph` writes each one before it counts it in `graph_count`, and `MaybeUninit<T>` is laid out as `T`.
        unsafe { std::slice::from_raw_parts(self.graphs.as_ptr().cast(), self.graph_count) }
    }

    #[cold]
    pub(crate) fn written_array_twice_error(kernel: &str) -> Error {
        Error::misuse(
            "cuLaunchKernelEx",
            Code::INVALID_VALUE,
            format!("kernel `{kernel}` is passed one array twice, and writes it by a surface"),
            "fetches and reads need not see what the same launch writes: write another array, or launch twice",
        )
    }

    #[cold]
    pub(crate) fn empty_reference_error(kernel: &str) -> Error {
        Error::Limit(Box::new(LimitError {
            call: "cuLaunchKernelEx",
            code: Code::INVALID_VALUE,
            subject: kernel.into(),
            what: "the length of memory passed for an `&T` parameter",
            value: 0,
            limit: 1,
            hint: "a reference needs an element: pass a part of the buffer that is not empty"
                .into(),
        }))
    }
}

/// An argument for the kernel parameter that `M` stands for.
#[diagnostic::on_unimplemented(
    message = "the argument `{Self}` does not fit the kernel parameter `{M}`",
    label = "`{Self}` does not fit `{M}`",
    note = "`Value<T>` takes a `T`; `In<T>` (`&[T]`) takes `&DeviceBuffer<T>` or a slice of it; `Out<T>` takes `&mut DeviceBuffer<T>` or a mutable slice",
    note = "`InMatrix<T>` takes `buffer.matrix(rows, columns)?`, `OutMatrix<T>` takes `buffer.matrix_mut(rows, columns)?`",
    note = "`OutVolume<T>` takes `buffer.volume_mut(depth, rows, columns)?`",
    note = "`InTexture<T, Dim2>` takes a `&Texture<T, Extent2>` and `OutSurface<T, Dim2>` a `&mut Surface<T, Extent2>`, others likewise",
    note = "`GraphHandle` (`DeviceGraph` of the device library) takes `&DeviceGraph`: `graph.instantiate_for_device_launch(&stream)?`",
    note = "`ConditionHandle` (`graph::Condition` of the device library) takes a `Condition`: `graph.condition(start)?`"
)]
pub trait Argument<M: ?Sized> {
    #[doc(hidden)]
    fn pack<'a>(&'a self, packer: &mut Packer<'a>);
}

/// A tuple of arguments for the parameters `P`.
#[diagnostic::on_unimplemented(
    message = "these arguments do not fit the kernel's parameters",
    label = "the kernel takes `{P}`, which `{Self}` does not match in number or types",
    note = "pass a tuple with one element for each parameter of the kernel; one argument is written `(x,)`"
)]
pub trait Arguments<P> {
    #[doc(hidden)]
    fn pack<'a>(&'a self, packer: &mut Packer<'a>);
}

impl<T: Pod> Argument<Value<T>> for T {
    #[inline]
    fn pack<'a>(&'a self, packer: &mut Packer<'a>) {
        packer.by_reference(self);
    }
}

macro_rules! readable {
    ($($argument:ty),*) => {$(
        impl<T: Pod> Argument<In<T>> for $argument {
            #[inline]
            fn pack<'a>(&'a self, packer: &mut Packer<'a>) {
                packer.slice(self.raw_view(), AccessKind::Read);
            }
        }

        impl<T: Pod> Argument<InRef<T>> for $argument {
            #[inline]
            fn pack<'a>(&'a self, packer: &mut Packer<'a>) {
                let view = self.raw_view();
                packer.empty_reference |= view.len == 0;
                let address = packer.memory(view, AccessKind::Read);
                packer.word(address);
            }
        }

        impl<T: Pod> Argument<RawPtr<T>> for $argument {
            #[inline]
            fn pack<'a>(&'a self, packer: &mut Packer<'a>) {
                let address = packer.memory(self.raw_view(), AccessKind::Write);
                packer.word(address);
            }
        }
    )*};
}

macro_rules! writable {
    ($($argument:ty),*) => {$(
        impl<T: Pod> Argument<Out<T>> for $argument {
            #[inline]
            fn pack<'a>(&'a self, packer: &mut Packer<'a>) {
                packer.slice(self.raw_view(), AccessKind::Write);
            }
        }

        impl<T: Pod> Argument<SystemAtomics<T>> for $argument {
            #[inline]
            fn pack<'a>(&'a self, packer: &mut Packer<'a>) {
                packer.slice(self.raw_view(), AccessKind::Write);
            }
        }

        impl<T: Pod> Argument<RawPtr<T>> for $argument {
            #[inline]
            fn pack<'a>(&'a self, packer: &mut Packer<'a>) {
                let address = packer.memory(self.raw_view(), AccessKind::Write);
                packer.word(address);
            }
        }
    )*};
}

readable!(
    &DeviceBuffer<T>,
    DeviceSlice<'_, T>,
    &DeviceSlice<'_, T>,
    &GrowableBuffer<T>,
    &UnifiedBuffer<T>,
    &MappedBuffer<T>,
    &RegisteredBuffer<T>,
    &WriteCombinedBuffer<T>,
    &AnyBuffer<T>
);
writable!(
    &mut DeviceBuffer<T>,
    DeviceSliceMut<'_, T>,
    &mut DeviceSliceMut<'_, T>,
    &mut GrowableBuffer<T>,
    &mut UnifiedBuffer<T>,
    &mut MappedBuffer<T>,
    &mut RegisteredBuffer<T>,
    &mut AnyBuffer<T>
);

impl<W: SharedWord> Argument<SystemAtomics<W>> for &SharedAtomics<W> {
    #[inline]
    fn pack<'a>(&'a self, packer: &mut Packer<'a>) {
        // Kernels write the words beside each other, which is what reads need: no order, and memory that is kept.
        packer.slice(self.view(), AccessKind::Read);
    }
}

macro_rules! pointers {
    ($($marker:ident),*) => {$(
        impl<T> Argument<$marker<T>> for DevicePointer<T> {
            #[inline]
            fn pack<'a>(&'a self, packer: &mut Packer<'a>) {
                packer.word(self.address());
            }
        }
    )*};
}

pointers!(RawPtr);

macro_rules! texels {
    ($([$($generics:tt)*] $argument:ty, $marker:ty, $object:ident, $uses:ident $kind:ident;)*) => {$(
        impl<$($generics)*> Argument<$marker> for $argument {
            #[inline]
            fn pack<'a>(&'a self, packer: &mut Packer<'a>) {
                packer.$uses(self.view(), AccessKind::$kind);
                packer.texels(self.object(), self.extents_in_kernels());
            }
        }

        impl<$($generics)*> Argument<$object> for $argument {
            #[inline]
            fn pack<'a>(&'a self, packer: &mut Packer<'a>) {
                packer.memory(self.view(), AccessKind::$kind);
                packer.word(self.object());
            }
        }
    )*};
}

texels! {
    [F: Fetched, D: ArrayExtents] &Texture<F, D>, InTexture<F, D::Geometry>, TextureObject, array Read;
    [T: Texel, D: ArrayExtents] &mut Surface<T, D>, OutSurface<T, D::SurfaceGeometry>, SurfaceObject, array Write;
    [F: Fetched, D: LevelExtents] &MipmappedTexture<F, D>, InTexture<F, Mipmapped<D::Geometry>>, TextureObject, array Read;
    [F: Fetched] &LinearTexture<'_, F>, InTexture<F, Linear>, TextureObject, memory Read;
    [F: Fetched] &PitchedTexture<'_, F>, InTexture<F, Dim2>, TextureObject, memory Read;
}

macro_rules! matrices {
    ($($argument:ty, $marker:ident, $kind:ident;)*) => {$(
        impl<T: Pod> Argument<$marker<T>> for $argument {
            #[inline]
            fn pack<'a>(&'a self, packer: &mut Packer<'a>) {
                packer.matrix(self.elements.view(), self.shape, AccessKind::$kind);
            }
        }
    )*};
}

matrices! {
    Matrix<'_, T>, InMatrix, Read;
    &Matrix<'_, T>, InMatrix, Read;
    MatrixMut<'_, T>, OutMatrix, Write;
    &mut MatrixMut<'_, T>, OutMatrix, Write;
}

macro_rules! volumes {
    ($($argument:ty),*) => {$(
        impl<T: Pod> Argument<OutVolume<T>> for $argument {
            #[inline]
            fn pack<'a>(&'a self, packer: &mut Packer<'a>) {
                let shape = self.shape;
                let address = packer.memory(self.elements.view(), AccessKind::Write);
                packer.word(address);
                packer.word(shape.depth.into());
                packer.word(shape.rows.into());
                packer.word(volume_rows(shape.columns, shape.stride));
            }
        }
    )*};
}

volumes!(VolumeMut<'_, T>, &mut VolumeMut<'_, T>);

impl<M, A: Argument<M>> Argument<Awaited<M>> for A {
    #[inline]
    fn pack<'a>(&'a self, packer: &mut Packer<'a>) {
        Argument::<M>::pack(self, packer);
    }
}

mod early {
    //! Parameters of which none leads to memory before the grids are awaited that a launch depends on.

    use warpsmith_device::launch::{Awaited, Value};

    /// Such a parameter.
    #[diagnostic::on_unimplemented(
        message = "this kernel cannot begin before the kernels before it have ended",
        label = "its parameter `{Self}` leads to memory from the beginning",
        note = "wrap it in the kernel: `AfterPrimary<&[T]>`, `AfterPrimary<PerThread<[T]>>`; or say why it is sound by \
                `LaunchOptions::programmatic_serialization`, which is `unsafe`",
        note = "a kernel with textures or surfaces is launched in order: a fetch after the wait need not see what was written before"
    )]
    pub trait Early {}
    impl<T> Early for Value<T> {}
    impl<M> Early for Awaited<M> {}

    /// A tuple of parameters of which none leads to memory before the wait: numbers, structs by value, and
    /// [`AfterPrimary`](warpsmith_device::dependent::AfterPrimary). For [`Stream::launch_early`](crate::Stream::launch_early).
    pub trait EarlyParameters {}
}
use early::Early;
pub use early::EarlyParameters;

macro_rules! tuples {
    ($($argument:ident $marker:ident $index:tt),*) => {
        impl<$($argument: Argument<$marker>, $marker),*> Arguments<($($marker,)*)> for ($($argument,)*) {
            #[inline]
            #[allow(unused_variables)]
            fn pack<'a>(&'a self, packer: &mut Packer<'a>) {
                $(self.$index.pack(packer);)*
            }
        }

        impl<$($marker: Early),*> EarlyParameters for ($($marker,)*) {}
    };
}

tuples!();
tuples!(A0 M0 0);
tuples!(A0 M0 0, A1 M1 1);
tuples!(A0 M0 0, A1 M1 1, A2 M2 2);
tuples!(A0 M0 0, A1 M1 1, A2 M2 2, A3 M3 3);
tuples!(A0 M0 0, A1 M1 1, A2 M2 2, A3 M3 3, A4 M4 4);
tuples!(A0 M0 0, A1 M1 1, A2 M2 2, A3 M3 3, A4 M4 4, A5 M5 5);
tuples!(A0 M0 0, A1 M1 1, A2 M2 2, A3 M3 3, A4 M4 4, A5 M5 5, A6 M6 6);
tuples!(A0 M0 0, A1 M1 1, A2 M2 2, A3 M3 3, A4 M4 4, A5 M5 5, A6 M6 6, A7 M7 7);
tuples!(A0 M0 0, A1 M1 1, A2 M2 2, A3 M3 3, A4 M4 4, A5 M5 5, A6 M6 6, A7 M7 7, A8 M8 8);
tuples!(A0 M0 0, A1 M1 1, A2 M2 2, A3 M3 3, A4 M4 4, A5 M5 5, A6 M6 6, A7 M7 7, A8 M8 8, A9 M9 9);
tuples!(A0 M0 0, A1 M1 1, A2 M2 2, A3 M3 3, A4 M4 4, A5 M5 5, A6 M6 6, A7 M7 7, A8 M8 8, A9 M9 9, A10 M10 10);
tuples!(A0 M0 0, A1 M1 1, A2 M2 2, A3 M3 3, A4 M4 4, A5 M5 5, A6 M6 6, A7 M7 7, A8 M8 8, A9 M9 9, A10 M10 10, A11 M11 11);
tuples!(A0 M0 0, A1 M1 1, A2 M2 2, A3 M3 3, A4 M4 4, A5 M5 5, A6 M6 6, A7 M7 7, A8 M8 8, A9 M9 9, A10 M10 10, A11 M11 11, A12 M12 12);
tuples!(A0 M0 0, A1 M1 1, A2 M2 2, A3 M3 3, A4 M4 4, A5 M5 5, A6 M6 6, A7 M7 7, A8 M8 8, A9 M9 9, A10 M10 10, A11 M11 11, A12 M12 12, A13 M13 13);
tuples!(A0 M0 0, A1 M1 1, A2 M2 2, A3 M3 3, A4 M4 4, A5 M5 5, A6 M6 6, A7 M7 7, A8 M8 8, A9 M9 9, A10 M10 10, A11 M11 11, A12 M12 12, A13 M13 13, A14 M14 14);
tuples!(A0 M0 0, A1 M1 1, A2 M2 2, A3 M3 3, A4 M4 4, A5 M5 5, A6 M6 6, A7 M7 7, A8 M8 8, A9 M9 9, A10 M10 10, A11 M11 11, A12 M12 12, A13 M13 13, A14 M14 14, A15 M15 15);
