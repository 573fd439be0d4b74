//! Tensors as the C structs in which they pass between libraries.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use super::abi::{DLManagedTensor, DLManagedTensorVersioned, DLTensor, READ_ONLY, VERSION};
use super::element::{Device, ElementType};
use super::tensor::Tensor;
use crate::error::{Code, Error, Result};

/// A library's struct, given back by its deleter when this is dropped.
enum RawTensor {
    Plain(NonNull<DLManagedTensor>),
    Versioned(NonNull<DLManagedTensorVersioned>),
}

// SAFETY: all that is done with the struct is to call its deleter, and the callers of `from_raw` say that any thread may.
unsafe impl Send for RawTensor {}
// SAFETY: nothing can be done with a shared reference.
unsafe impl Sync for RawTensor {}

impl Drop for RawTensor {
    fn drop(&mut self) {
        // SAFETY: the struct was handed over by `from_raw` or `from_raw_versioned`, whose callers say that it is valid until its deleter
        // is called, by whoever has it; this has it, and `drop` runs once.
        unsafe {
            match *self {
                RawTensor::Plain(raw) => {
                    if let Some(deleter) = raw.as_ref().deleter {
                        deleter(raw.as_ptr());
                    }
                }
                RawTensor::Versioned(raw) => {
                    if let Some(deleter) = raw.as_ref().deleter {
                        deleter(raw.as_ptr());
                    }
                }
            }
        }
    }
}

impl Tensor {
    /// Takes a library's tensor over: that of a capsule `dltensor`, which is to be renamed to `used_dltensor`.
    ///
    /// # Errors
    ///
    /// The struct contradicts itself; its deleter has been called then.
    ///
    /// # Safety
    ///
    /// The pointer is a valid struct's with its deleter not called, which nobody else has from here on; the deleter may be called from any
    /// thread.
    pub unsafe fn from_raw(raw: NonNull<DLManagedTensor>) -> Result<Tensor> {
        let owner = RawTensor::Plain(raw);
        // SAFETY: the caller says that the struct is valid.
        let tensor = unsafe { raw.as_ref() }.dl_tensor;
        // SAFETY: it is the owner's, which is kept.
        unsafe { Tensor::of_raw(&tensor, false, owner) }
    }

    /// As [`from_raw`](Self::from_raw), of a capsule `dltensor_versioned`.
    ///
    /// # Errors
    ///
    /// Those of [`from_raw`](Self::from_raw), or the struct is of another major version than 1.
    ///
    /// # Safety
    ///
    /// As for [`from_raw`](Self::from_raw).
    pub unsafe fn from_raw_versioned(raw: NonNull<DLManagedTensorVersioned>) -> Result<Tensor> {
        let owner = RawTensor::Versioned(raw);
        // SAFETY: the caller says that the struct is valid: of whichever version, it begins with its number.
        let version = unsafe { (*raw.as_ptr()).version };
        if version.major != VERSION.major {
            return Err(Error::misuse(
                "Tensor::from_raw_versioned",
                Code::INVALID_VALUE,
                format!(
                    "the tensor is of DLPack {}.{}",
                    version.major, version.minor
                ),
                "have the library export DLPack 1: `__dlpack__(max_version=(1, 0))`",
            ));
        }
        // SAFETY: the caller says that the struct is valid, and it is of this version.
        let (tensor, flags) = unsafe { (raw.as_ref().dl_tensor, raw.as_ref().flags) };
        // SAFETY: it is the owner's, which is kept.
        unsafe { Tensor::of_raw(&tensor, flags & READ_ONLY != 0, owner) }
    }

    /// # Safety
    ///
    /// The tensor is a valid struct, the owner's.
    unsafe fn of_raw(tensor: &DLTensor, is_read_only: bool, owner: RawTensor) -> Result<Tensor> {
        let invalid = |what: String| {
            Error::misuse(
                "Tensor::from_raw",
                Code::INVALID_VALUE,
                what,
                "the library that made it does not keep to DLPack",
            )
        };
        let dimensions = usize::try_from(tensor.ndim)
            .map_err(|_| invalid(format!("the tensor has {} dimensions", tensor.ndim)))?;
        if dimensions > 0 && tensor.shape.is_null() {
            return Err(invalid(format!(
                "the tensor has {dimensions} dimensions and no shape"
            )));
        }
        let list = |first: *const i64| match dimensions {
            0 => Vec::new(),
            // SAFETY: a valid struct has as many numbers there as dimensions, and they are not null (above, and below).
            _ => unsafe { std::slice::from_raw_parts(first, dimensions) }.to_vec(),
        };
        let shape = list(tensor.shape);
        if shape.iter().any(|&extent| extent < 0) {
            return Err(invalid(format!("the tensor has the shape {shape:?}")));
        }
        Ok(Tensor {
            address: (tensor.data as u64).wrapping_add(tensor.byte_offset),
            device: Device::of_raw(tensor.device),
            element: ElementType(tensor.dtype),
            shape,
            strides: (!tensor.strides.is_null()).then(|| list(tensor.strides)),
            is_read_only,
            _owner: Box::new(owner),
        })
    }

    /// Hands the tensor over to a library, as a struct for a capsule `dltensor`. Who has it calls its deleter once, from any thread, when it
    /// does not use the memory any more; see [`Consumer`](super::Consumer) for what may still be enqueued then. A struct whose deleter is never
    /// called leaks.
    ///
    /// A tensor that is not to be written loses that mark, for which these structs have no room.
    pub fn into_raw(self) -> NonNull<DLManagedTensor> {
        Capsule::leak(self, |dl_tensor, manager_ctx| DLManagedTensor {
            dl_tensor,
            manager_ctx,
            deleter: Some(delete_plain),
        })
    }

    /// As [`into_raw`](Self::into_raw), for a capsule `dltensor_versioned`, which keeps the mark.
    pub fn into_raw_versioned(self) -> NonNull<DLManagedTensorVersioned> {
        let flags = if self.is_read_only { READ_ONLY } else { 0 };
        Capsule::leak(self, |dl_tensor, manager_ctx| DLManagedTensorVersioned {
            version: VERSION,
            manager_ctx,
            deleter: Some(delete_versioned),
            flags,
            dl_tensor,
        })
    }
}

/// A struct for another library, with what it points to.
struct Capsule<C> {
    raw: MaybeUninit<C>,
    tensor: Tensor,
}

impl<C> Capsule<C> {
    /// Makes the struct, whose deleter calls [`delete`](Self::delete) with its `manager_ctx`.
    fn leak(tensor: Tensor, make: impl FnOnce(DLTensor, *mut c_void) -> C) -> NonNull<C> {
        let context = Box::into_raw(Box::new(Capsule {
            raw: MaybeUninit::uninit(),
            tensor,
        }));
        // SAFETY: `context` is the box that was leaked above, which nobody else knows yet.
        let tensor = unsafe { &mut (*context).tensor };
        let list = |list: &mut Vec<i64>| match list.is_empty() {
            true => std::ptr::null_mut(),
            false => list.as_mut_ptr(),
        };
        let description = DLTensor {
            data: std::ptr::with_exposed_provenance_mut(tensor.address as usize),
            device: tensor.device.to_raw(),
            // As many as came from an `i32`, or from `export`, which looks at their number.
            ndim: tensor.shape.len() as i32,
            dtype: tensor.element.0,
            shape: list(&mut tensor.shape),
            strides: tensor.strides.as_mut().map_or(std::ptr::null_mut(), list),
            byte_offset: 0,
        };
        // SAFETY: `context` is the box that was leaked above, which nobody else knows yet.
        unsafe {
            (*context).raw.write(make(description, context.cast()));
            NonNull::new_unchecked((&raw mut (*context).raw).cast())
        }
    }

    /// # Safety
    ///
    /// `context` is the `manager_ctx` of a struct of [`leak`](Self::leak), and this is the only call for it.
    unsafe fn delete(context: *mut c_void) {
        // SAFETY: `leak` made it of a box, which is taken back once.
        drop(unsafe { Box::from_raw(context.cast::<Capsule<C>>()) });
    }
}

/// # Safety
///
/// `raw` is a struct of [`Tensor::into_raw`], and this is the only call for it.
unsafe extern "C" fn delete_plain(raw: *mut DLManagedTensor) {
    // SAFETY: the struct is valid until this returns, and of such a capsule.
    unsafe { Capsule::<DLManagedTensor>::delete((*raw).manager_ctx) }
}

/// # Safety
///
/// `raw` is a struct of [`Tensor::into_raw_versioned`], and this is the only call for it.
unsafe extern "C" fn delete_versioned(raw: *mut DLManagedTensorVersioned) {
    // SAFETY: the struct is valid until this returns, and of such a capsule.
    unsafe { Capsule::<DLManagedTensorVersioned>::delete((*raw).manager_ctx) }
}
