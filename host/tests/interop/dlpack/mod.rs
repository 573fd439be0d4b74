//! Tensors to and from other libraries, by DLPack.

mod exports;
mod imports;

use crate::common::{Gate, TestGpu, gpu, module};
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use warpsmith_driver::raw;
use warpsmith_host::interop::dlpack::{
    Consumer, DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion,
    DLTensor, Device, Tensor,
};
use warpsmith_host::prelude::*;

const FLOAT32: DLDataType = DLDataType {
    code: 2,
    bits: 32,
    lanes: 1,
};
const CUDA: i32 = 2;

/// What another library hands over: its own struct, which counts how often its deleter is called.
struct Library {
    deleted: Arc<AtomicU32>,
    extents: Vec<i64>,
    strides: Vec<i64>,
    /// What the memory is in, until it is given back.
    _memory: Option<DeviceBuffer<f32>>,
}

impl Library {
    fn new(memory: Option<DeviceBuffer<f32>>, extents: &[i64]) -> (Library, Arc<AtomicU32>) {
        let deleted = Arc::new(AtomicU32::new(0));
        let library = Library {
            deleted: deleted.clone(),
            extents: extents.to_vec(),
            strides: Vec::new(),
            _memory: memory,
        };
        (library, deleted)
    }

    /// The struct; `change` makes it what it is not.
    fn export(self, gpu: &Gpu, change: impl FnOnce(&mut DLTensor)) -> NonNull<DLManagedTensor> {
        let (address, id) = (
            self._memory
                .as_ref()
                .map_or(0, |memory| memory.as_device_ptr().address()),
            number(gpu),
        );
        let library = Box::leak(Box::new(self));
        let mut tensor = DLTensor {
            data: std::ptr::with_exposed_provenance_mut(address as usize),
            device: DLDevice {
                device_type: CUDA,
                device_id: id,
            },
            ndim: library.extents.len() as i32,
            dtype: FLOAT32,
            shape: library.extents.as_mut_ptr(),
            strides: match library.strides.is_empty() {
                true => null_mut(),
                false => library.strides.as_mut_ptr(),
            },
            byte_offset: 0,
        };
        change(&mut tensor);
        let managed = Box::new(DLManagedTensor {
            dl_tensor: tensor,
            manager_ctx: std::ptr::from_mut(library).cast(),
            deleter: Some(delete),
        });
        NonNull::from(Box::leak(managed))
    }
}

fn number(gpu: &Gpu) -> i32 {
    match gpu.choice() {
        DeviceChoice::Simulator => 0,
        DeviceChoice::SimulatorDevice(number) | DeviceChoice::Cuda(number) => number as i32,
    }
}

unsafe extern "C" fn delete(raw: *mut DLManagedTensor) {
    // SAFETY: both are boxes of `Library::export`, whose struct is given back once.
    let (raw, library) = unsafe {
        let raw = Box::from_raw(raw);
        let library = Box::from_raw(raw.manager_ctx.cast::<Library>());
        (raw, library)
    };
    library.deleted.fetch_add(1, Ordering::SeqCst);
    drop(raw);
}

/// A tensor of another library of six numbers, 2 x 3.
fn six(gpu: &TestGpu, stream: &Stream) -> (NonNull<DLManagedTensor>, Arc<AtomicU32>) {
    let numbers = stream.upload(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let (library, deleted) = Library::new(numbers.ok(), &[2, 3]);
    (library.export(gpu, |_| {}), deleted)
}

fn count(deleted: &AtomicU32) -> u32 {
    deleted.load(Ordering::SeqCst)
}
