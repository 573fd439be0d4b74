//! Tensors in the capsules by which Python's libraries exchange them (<https://dmlc.github.io/dlpack/latest/python_spec.html>).

use std::ffi::CStr;

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use warpsmith_host::interop::dlpack::Tensor;

use crate::raise;

const PLAIN: &CStr = c"dltensor";
const USED_PLAIN: &CStr = c"used_dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";
const USED_VERSIONED: &CStr = c"used_dltensor_versioned";

/// Takes the tensor of a capsule that a producer made, which gets the name of those that are used.
pub fn take(capsule: &Bound<'_, PyCapsule>) -> PyResult<Tensor> {
    let rename = |name: &'static CStr| {
        // SAFETY: the capsule is one, and the name lives as long as the process.
        match unsafe { ffi::PyCapsule_SetName(capsule.as_ptr(), name.as_ptr()) } {
            0 => Ok(()),
            _ => Err(PyErr::fetch(capsule.py())),
        }
    };
    let tensor = if capsule.is_valid_checked(Some(VERSIONED)) {
        let raw = capsule.pointer_checked(Some(VERSIONED))?;
        rename(USED_VERSIONED)?;
        // SAFETY: a capsule of this name has such a struct, and that of one that is not used has no other owner; Python's deleters are called from any
        // thread.
        unsafe { Tensor::from_raw_versioned(raw.cast()) }
    } else if capsule.is_valid_checked(Some(PLAIN)) {
        let raw = capsule.pointer_checked(Some(PLAIN))?;
        rename(USED_PLAIN)?;
        // SAFETY: a capsule of this name has such a struct, and that of one that is not used has no other owner; Python's deleters are called from any
        // thread.
        unsafe { Tensor::from_raw(raw.cast()) }
    } else {
        let message = "the capsule holds no tensor, or one that was taken already";
        return Err(PyBufferError::new_err(message));
    };
    tensor.map_err(raise)
}

/// Puts a tensor into a new capsule, with or without a version as the consumer asks.
pub fn put(py: Python<'_>, tensor: Tensor, versioned: bool) -> PyResult<Py<PyAny>> {
    let (raw, name, destructor): (_, _, ffi::PyCapsule_Destructor) = match versioned {
        true => (
            tensor.into_raw_versioned().as_ptr().cast(),
            VERSIONED,
            drop_versioned,
        ),
        false => (tensor.into_raw().as_ptr().cast(), PLAIN, drop_plain),
    };
    // SAFETY: the pointer is not null, the name lives as long as the process, and the destructor is one of such capsules. The result is null or a
    // new reference.
    unsafe {
        let capsule = ffi::PyCapsule_New(raw, name.as_ptr(), Some(destructor));
        Bound::from_owned_ptr_or_err(py, capsule).map(Bound::unbind)
    }
}

/// # Safety
///
/// The capsule is one of [`put`] that nobody has any more.
unsafe extern "C" fn drop_versioned(capsule: *mut ffi::PyObject) {
    // SAFETY: where it still has this name, nobody took the tensor, which `put` made.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, VERSIONED.as_ptr()) != 0 {
            let raw = ffi::PyCapsule_GetPointer(capsule, VERSIONED.as_ptr());
            drop(std::ptr::NonNull::new(raw.cast()).map(|raw| Tensor::from_raw_versioned(raw)));
        }
    }
}

/// # Safety
///
/// As for [`drop_versioned`].
unsafe extern "C" fn drop_plain(capsule: *mut ffi::PyObject) {
    // SAFETY: where it still has this name, nobody took the tensor, which `put` made.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, PLAIN.as_ptr()) != 0 {
            let raw = ffi::PyCapsule_GetPointer(capsule, PLAIN.as_ptr());
            drop(std::ptr::NonNull::new(raw.cast()).map(|raw| Tensor::from_raw(raw)));
        }
    }
}
