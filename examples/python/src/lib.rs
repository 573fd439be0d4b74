//! A Python module whose kernels are Rust. It takes arrays of PyTorch, CuPy, JAX and of whoever has `__dlpack__`, and works on their memory in the stream
//! that the caller names; and it hands out arrays of its own.
//!
//! ```python
//! import torch, warpsmith_example
//!
//! gpu = warpsmith_example.Device(0)
//! x = torch.arange(5.0, device="cuda")
//! gpu.affine(x, 2.0, 1.0, stream=torch.cuda.current_stream())
//! print(x)        # 1, 3, 5, 7, 9
//! ```
//!
//! `cargo build -p warpsmith-example-python` makes `target/debug/libwarpsmith_example.so`; copied to `warpsmith_example.abi3.so` in a folder of
//! `sys.path`, Python imports it. `torch_example.py` does all that.

mod capsule;
mod kernels;

use pyo3::exceptions::{PyBufferError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use warpsmith_host::interop::dlpack::Consumer;
use warpsmith_host::prelude::*;

/// The kernels of `src/kernels.rs` as PTX, made by `build.rs`.
const PTX: &str = include_str!(concat!(env!("OUT_DIR"), "/kernels.ptx"));

/// `kDLCUDA`
const CUDA: i32 = 2;

fn raise(error: impl Into<Error>) -> PyErr {
    PyRuntimeError::new_err(error.into().to_string())
}

/// A device with the kernels of this module.
#[pyclass(frozen)]
struct Device {
    gpu: Gpu,
    affine: TypedKernel<kernels::affine>,
    /// For arrays of this module.
    stream: Stream,
}

#[pymethods]
impl Device {
    /// The device of this number: a GPU; or the simulator's, where `WARPSMITH_DEVICE` names that or there is no GPU.
    #[new]
    #[pyo3(signature = (number=0))]
    fn new(number: u32) -> PyResult<Device> {
        let default = Gpu::open_default().map_err(raise)?;
        let choice = match default.is_simulator() {
            true => DeviceChoice::SimulatorDevice(number),
            false => DeviceChoice::Cuda(number),
        };
        let gpu = Gpu::open(choice).map_err(raise)?;
        let module = gpu.load(PTX).map_err(raise)?;
        Ok(Device {
            affine: module.kernel(kernels::affine).map_err(raise)?,
            stream: gpu.stream().map_err(raise)?,
            gpu,
        })
    }

    /// `x = a * x + b` for each element of an array of `float32`, in place: in `stream`, an object of PyTorch or CuPy or a handle. Without one it is the
    /// legacy default stream, which is the one that these libraries work in unless they are told otherwise.
    ///
    /// It returns at once. What is done in the same stream afterwards finds the result.
    #[pyo3(signature = (x, a, b, stream=None))]
    fn affine(
        &self,
        x: &Bound<'_, PyAny>,
        a: f32,
        b: f32,
        stream: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let stream = self.stream_of(stream)?;
        let mut x = self.take(x, &stream)?;
        if x.is_empty() {
            return Ok(());
        }
        let grid = Grid::cover(x.len(), 256);
        stream
            .launch(&self.affine, grid, (a, b, &mut x))
            .map_err(raise)
    }

    /// An array of this module.
    fn array(&self, numbers: Vec<f32>) -> PyResult<Array> {
        let buffer = self.stream.upload(&numbers).map_err(raise)?;
        Ok(Array {
            number: self.gpu.choice(),
            buffer: Some(buffer),
        })
    }

    /// Copies an array's elements to the host.
    fn to_list(&self, x: &Bound<'_, PyAny>) -> PyResult<Vec<f32>> {
        let x = self.take(x, &self.stream)?;
        self.stream.download(&x).map_err(raise)
    }
}

impl Device {
    /// The stream in which the caller works.
    fn stream_of(&self, given: Option<&Bound<'_, PyAny>>) -> PyResult<Stream> {
        let Some(given) = given else {
            return self.gpu.legacy_stream().map_err(raise);
        };
        let handle: usize = ["cuda_stream", "ptr"]
            .iter()
            .find_map(|name| given.getattr(*name).ok())
            .map_or_else(|| given.extract(), |handle| handle.extract())?;
        let keeper = given.clone().unbind();
        let handle = std::ptr::with_exposed_provenance_mut(handle);
        // SAFETY: the caller says that it is a stream's handle. Its object is kept; where there is none but a number, the stream lives by the caller's word. Who
        // captures it calls nothing of this module meanwhile.
        unsafe { self.gpu.adopt_stream(handle, keeper) }.map_err(raise)
    }

    /// The memory of an array, usable in this stream, and given back after its last use.
    fn take(&self, x: &Bound<'_, PyAny>, stream: &Stream) -> PyResult<DeviceBuffer<f32>> {
        let py = x.py();
        // DLPack's numbers of streams: 1 is the legacy default stream, whose handle is 1, too.
        let arguments = PyDict::new(py);
        arguments.set_item("stream", stream.as_raw().addr())?;
        arguments.set_item("max_version", (1, 0))?;
        let made = match x.call_method("__dlpack__", (), Some(&arguments)) {
            // From before DLPack 1.0.
            Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                arguments.del_item("max_version")?;
                x.call_method("__dlpack__", (), Some(&arguments))?
            }
            made => made?,
        };
        let tensor = capsule::take(made.cast::<PyCapsule>()?)?;
        // SAFETY: the producer was told this stream, so that it comes after what has written the elements; that nobody else uses them meanwhile is the caller's
        // affair, as with each operation of PyTorch that works in place.
        unsafe { tensor.into_buffer(stream) }.map_err(raise)
    }
}

/// An array of this module. It hands its memory over to who asks by `__dlpack__`, once.
#[pyclass]
struct Array {
    number: DeviceChoice,
    buffer: Option<DeviceBuffer<f32>>,
}

#[pymethods]
impl Array {
    /// Where the memory is: `kDLCUDA`, and the device's number.
    fn __dlpack_device__(&self) -> (i32, u32) {
        let number = match self.number {
            DeviceChoice::Simulator => 0,
            DeviceChoice::SimulatorDevice(number) | DeviceChoice::Cuda(number) => number,
        };
        (CUDA, number)
    }

    /// The memory, in a capsule. The consumer's stream waits for what was done with it.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__(
        &mut self,
        py: Python<'_>,
        stream: Option<i64>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, u32)>,
        copy: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        if dl_device.is_some_and(|wanted| wanted != self.__dlpack_device__()) {
            return Err(PyBufferError::new_err("the array stays on its device"));
        }
        if copy == Some(true) {
            return Err(PyBufferError::new_err(
                "the array is handed over, not copied",
            ));
        }
        // SAFETY: Python passes a stream that exists.
        let consumer = unsafe { Consumer::from_python(stream) }.map_err(raise)?;
        let Some(buffer) = self.buffer.take() else {
            return Err(PyBufferError::new_err("the array was handed over before"));
        };
        let len = buffer.len();
        match buffer.into_dlpack(consumer, &[len]) {
            Ok(tensor) => {
                capsule::put(py, tensor, max_version.is_some_and(|(major, _)| major >= 1))
            }
            Err(refused) => {
                let error = raise(refused.error);
                self.buffer = Some(refused.value);
                Err(error)
            }
        }
    }
}

/// The module.
#[pymodule]
mod warpsmith_example {
    #[pymodule_export]
    use super::{Array, Device};
}
