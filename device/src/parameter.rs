//! What a kernel takes: which Rust types, as which parameters of the entry, under which promises.
//!
//! `#[kernel]` sees names, and a name says nothing sure about a type: it may be imported under another one, or stand for an
//! alias. So the macro asks the compiler, by the trait [`KernelParameter`] of the function pointer type `fn(P)` for a
//! parameter of type `P`. In a function pointer's type an elided lifetime stands for all lifetimes, as it does in the
//! kernel's signature, so a view with a lifetime of its own choice (`PerThread<'static, [T]>`) is no parameter.
//!
//! Beside the types below a parameter may be a reference, a scalar or a raw pointer. Coherence does not let a trait treat
//! those apart from the structs that are passed by value, so the macro wraps what it sees to be one: [`Reference`],
//! [`Scalar`], [`Raw`].

use core::marker::PhantomData;

use crate::atomic::{AtomicSlice, AtomicValue, GridScope, MulticastSlice};
use crate::dependent::AfterPrimary;
use crate::graph::{Condition, DeviceGraph};
use crate::launch::{
    Awaited, ConditionHandle, GraphHandle, In, InMatrix, InRef, InTexture, MulticastWords, Out,
    OutMatrix, OutSurface, OutVolume, RawPtr, Value, element_alignment,
};
use crate::texture::{Fetched, Geometry, Positioned, Surface, SurfaceTexel, Texture, form_code};
use crate::vector::Lanes;
use crate::view::{
    Matrix, MatrixOut, PerBlock, PerThread, PerThread3d, PerThreadVectors, PerWarp, RowPerBlock,
    RowPerWarp, Scatter, TilePerBlock, VolumeOut,
};

/// Plain data whose bytes may cross between host and device.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed to a kernel",
    label = "its bytes are copied between host and device, so it has to be plain old data",
    note = "give your struct a fixed layout: `#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)] #[repr(C)]`",
    note = "an output is a view of a slice, for the lifetime of the launch: `PerThread<[T]>`",
    note = "memory that threads update by atomic operations is `AtomicSlice<u32>`, not a slice of types of `core::sync::atomic`"
)]
pub trait Passable: Copy + 'static {}
impl<T: bytemuck::Pod> Passable for T {}

/// `fn(P)` for a kernel's parameter of type `P`.
///
/// An entry's parameters are flat: numbers and pointers. There are up to four for a parameter; those that it has not are `()`,
/// of which nothing arrives in PTX.
///
/// # Safety
/// If [`Element`](Self::Element) is [`Passable`]: [`Form`](Self::Form) describes the flat parameters that are not `()`, in their order; [`Marker`](Self::Marker) stands for the
/// same; and no launch of at most [`Form::DIMENSIONS`] dimensions gives two threads access to one element that one of
/// them writes, unless atomically.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot take this parameter",
    label = "its type is none that crosses from the host to the device",
    note = "a kernel takes numbers and structs that are `bytemuck::Pod`, `&[T]`, `&T`, `Matrix<T>`, and the output views \
            `PerThread<[T]>`, `PerThread3d<[T]>`, `PerThreadVectors<[T]>`, `PerWarp<[T]>`, `PerBlock<[T]>`, `MatrixOut<T>`, \
            `RowPerWarp<T>`, `RowPerBlock<T>`, `TilePerBlock<T, R, C>`, `VolumeOut<T>`, `Scatter<[T]>`, `AtomicSlice<T>`, `MulticastSlice<T>`, \
            `DeviceGraph` and `graph::Condition`, each with the lifetime that the launch gives it, and `AfterPrimary` of views and slices",
    note = "of arrays it takes `Texture2d<T>`, `Surface2d<T>` and their like, which have no `AfterPrimary`"
)]
pub unsafe trait KernelParameter {
    /// What the launcher knows it by.
    type Marker;
    /// What crosses: `#[kernel]` asserts that it is [`Passable`].
    type Element;
    /// The first flat parameter.
    type First;
    /// The second.
    type Second;
    /// The third.
    type Third;
    /// The fourth.
    type Fourth;
    /// The parameter's type for one launch.
    type Argument<'launch>;
    /// What the PTX linker and the launcher are told.
    type Form: Form;

    /// Makes the argument out of the flat parameters.
    ///
    /// # Safety
    /// The flat parameters are what a launch passes for the marker: pointers that are valid for their lengths, aligned as [`Form::ROWS`] says,
    /// initialised, and unaliased where a view promises it, and objects of the kind that the marker says, for as long as the kernel runs.
    unsafe fn rebuild<'launch>(
        first: Self::First,
        second: Self::Second,
        third: Self::Third,
        fourth: Self::Fourth,
        launch: &'launch Launch,
    ) -> Self::Argument<'launch>;
}

/// Lives in an entry, so that no argument's lifetime is longer than the kernel runs.
pub struct Launch;

/// `&X`
pub struct Reference<X: ?Sized>(PhantomData<fn(&X)>);
/// A number, by value in a register.
pub struct Scalar<T>(PhantomData<fn(T)>);
/// `*const T`, `*mut T`
pub struct Raw<P>(PhantomData<fn(P)>);

/// Kinds of flat parameters, as in the kernel record.
mod kind {
    pub const SCALAR: u32 = 0;
    pub const READ_ONLY: u32 = 1;
    pub const WRITTEN: u32 = 2;
    pub const RAW: u32 = 3;
    pub const BY_VALUE: u32 = 4;
}

/// Forms tell parameters apart whose flat parameters are alike.
mod form {
    pub const SCALAR: u32 = 1;
    pub const HALF: u32 = 2;
    pub const STRUCT: u32 = 3;
    pub const SLICE: u32 = 4;
    pub const REFERENCE: u32 = 5;
    pub const OUTPUT: u32 = 6;
    pub const MATRIX: u32 = 7;
    pub const MATRIX_OUT: u32 = 8;
    pub const RAW: u32 = 9;
    pub const VOLUME_OUT: u32 = 10;
    pub const TEXTURE: u32 = 11;
    pub const SURFACE: u32 = 12;
    pub const DEVICE_GRAPH: u32 = 13;
    pub const CONDITION: u32 = 14;
    pub const MULTICAST: u32 = 15;
    /// Added where the parameter is an `AfterPrimary` of the form's.
    pub const AFTER_PRIMARY: u32 = 16;
    /// What tells textures and surfaces from others is multiplied by it and added.
    pub const TEXELS: u32 = 256;
}

/// What is told of a parameter's flat parameters.
pub trait Form {
    /// Kind, size, alignment and form of each, as in the kernel record. What a pointer with a promise leads to has the alignment
    /// [`element_alignment`].
    const ROWS: &'static [[u32; 4]];
    /// In how many dimensions a launch may extend.
    const DIMENSIONS: u32;
}

/// A flat parameter that is, or leads to, a `T`, and the extents `E` behind it: none (`()`), a length (`usize`), a length and the address of a replica
/// (`(usize, u64)`), rows, columns and stride
/// (`(u32, u32, u32)`), or depth, rows and [`volume_rows`](crate::view::volume_rows) (`(u32, u32, u64)`).
pub struct Flat<T, E, const KIND: u32, const FORM: u32, const DIMENSIONS: u32 = 3>(
    PhantomData<fn(T, E)>,
);

const fn row<T>(kind: u32, form: u32) -> [u32; 4] {
    let align = match kind {
        kind::READ_ONLY | kind::WRITTEN => element_alignment::<T>(),
        _ => align_of::<T>(),
    };
    [kind, size_of::<T>() as u32, align as u32, form]
}

macro_rules! forms {
    ($($extents:ty: $($extent:ty),*;)*) => {$(
        impl<T, const KIND: u32, const FORM: u32, const DIMENSIONS: u32> Form
            for Flat<T, $extents, KIND, FORM, DIMENSIONS>
        {
            const ROWS: &'static [[u32; 4]] =
                &[row::<T>(KIND, FORM) $(, row::<$extent>(kind::SCALAR, FORM))*];
            const DIMENSIONS: u32 = DIMENSIONS;
        }
    )*};
}
forms! {
    (): ;
    usize: usize;
    (usize, u64): usize, u64;
    (u32, u32, u32): u32, u32, u32;
    (u32, u32, u64): u32, u32, u64;
}

/// The form `F`, for elements `T` that can be stored atomically, word by word.
pub struct OfWords<T, F>(PhantomData<fn(T, F)>);

impl<T, F: Form> Form for OfWords<T, F> {
    const ROWS: &'static [[u32; 4]] = {
        assert!(
            align_of::<T>().is_multiple_of(4),
            "`Scatter` takes elements that consist of 4-byte words: smaller ones have no atomic stores"
        );
        F::ROWS
    };
    const DIMENSIONS: u32 = F::DIMENSIONS;
}

/// Fails to compile for what cannot cross to the device.
pub const fn assert_passable<T: Passable>() {
    assert!(
        size_of::<T>() != 0,
        "a kernel's parameter cannot be zero-sized: PTX has no such parameters"
    );
}

/// The fewest of the parameters' dimensions.
pub const fn launch_dimensions(parameters: &[u32]) -> u32 {
    let (mut least, mut i) = (3, 0);
    while i < parameters.len() {
        if parameters[i] < least {
            least = parameters[i];
        }
        i += 1;
    }
    least
}

macro_rules! scalars {
    ($($ty:ty as $flat:ty, $form:ident, $rebuild:expr;)*) => {$(
        // SAFETY: the value itself, or its bits in a register of its size.
        unsafe impl KernelParameter for fn(Scalar<$ty>) {
            type Marker = Value<$ty>;
            type Element = $ty;
            type First = $flat;
            type Second = ();
            type Third = ();
            type Fourth = ();
            type Argument<'launch> = $ty;
            type Form = Flat<$flat, (), { kind::SCALAR }, { form::$form }>;

            #[inline(always)]
            unsafe fn rebuild(first: $flat, (): (), (): (), (): (), _: &Launch) -> $ty {
                $rebuild(first)
            }
        }
    )*};
    ($($ty:ty),*) => { scalars! { $($ty as $ty, SCALAR, core::convert::identity;)* } };
}
scalars!(f32, f64, u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);
scalars! {
    half::f16 as u16, HALF, half::f16::from_bits;
    half::bf16 as u16, HALF, half::bf16::from_bits;
}

// SAFETY: plain data by value, in the parameter space.
unsafe impl<T: Passable> KernelParameter for fn(T) {
    type Marker = Value<T>;
    type Element = T;
    type First = *const T;
    type Second = ();
    type Third = ();
    type Fourth = ();
    type Argument<'launch> = T;
    type Form = Flat<T, (), { kind::BY_VALUE }, { form::STRUCT }>;

    #[inline(always)]
    unsafe fn rebuild(first: *const T, (): (), (): (), (): (), _: &Launch) -> T {
        // SAFETY: the parameter space has the value, by the function's condition.
        unsafe { first.read() }
    }
}

// SAFETY: pointer and length of memory that is only read.
unsafe impl<T: 'static> KernelParameter for fn(Reference<[T]>) {
    type Marker = In<T>;
    type Element = T;
    type First = *const T;
    type Second = usize;
    type Third = ();
    type Fourth = ();
    type Argument<'launch> = &'launch [T];
    type Form = Flat<T, usize, { kind::READ_ONLY }, { form::SLICE }>;

    #[inline(always)]
    unsafe fn rebuild(first: *const T, second: usize, (): (), (): (), _: &Launch) -> &[T] {
        // SAFETY: pointer and length are a slice's, by the function's condition; a slice's pointer is not null, and saying so
        // spares `get` a comparison.
        unsafe {
            core::hint::assert_unchecked(!first.is_null());
            core::slice::from_raw_parts(first, second)
        }
    }
}

// SAFETY: pointer and length without promises: other grids may still write the memory.
unsafe impl<T: 'static> KernelParameter for for<'a> fn(AfterPrimary<&'a [T]>) {
    type Marker = Awaited<In<T>>;
    type Element = T;
    type First = *const T;
    type Second = usize;
    type Third = ();
    type Fourth = ();
    type Argument<'launch> = AfterPrimary<&'launch [T]>;
    type Form = Flat<T, usize, { kind::RAW }, { form::SLICE + form::AFTER_PRIMARY }>;

    #[inline(always)]
    unsafe fn rebuild(
        first: *const T,
        second: usize,
        (): (),
        (): (),
        _: &Launch,
    ) -> AfterPrimary<&[T]> {
        // SAFETY: pointer and length are a slice's that other grids do not write any more when they have ended, by the function's condition.
        unsafe { AfterPrimary::new((first, second)) }
    }
}

// SAFETY: a pointer without promises: other grids may still write the value.
unsafe impl<T: 'static> KernelParameter for for<'a> fn(AfterPrimary<&'a T>) {
    type Marker = Awaited<InRef<T>>;
    type Element = T;
    type First = *const T;
    type Second = ();
    type Third = ();
    type Fourth = ();
    type Argument<'launch> = AfterPrimary<&'launch T>;
    type Form = Flat<T, (), { kind::RAW }, { form::REFERENCE + form::AFTER_PRIMARY }>;

    #[inline(always)]
    unsafe fn rebuild(first: *const T, (): (), (): (), (): (), _: &Launch) -> AfterPrimary<&T> {
        // SAFETY: the pointer is that of a value that other grids do not write any more when they have ended, by the function's condition.
        unsafe { AfterPrimary::new(first) }
    }
}

// SAFETY: a pointer to a value that is only read.
unsafe impl<T: 'static> KernelParameter for fn(Reference<T>) {
    type Marker = InRef<T>;
    type Element = T;
    type First = *const T;
    type Second = ();
    type Third = ();
    type Fourth = ();
    type Argument<'launch> = &'launch T;
    type Form = Flat<T, (), { kind::READ_ONLY }, { form::REFERENCE }>;

    #[inline(always)]
    unsafe fn rebuild(first: *const T, (): (), (): (), (): (), _: &Launch) -> &T {
        // SAFETY: the pointer is a reference's, by the function's condition.
        unsafe { &*first }
    }
}

// SAFETY: the handle by value, which leads to no memory: what the graph's nodes reach they reach when the graph runs.
unsafe impl KernelParameter for for<'a> fn(DeviceGraph<'a>) {
    type Marker = GraphHandle;
    type Element = u64;
    type First = u64;
    type Second = ();
    type Third = ();
    type Fourth = ();
    type Argument<'launch> = DeviceGraph<'launch>;
    type Form = Flat<u64, (), { kind::SCALAR }, { form::DEVICE_GRAPH }>;

    #[inline(always)]
    unsafe fn rebuild(first: u64, (): (), (): (), (): (), _: &Launch) -> DeviceGraph<'_> {
        // SAFETY: the handle is what a launch passes for the marker, by the function's condition.
        unsafe { DeviceGraph::from_raw(first) }
    }
}

// SAFETY: the handle by value, which leads to no memory.
unsafe impl KernelParameter for for<'a> fn(Condition<'a>) {
    type Marker = ConditionHandle;
    type Element = u64;
    type First = u64;
    type Second = ();
    type Third = ();
    type Fourth = ();
    type Argument<'launch> = Condition<'launch>;
    type Form = Flat<u64, (), { kind::SCALAR }, { form::CONDITION }>;

    #[inline(always)]
    unsafe fn rebuild(first: u64, (): (), (): (), (): (), _: &Launch) -> Condition<'_> {
        // SAFETY: the handle is what a launch passes for the marker, by the function's condition.
        unsafe { Condition::from_raw(first) }
    }
}

macro_rules! raw_pointers {
    ($($pointer:tt),*) => {$(
        // SAFETY: a pointer without promises; only kernels that are unsafe functions take it.
        unsafe impl<T: 'static> KernelParameter for fn(Raw<*$pointer T>) {
            type Marker = RawPtr<T>;
            type Element = usize;
            type First = *$pointer T;
            type Second = ();
            type Third = ();
            type Fourth = ();
            type Argument<'launch> = *$pointer T;
            type Form = Flat<T, (), { kind::RAW }, { form::RAW }>;

            #[inline(always)]
            unsafe fn rebuild(first: *$pointer T, (): (), (): (), (): (), _: &Launch) -> *$pointer T {
                first
            }
        }
    )*};
}
raw_pointers!(const, mut);

macro_rules! outputs {
    ($($view:ident<$argument:ty $(, $scope:ident: $scopes:path)?>, $dimensions:literal $(, $bound:path)* $(=> $form:ident)?;)*) => {$(
        // SAFETY: pointer and length of memory that is reached through the view only; the view's numbering is one to one in so
        // many dimensions.
        unsafe impl<T: 'static $(+ $bound)* $(, $scope: $scopes + 'static)?> KernelParameter
            for for<'a> fn($view<'a, $argument $(, $scope)?>)
        {
            type Marker = outputs!(@marker T $(, $scope)?);
            type Element = T;
            type First = *mut T;
            type Second = usize;
            type Third = ();
            type Fourth = ();
            type Argument<'launch> = $view<'launch, $argument $(, $scope)?>;
            type Form = outputs!(@form Flat<T, usize, { kind::WRITTEN }, { form::OUTPUT }, $dimensions> $(, $form)?);

            #[inline(always)]
            unsafe fn rebuild<'launch>(
                first: *mut T,
                second: usize,
                (): (),
                (): (),
                _: &'launch Launch,
            ) -> $view<'launch, $argument $(, $scope)?> {
                // SAFETY: pointer and length are of memory for the view alone, by the function's condition.
                unsafe { $view::from_raw_parts(first, second) }
            }
        }

        // SAFETY: pointer and length of memory that is reached through the view only, from the end of other grids; before, without promises.
        unsafe impl<T: 'static $(+ $bound)* $(, $scope: $scopes + 'static)?> KernelParameter
            for for<'a> fn(AfterPrimary<$view<'a, $argument $(, $scope)?>>)
        {
            type Marker = Awaited<outputs!(@marker T $(, $scope)?)>;
            type Element = T;
            type First = *mut T;
            type Second = usize;
            type Third = ();
            type Fourth = ();
            type Argument<'launch> = AfterPrimary<$view<'launch, $argument $(, $scope)?>>;
            type Form = outputs!(
                @form Flat<T, usize, { kind::RAW }, { form::OUTPUT + form::AFTER_PRIMARY }, $dimensions> $(, $form)?
            );

            #[inline(always)]
            unsafe fn rebuild<'launch>(
                first: *mut T,
                second: usize,
                (): (),
                (): (),
                _: &'launch Launch,
            ) -> Self::Argument<'launch> {
                // SAFETY: when other grids have ended, pointer and length are of memory for the view alone, by the function's condition.
                unsafe { AfterPrimary::new((first, second)) }
            }
        }
    )*};
    (@marker $element:ty) => { Out<$element> };
    (@marker $element:ty, $scope:ident) => { $scope::Marker<$element> };
    (@form $form:ty) => { $form };
    (@form $form:ty, $checked:ident) => { $checked<T, $form> };
}
outputs! {
    PerThread<[T]>, 1;
    PerThreadVectors<[T]>, 1, Lanes;
    PerThread3d<[T]>, 3;
    PerBlock<[T]>, 3;
    PerWarp<[T]>, 3;
    Scatter<[T]>, 3, bytemuck::Pod => OfWords;
    AtomicSlice<T, S: GridScope>, 3, AtomicValue;
}

// SAFETY: a multicast address, the words of each replica, and the address of the local one, which the argument uses by strong operations of
// system scope alone.
unsafe impl<T: AtomicValue + 'static> KernelParameter for for<'a> fn(MulticastSlice<'a, T>) {
    type Marker = MulticastWords<T>;
    type Element = T;
    type First = *mut T;
    type Second = usize;
    type Third = u64;
    type Fourth = ();
    type Argument<'launch> = MulticastSlice<'launch, T>;
    type Form = Flat<T, (usize, u64), { kind::RAW }, { form::MULTICAST }>;

    #[inline(always)]
    unsafe fn rebuild<'launch>(
        first: *mut T,
        second: usize,
        third: u64,
        (): (),
        _: &'launch Launch,
    ) -> MulticastSlice<'launch, T> {
        let local = core::ptr::with_exposed_provenance_mut(third as usize);
        // SAFETY: the addresses and the length are a replica's of a multicast buffer, by the function's condition.
        unsafe { MulticastSlice::from_raw_parts(first, local, second) }
    }
}

macro_rules! matrices {
    ($($view:ident $([$($size:ident),*])?, $pointer:tt, $marker:ident, $kind:ident, $form:ident, $dimensions:literal, $last:ty;)*) => {$(
        // SAFETY: pointer and shape of memory that is only read, or reached through the view only, whose numbering is one to one
        // in so many dimensions.
        unsafe impl<T: 'static $($(, const $size: usize)*)?> KernelParameter for for<'a> fn($view<'a, T $($(, $size)*)?>) {
            type Marker = $marker<T>;
            type Element = T;
            type First = *$pointer T;
            type Second = u32;
            type Third = u32;
            type Fourth = $last;
            type Argument<'launch> = $view<'launch, T $($(, $size)*)?>;
            type Form = Flat<T, (u32, u32, $last), { kind::$kind }, { form::$form }, $dimensions>;

            #[inline(always)]
            unsafe fn rebuild<'launch>(
                first: *$pointer T,
                one: u32,
                two: u32,
                last: $last,
                _: &'launch Launch,
            ) -> Self::Argument<'launch> {
                // SAFETY: pointer and shape are a matrix's or a volume's, for the view alone if it writes, by the function's condition.
                unsafe { $view::from_raw_parts(first, one, two, last) }
            }
        }

        // SAFETY: pointer and shape of memory that is only read, or reached through the view only, from the end of other grids on.
        unsafe impl<T: 'static $($(, const $size: usize)*)?> KernelParameter
            for for<'a> fn(AfterPrimary<$view<'a, T $($(, $size)*)?>>)
        {
            type Marker = Awaited<$marker<T>>;
            type Element = T;
            type First = *$pointer T;
            type Second = u32;
            type Third = u32;
            type Fourth = $last;
            type Argument<'launch> = AfterPrimary<$view<'launch, T $($(, $size)*)?>>;
            type Form = Flat<T, (u32, u32, $last), { kind::RAW }, { form::$form + form::AFTER_PRIMARY }, $dimensions>;

            #[inline(always)]
            unsafe fn rebuild<'launch>(
                first: *$pointer T,
                one: u32,
                two: u32,
                last: $last,
                _: &'launch Launch,
            ) -> Self::Argument<'launch> {
                // SAFETY: when other grids have ended, pointer and shape are a matrix's or a volume's, by the function's condition.
                unsafe { AfterPrimary::new((first, (one, two, last))) }
            }
        }
    )*};
}
matrices! {
    Matrix, const, InMatrix, READ_ONLY, MATRIX, 3, u32;
    MatrixOut, mut, OutMatrix, WRITTEN, MATRIX_OUT, 2, u32;
    RowPerWarp, mut, OutMatrix, WRITTEN, MATRIX_OUT, 3, u32;
    RowPerBlock, mut, OutMatrix, WRITTEN, MATRIX_OUT, 3, u32;
    TilePerBlock [R, C], mut, OutMatrix, WRITTEN, MATRIX_OUT, 2, u32;
    VolumeOut, mut, OutVolume, WRITTEN, VOLUME_OUT, 3, u64;
}

/// The number of an object of the geometry `D`, whose texels or fetches are a `T`, and three extents.
pub struct OfTexels<T, D, const FORM: u32>(PhantomData<fn(T, D)>);

/// The rows of such a parameter.
const fn rows_of_texels(form: u32) -> [[u32; 4]; 4] {
    let extent = row::<u32>(kind::SCALAR, form);
    [row::<u64>(kind::SCALAR, form), extent, extent, extent]
}

impl<T: Fetched, D: Geometry> Form for OfTexels<T, D, { form::TEXTURE }> {
    const ROWS: &'static [[u32; 4]] =
        &rows_of_texels(form::TEXTURE + form::TEXELS * form_code::of_texture::<T, D>());
    const DIMENSIONS: u32 = 3;
}

impl<T: SurfaceTexel, D: Positioned> Form for OfTexels<T, D, { form::SURFACE }> {
    const ROWS: &'static [[u32; 4]] =
        &rows_of_texels(form::SURFACE + form::TEXELS * form_code::of_surface::<T, D>());
    const DIMENSIONS: u32 = form_code::axes::<D>();
}

macro_rules! texels {
    ($($object:ident<T: $texel:ident, D: $geometry:ident>, $marker:ident, $form:ident;)*) => {$(
        // SAFETY: a texture is only read; a surface is reached through the view only, whose positions are one to one in as many dimensions
        // as its texels have.
        unsafe impl<T: $texel, D: $geometry> KernelParameter for for<'a> fn($object<'a, T, D>) {
            type Marker = $marker<T, D>;
            type Element = T;
            type First = u64;
            type Second = u32;
            type Third = u32;
            type Fourth = u32;
            type Argument<'launch> = $object<'launch, T, D>;
            type Form = OfTexels<T, D, { form::$form }>;

            #[inline(always)]
            unsafe fn rebuild<'launch>(
                object: u64,
                one: u32,
                two: u32,
                three: u32,
                _: &'launch Launch,
            ) -> $object<'launch, T, D> {
                // SAFETY: the object is of this kind and of these extents, by the function's condition.
                unsafe { $object::from_raw_parts(object, [one, two, three]) }
            }
        }
    )*};
}
texels! {
    Texture<T: Fetched, D: Geometry>, InTexture, TEXTURE;
    Surface<T: SurfaceTexel, D: Positioned>, OutSurface, SURFACE;
}
