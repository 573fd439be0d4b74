//! What can be passed for which kernel parameter, checked by the compiler.
//!
//! A kernel's type carries a tuple of markers (`Value<f32>`, `In<f32>`, `Out<f32>`...); a tuple of arguments fits if each element
//! implements [`Argument`] for the marker of the same position. A parameter that is written takes `&mut`, so that one buffer cannot be two
//! outputs, nor input and output.

use bytemuck::Pod;
use warpsmith_device::launch::{
    Awaited, In, InMatrix, InRef, InTexture, MulticastWords, Out, OutMatrix, OutSurface, OutVolume,
    RawPtr, SurfaceObject, SystemAtomics, TextureObject, Value,
};
use warpsmith_device::texture::{Dim2, Fetched, Linear, Mipmapped};
use warpsmith_device::view::volume_rows;

use super::packer::{Packer, Words};
use crate::memory::{
    AnyBuffer, ArrayExtents, DeviceBuffer, DevicePointer, DeviceRead, DeviceSlice, DeviceSliceMut,
    GrowableBuffer, LevelExtents, LinearTexture, MappedBuffer, Matrix, MatrixMut, MipmappedTexture,
    MulticastReplica, PitchedTexture, RegisteredBuffer, SharedAtomics, SharedWord, Surface, Texel,
    Texture, UnifiedBuffer, VolumeMut, WriteCombinedBuffer,
};
use crate::order::access::AccessKind;

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

/// Packs arguments for `take`: for a launch in the stream that has this number now, or in none (0). A part of each launch: that it is inlined
/// leaves the arguments where they are.
#[inline(always)]
pub(crate) fn packed<P, R>(
    stream_number: u64,
    arguments: &impl Arguments<P>,
    take: impl FnOnce(&mut Packer<'_>) -> R,
) -> R {
    let mut words = Words::new();
    let mut packer = Packer::new(stream_number, &mut words);
    arguments.pack(&mut packer);
    take(&mut packer)
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
                packer.slice::<T>(self.raw_view(), AccessKind::Read);
            }
        }

        impl<T: Pod> Argument<InRef<T>> for $argument {
            #[inline]
            fn pack<'a>(&'a self, packer: &mut Packer<'a>) {
                let view = self.raw_view();
                packer.empty_reference |= view.len == 0;
                let address = packer.elements::<T>(view, AccessKind::Read);
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
                packer.slice::<T>(self.raw_view(), AccessKind::Write);
            }
        }

        impl<T: Pod> Argument<SystemAtomics<T>> for $argument {
            #[inline]
            fn pack<'a>(&'a self, packer: &mut Packer<'a>) {
                packer.slice::<T>(self.raw_view(), AccessKind::Write);
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

impl<T: Pod> Argument<MulticastWords<T>> for MulticastReplica<'_, T> {
    #[inline]
    fn pack<'a>(&'a self, packer: &mut Packer<'a>) {
        // Kernels of all devices use the words beside each other, which is what reads need: no order, and memory that is kept.
        let local = packer.memory(self.view(), AccessKind::Read);
        packer.word(local + self.team_offset());
        packer.word(self.view().len as u64);
        packer.word(local);
    }
}

impl<W: SharedWord> Argument<SystemAtomics<W>> for &SharedAtomics<W> {
    #[inline]
    fn pack<'a>(&'a self, packer: &mut Packer<'a>) {
        // Kernels write the words beside each other, which is what reads need: no order, and memory that is kept.
        packer.slice::<W>(self.view(), AccessKind::Read);
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
                packer.matrix::<T>(self.elements.view(), self.shape, AccessKind::$kind);
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
                let address = packer.elements::<T>(self.elements.view(), AccessKind::Write);
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
