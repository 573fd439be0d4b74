//! Textures of memory that has an address: of a buffer's elements, and of a matrix with padded rows.

use std::marker::PhantomData;
use std::ops::RangeBounds;
use std::sync::Arc;

use warpsmith_device::texture::Fetched;
use warpsmith_driver::raw::CUdevice_attribute as Key;

use super::extents::Extent2;
use super::sampling::{LevelOptions, ReadMode, TextureOptions};
use super::texel::{NormalisedTexel, Texel};
use super::texture_objects::{Reading, Texels};
use crate::context::attribute::Attribute;
use crate::error::{Code, Error, LimitError, Result};
use crate::memory::allocation::Allocation;
use crate::memory::buffer::DeviceBuffer;
use crate::memory::pitched::PitchedBuffer;
use crate::memory::view::RawView;
use crate::order::history::OrderedMemory;

const CALL: &str = "cuTexObjectCreate";

/// A way to read elements of a buffer by texture fetches in kernels, by their index: a kernel takes it as its
/// [`LinearTexture<F>`](warpsmith_device::texture::LinearTexture).
///
/// It borrows the buffer, so that nobody writes it. What a launch uses stays as long as it needs it.
///
/// ```
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::LinearTexture;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let bytes = stream.upload(&[0_u8, 128, 255])?;
/// let shares: LinearTexture<f32> = bytes.normalised_texture(..)?;
/// assert_eq!(shares.len(), 3);
/// // Textures begin where the device likes it.
/// assert!(bytes.texture(1..).is_err());
/// # Ok(())
/// # }
/// ```
// covers: TEX-11
pub struct LinearTexture<'a, F: Fetched> {
    view: RawView<'a>,
    object: u64,
    of: PhantomData<F>,
}

/// A way to read a matrix with padded rows by texture fetches in kernels: a kernel takes it as its
/// [`Texture2d<F>`](warpsmith_device::texture::Texture2d).
///
/// It borrows the matrix, so that nobody writes it. What a launch uses stays as long as it needs it.
///
/// ```
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::{Filter, TextureOptions};
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let image = stream.pitched_upload(&[1.0_f32; 3 * 65], 3, 65)?;
/// let smooth = image.texture(TextureOptions { filter: Filter::Linear, ..Default::default() })?;
/// assert_eq!((smooth.extents().width, smooth.extents().height), (65, 3));
/// # Ok(())
/// # }
/// ```
// covers: TEX-11
pub struct PitchedTexture<'a, F: Fetched> {
    view: RawView<'a>,
    object: u64,
    extents: Extent2,
    of: PhantomData<F>,
}

/// Something that is more than a device's number of it allows, or less.
fn beyond(subject: &str, what: &'static str, value: u64, limit: u64, hint: String) -> Error {
    Error::Limit(Box::new(LimitError {
        call: CALL,
        code: Code::INVALID_VALUE,
        subject: subject.into(),
        what,
        value,
        limit,
        hint,
    }))
}

fn limit(allocation: &Allocation, key: Key) -> Result<u64> {
    Ok(Attribute(key.0).of(allocation.gpu.context().device)? as u64)
}

/// Refuses what is empty, or longer than a device's number.
fn check_extent(
    allocation: &Allocation,
    subject: &str,
    (what, key): (&'static str, Key),
    value: usize,
) -> Result<()> {
    let most = limit(allocation, key)?;
    match value as u64 {
        0 => Err(beyond(
            subject,
            what,
            0,
            1,
            "have no texture of nothing".into(),
        )),
        value if value > most => Err(beyond(
            subject,
            what,
            value,
            most,
            "an array may be larger".into(),
        )),
        _ => Ok(()),
    }
}

/// Refuses memory that begins where a texture cannot.
fn check_alignment(allocation: &Allocation, subject: &str, address: u64) -> Result<()> {
    let alignment = limit(allocation, Key::CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT)?;
    if address.is_multiple_of(alignment) {
        return Ok(());
    }
    Err(beyond(
        subject,
        "the alignment of its first byte",
        1 << address.trailing_zeros(),
        alignment,
        format!(
            "a texture begins at a multiple of {alignment} bytes: at the buffer's begin, or so many bytes after"
        ),
    ))
}

/// The memory of a view that a texture can have.
///
/// # Errors
///
/// There is none, or it is there for some nodes of a graph alone.
fn memory<'a>(view: &RawView<'a>) -> Result<&'a Arc<Allocation>> {
    let refuse = |message, hint| Err(Error::misuse(CALL, Code::INVALID_VALUE, message, hint));
    match view.allocation {
        Some(allocation) if allocation.graph_memory().is_some() => refuse(
            "a texture of memory that a graph allocates",
            "the memory is there while the graph runs: pass the graph a buffer that was there before",
        ),
        Some(allocation) if view.len > 0 => Ok(allocation),
        _ => refuse(
            "a texture of no elements",
            "it has at least one: launch nothing for an empty buffer",
        ),
    }
}

/// The texture object of texels `T` that lie in an allocation.
///
/// # Errors
///
/// The options contradict each other or the texels, or the driver refuses.
///
/// # Safety
///
/// They do lie in it.
unsafe fn object<T: Texel>(
    allocation: &Allocation,
    texels: Texels,
    options: TextureOptions,
    read: ReadMode,
) -> Result<u64> {
    let sampling = options.describe::<T>(read)?;
    let reading = Reading {
        texels,
        options,
        levels: LevelOptions::default(),
        read,
        view: None,
    };
    // SAFETY: the texels lie in the allocation (this function's condition), and a launch that uses the object keeps the allocation.
    unsafe {
        allocation
            .textures()
            .object(&allocation.gpu, reading, &sampling)
    }
}

impl<T: Texel> DeviceBuffer<T> {
    /// A texture of elements, which gives them as they are: integers as integers, `f16` as `f32`.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] where the range begins at no multiple of the device's alignment of textures, or is longer than its longest one of memory
    /// with an address; [`Error::Invalid`] where it is empty, or a graph allocates it.
    ///
    /// # Panics
    ///
    /// The range is out of bounds.
    pub fn texture(&self, range: impl RangeBounds<usize>) -> Result<LinearTexture<'_, T::Fetched>> {
        linear::<T, _>(self.slice(range).view(), ReadMode::Element)
    }

    /// A texture of elements, which gives integers as floats: unsigned ones from 0 to 1, signed ones from -1 to 1.
    ///
    /// # Errors
    ///
    /// As for [`texture`](Self::texture).
    ///
    /// # Panics
    ///
    /// The range is out of bounds.
    pub fn normalised_texture(
        &self,
        range: impl RangeBounds<usize>,
    ) -> Result<LinearTexture<'_, T::Share>>
    where
        T: NormalisedTexel,
    {
        linear::<T, _>(self.slice(range).view(), ReadMode::NormalisedFloat)
    }
}

/// `F` is what fetches give of texels `T` in this mode.
fn linear<T: Texel, F: Fetched>(view: RawView<'_>, read: ReadMode) -> Result<LinearTexture<'_, F>> {
    let allocation = memory(&view)?;
    let subject = format!("{} elements", view.len);
    let width = (
        "their number",
        Key::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH,
    );
    check_extent(allocation, &subject, width, view.len)?;
    check_alignment(allocation, &subject, view.address)?;
    let texels = Texels::Linear {
        address: view.address,
        bytes: view.bytes,
        format: T::FORMAT,
        components: T::COMPONENTS,
    };
    // SAFETY: the texels are the view's, which lies in its allocation.
    let object = unsafe { object::<T>(allocation, texels, TextureOptions::default(), read) }?;
    Ok(LinearTexture {
        view,
        object,
        of: PhantomData,
    })
}

impl<T: Texel> PitchedBuffer<T> {
    /// A texture of the matrix, which gives texels as they are: integers as integers, `f16` as `f32`. x is the column, y the row.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] where it is larger than the device's largest texture of memory with an address; [`Error::Invalid`] where it is empty, or
    /// the options contradict each other or the texels, as for [`Array::texture`](crate::Array::texture).
    pub fn texture(&self, options: TextureOptions) -> Result<PitchedTexture<'_, T::Fetched>> {
        pitched(self, options, ReadMode::Element)
    }

    /// A texture of the matrix, which gives integers as floats: unsigned ones from 0 to 1, signed ones from -1 to 1.
    ///
    /// # Errors
    ///
    /// As for [`texture`](Self::texture).
    pub fn normalised_texture(
        &self,
        options: TextureOptions,
    ) -> Result<PitchedTexture<'_, T::Share>>
    where
        T: NormalisedTexel,
    {
        pitched(self, options, ReadMode::NormalisedFloat)
    }
}

/// `F` is what fetches give of texels `T` in this mode.
fn pitched<T: Texel, F: Fetched>(
    buffer: &PitchedBuffer<T>,
    options: TextureOptions,
    read: ReadMode,
) -> Result<PitchedTexture<'_, F>> {
    let view = buffer.matrix().elements.view();
    let (width, height, pitch) = (buffer.columns(), buffer.rows(), buffer.pitch());
    let allocation = memory(&view)?;
    let subject = format!("{height} x {width} elements");
    for (what, key, value) in [
        (
            "their width",
            Key::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH,
            width,
        ),
        (
            "their height",
            Key::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT,
            height,
        ),
        (
            "their pitch in bytes",
            Key::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH,
            pitch,
        ),
    ] {
        check_extent(allocation, &subject, (what, key), value)?;
    }
    check_alignment(allocation, &subject, view.address)?;
    let multiple = limit(allocation, Key::CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT)?;
    if !(pitch as u64).is_multiple_of(multiple) {
        let hint = format!("the pitch of a texture is a multiple of {multiple} bytes");
        return Err(beyond(
            &subject,
            "their pitch in bytes",
            pitch as u64,
            multiple,
            hint,
        ));
    }
    let texels = Texels::Pitched {
        address: view.address,
        width,
        height,
        pitch,
        format: T::FORMAT,
        components: T::COMPONENTS,
    };
    // SAFETY: the texels are the buffer's, which lies in its allocation.
    let object = unsafe { object::<T>(allocation, texels, options, read) }?;
    Ok(PitchedTexture {
        view,
        object,
        extents: Extent2 { width, height },
        of: PhantomData,
    })
}

impl<F: Fetched> LinearTexture<'_, F> {
    /// Elements.
    // A texture has at least one.
    #[expect(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.view.len
    }

    /// What a kernel gets of it beside the number.
    pub(crate) fn extents_in_kernels(&self) -> [u32; 3] {
        // At most the device's limit, of 32 bits (`linear`).
        [self.view.len as u32, 1, 1]
    }
}

impl<F: Fetched> PitchedTexture<'_, F> {
    /// Columns and rows.
    pub fn extents(&self) -> Extent2 {
        self.extents
    }

    /// What a kernel gets of it beside the number.
    pub(crate) fn extents_in_kernels(&self) -> [u32; 3] {
        // At most the device's limits, of 32 bits (`pitched`).
        [self.extents.width as u32, self.extents.height as u32, 1]
    }
}

macro_rules! objects {
    ($($object:ident),*) => {$(
        impl<F: Fetched> $object<'_, F> {
            /// The object's number, for foreign code. It is valid as long as the memory lives.
            pub fn object(&self) -> u64 {
                self.object
            }

            /// The memory as what a launch uses.
            pub(crate) fn view(&self) -> RawView<'_> {
                self.view
            }
        }

        impl<F: Fetched> std::fmt::Debug for $object<'_, F> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(
                    f,
                    concat!(stringify!($object), "<{}> at {:#x}"),
                    std::any::type_name::<F>(),
                    self.view.address
                )
            }
        }
    )*};
}

objects!(LinearTexture, PitchedTexture);
