//! Tensors to and from other libraries, by DLPack.

mod common;

use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use common::{Gate, TestGpu, gpu, module};
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

#[test]
fn a_buffer_goes_out_and_comes_back() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let numbers = stream.upload(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    let address = numbers.as_device_ptr().address();
    let tensor = numbers.into_dlpack(Consumer::Own(&stream), &[2, 3])?;
    assert_eq!(tensor.device(), Device::Cuda(number(&gpu)));
    assert_eq!(tensor.element_type().to_string(), "float32");
    assert_eq!(
        (tensor.shape(), tensor.strides()),
        (&[2, 3][..], Some(&[3, 1][..]))
    );
    assert_eq!((tensor.address(), tensor.is_read_only()), (address, false));

    let raw = tensor.into_raw();
    // SAFETY: the struct is valid until its deleter is called.
    let seen = unsafe { raw.as_ref() };
    assert_eq!(seen.dl_tensor.dtype, FLOAT32);
    assert_eq!((seen.dl_tensor.ndim, seen.dl_tensor.byte_offset), (2, 0));
    assert_eq!(seen.dl_tensor.device.device_type, CUDA);
    // SAFETY: there are as many extents as dimensions.
    let extents = unsafe { std::slice::from_raw_parts(seen.dl_tensor.shape, 2) };
    assert_eq!(extents, [2, 3]);
    // SAFETY: nobody else has the struct.
    let tensor = unsafe { Tensor::from_raw(raw)? };

    let raw = tensor.into_raw_versioned();
    // SAFETY: the struct is valid until its deleter is called.
    let seen = unsafe { raw.as_ref() };
    assert_eq!((seen.version.major, seen.flags), (1, 0));
    assert_eq!(seen.dl_tensor.data as u64, address);
    // SAFETY: nobody else has the struct.
    let tensor = unsafe { Tensor::from_raw_versioned(raw)? };
    // SAFETY: the numbers are written, in this stream.
    let mut same = unsafe { tensor.into_buffer::<f32>(&stream)? };
    assert_eq!(same.as_device_ptr().address(), address);
    stream.fill(&mut same.slice_mut(..1), 9.0)?;
    assert_eq!(
        gpu.stream()?.download(&same)?,
        [9.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    );
    Ok(())
}

#[test]
fn every_kind_of_memory_and_of_elements_has_its_name() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let own = Consumer::Own(&stream);
    let unified = gpu.unified::<i16>(4)?.into_dlpack(own, &[4])?;
    assert_eq!(unified.device(), Device::CudaManaged(number(&gpu)));
    assert_eq!(unified.element_type().to_string(), "int16");
    let mut pinned = gpu.pinned::<u64>(4)?;
    pinned.host_mut()?.fill(7);
    let pinned = pinned.into_dlpack(own, &[2, 2])?;
    assert_eq!(pinned.device(), Device::CudaHost);
    assert_eq!(pinned.element_type().to_string(), "uint64");
    // SAFETY: the tensor has four numbers there, which the host has written.
    let seen = unsafe {
        let first = std::ptr::with_exposed_provenance::<u64>(pinned.address() as usize);
        std::slice::from_raw_parts(first, 4)
    };
    assert_eq!(seen, [7; 4]);
    let mapped = gpu.mapped::<half::bf16>(1)?.into_dlpack(own, &[])?;
    assert_eq!(mapped.element_type().to_string(), "bfloat16");
    assert_eq!(mapped.shape(), [0; 0]);
    let empty = stream.zeroed::<f64>(0)?.into_dlpack(own, &[3, 0])?;
    assert_eq!(empty.device(), Device::Cuda(number(&gpu)));

    // What the device reaches comes back as a buffer, whatever it is.
    for tensor in [unified, pinned] {
        // SAFETY: the numbers are written, and the stream was waited for or comes after that.
        let refused = unsafe { tensor.into_buffer::<f32>(&stream) }.unwrap_err();
        let tensor = refused.value;
        let elements = tensor.shape().iter().product::<i64>() as usize;
        match tensor.element_type().to_string().as_str() {
            "int16" => {
                // SAFETY: as above.
                let same = unsafe { tensor.into_buffer::<i16>(&stream)? };
                assert_eq!(stream.download(&same)?, vec![0; elements]);
            }
            _ => {
                // SAFETY: as above.
                let same = unsafe { tensor.into_buffer::<u64>(&stream)? };
                assert_eq!(stream.download(&same)?, vec![7; elements]);
            }
        }
    }
    // SAFETY: it has no elements.
    let empty = unsafe { empty.into_buffer::<f64>(&stream)? };
    assert!(empty.is_empty());
    Ok(())
}

#[test]
fn an_owner_is_told_once_whatever_becomes_of_the_tensor() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    // Dropped without use, here and in another thread.
    let (raw, deleted) = six(&gpu, &stream);
    // SAFETY: nobody else has the struct.
    let tensor = unsafe { Tensor::from_raw(raw)? };
    assert_eq!(count(&deleted), 0);
    drop(tensor);
    assert_eq!(count(&deleted), 1);
    let (raw, deleted) = six(&gpu, &stream);
    // SAFETY: nobody else has the struct.
    let tensor = unsafe { Tensor::from_raw(raw)? };
    std::thread::spawn(move || drop(tensor))
        .join()
        .expect("it drops");
    assert_eq!(count(&deleted), 1);

    // Passed on: by the deleter of whoever has it last.
    let (raw, deleted) = six(&gpu, &stream);
    // SAFETY: nobody else has the struct.
    let again = unsafe { Tensor::from_raw(raw)? }.into_raw_versioned();
    assert_eq!(count(&deleted), 0);
    // SAFETY: the struct is valid, and nobody uses it behind its deleter.
    unsafe { again.as_ref().deleter.expect("it has one")(again.as_ptr()) };
    assert_eq!(count(&deleted), 1);

    // Refused, then used.
    let (raw, deleted) = six(&gpu, &stream);
    // SAFETY: nobody else has the struct.
    let tensor = unsafe { Tensor::from_raw(raw)? };
    // SAFETY: its numbers are written, in this stream.
    let refused = unsafe { tensor.into_buffer::<u32>(&stream) }.unwrap_err();
    assert_eq!(count(&deleted), 0);
    // SAFETY: its numbers are written, in this stream.
    let buffer = unsafe { refused.value.into_buffer::<f32>(&stream)? };
    assert_eq!(stream.download(&buffer)?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(count(&deleted), 0);
    drop(buffer);
    gpu.synchronize()?;
    assert_eq!(count(&deleted), 1);

    // Without elements it is not needed any longer.
    let (library, deleted) = Library::new(None, &[0, 3]);
    // SAFETY: nobody else has the struct.
    let tensor = unsafe { Tensor::from_raw(library.export(&gpu, |_| {}))? };
    // SAFETY: it has no elements.
    let buffer = unsafe { tensor.into_buffer::<f32>(&stream)? };
    assert_eq!((buffer.len(), count(&deleted)), (0, 1));
    Ok(())
}

#[test]
fn an_owner_is_told_after_the_last_use() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let (stream, other) = (gpu.stream()?, gpu.stream()?);
    let (raw, deleted) = six(&gpu, &stream);
    // SAFETY: nobody else has the struct.
    let tensor = unsafe { Tensor::from_raw(raw)? };
    // SAFETY: its numbers are written, in this stream.
    let mut buffer = unsafe { tensor.into_buffer::<f32>(&stream)? };
    let mut gate = Gate::new(&gpu, &module);
    gate.close(&other);
    other.fill(&mut buffer, 1.0)?;
    drop(buffer);
    stream.synchronize()?;
    assert_eq!(count(&deleted), 0);
    gate.open();
    other.synchronize()?;
    gpu.synchronize()?;
    assert_eq!(count(&deleted), 1);
    Ok(())
}

#[test]
fn the_consumers_stream_waits_for_what_was_done_before() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let (stream, other) = (gpu.stream()?, gpu.stream()?);
    let blocking = gpu.stream_with(StreamOptions {
        non_blocking: false,
        ..Default::default()
    })?;
    // SAFETY: the stream exists to the end of this function.
    let foreign = unsafe { Consumer::from_raw(other.as_raw()) };
    for consumer in [Consumer::Own(&other), foreign, Consumer::Legacy] {
        let mut gate = Gate::new(&gpu, &module);
        let mut words = stream.zeroed::<u32>(100)?;
        gate.close(&stream);
        stream.fill(&mut words, 5)?;
        let tensor = words.into_dlpack(consumer, &[100])?;
        // The library's work, behind the export.
        let (raw_stream, waited): (_, &Stream) = match consumer {
            Consumer::Legacy => (raw::CU_STREAM_LEGACY.cast::<c_void>(), &blocking),
            _ => (other.as_raw(), &other),
        };
        let mut seen = gpu.mapped::<u32>(1)?;
        let to = seen.as_device_ptr().address();
        // SAFETY: both sides have four bytes, which live until the stream has been waited for.
        let code = unsafe { raw::cuMemcpyDtoDAsync_v2(to, tensor.address(), 4, raw_stream.cast()) };
        assert_eq!(code.0, 0);
        let done = gpu.event_untimed()?;
        waited.record(&done)?;
        assert!(!done.is_complete()?, "{consumer:?} does not wait");
        gate.open();
        done.synchronize()?;
        assert_eq!(seen.host_mut()?[0], 5, "{consumer:?}");
        drop(tensor);
    }
    Ok(())
}

/// Memory that a library gives back is freed when no stream can use it any more: behind its stream if that is known, else behind all work.
#[test]
fn what_is_given_back_is_freed_behind_its_uses() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let (stream, library) = (gpu.stream()?, gpu.stream()?);
    let used = || {
        gpu.default_pool()
            .and_then(|pool| pool.usage())
            .map(|usage| usage.used)
    };
    let before = used()?;

    let words = stream.zeroed::<u32>(1 << 20)?;
    let tensor = words.into_dlpack(Consumer::Own(&library), &[1 << 20])?;
    let mut gate = Gate::new(&gpu, &module);
    gate.close(&library);
    let at = tensor.address();
    // SAFETY: the tensor has so many words, and is given back below, behind this.
    let code = unsafe { raw::cuMemsetD32Async(at, 9, 1 << 20, library.as_raw().cast()) };
    assert_eq!(code.0, 0);
    let raw = tensor.into_raw();
    // SAFETY: the struct is valid, and nobody uses it behind its deleter.
    unsafe { raw.as_ref().deleter.expect("it has one")(raw.as_ptr()) };
    // Whatever gets the memory next does not get what the library still writes.
    let next = stream.zeroed::<u32>(1 << 20)?;
    gate.open();
    library.synchronize()?;
    assert!(stream.download(&next)?.iter().all(|&word| word == 0));
    drop(next);
    assert_eq!(used()?, before);

    let words = stream.zeroed::<u32>(1 << 20)?;
    // SAFETY: the stream exists to the end of this function.
    let foreign = unsafe { Consumer::from_raw(library.as_raw()) };
    let tensor = words.into_dlpack(foreign, &[1 << 20])?;
    gate.close(&library);
    let (sender, told) = std::sync::mpsc::channel();
    let deleter = std::thread::spawn(move || {
        drop(tensor);
        sender.send(()).expect("the test waits");
    });
    let early = told.recv_timeout(std::time::Duration::from_millis(100));
    assert!(early.is_err(), "it did not wait for the library's stream");
    gate.open();
    told.recv().expect("it comes to its end");
    deleter.join().expect("it comes to its end");
    gpu.synchronize()?;
    assert_eq!(used()?, before);
    Ok(())
}

#[test]
fn what_cannot_be_a_buffer_is_named() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let refusal = |extents: &[i64], strides: &[i64], change: &dyn Fn(&mut DLTensor)| {
        let numbers = stream.upload(&[0.0_f32; 6])?;
        let (mut library, deleted) = Library::new(Some(numbers), extents);
        library.strides = strides.to_vec();
        // SAFETY: nobody else has the struct.
        let tensor = unsafe { Tensor::from_raw(library.export(&gpu, change)) };
        let text = match tensor {
            // SAFETY: it is refused.
            Ok(tensor) => unsafe { tensor.into_buffer::<f32>(&stream) }
                .unwrap_err()
                .to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(count(&deleted), 1, "{text}");
        Ok::<String, Error>(text)
    };
    let expect = |text: String, parts: &[&str]| {
        for part in parts {
            assert!(text.contains(part), "`{part}` is not in: {text}");
        }
    };
    let of_type = |code, bits, lanes| {
        move |tensor: &mut DLTensor| tensor.dtype = DLDataType { code, bits, lanes }
    };
    expect(
        refusal(&[6], &[], &of_type(0, 32, 1))?,
        &["int32", "float32"],
    );
    expect(
        refusal(&[3], &[], &of_type(2, 64, 1))?,
        &["float64", "float32"],
    );
    expect(refusal(&[3], &[], &of_type(2, 32, 2))?, &["float32 x 2"]);
    expect(refusal(&[6], &[], &of_type(6, 8, 1))?, &["bool"]);
    expect(
        refusal(&[6], &[], &|tensor| tensor.device.device_type = 1)?,
        &["ordinary memory of the host", "the stream is of"],
    );
    expect(
        refusal(&[6], &[], &|tensor| tensor.device.device_id = 77)?,
        &["CUDA device 77"],
    );
    expect(
        refusal(&[6], &[], &|tensor| tensor.device.device_type = 10)?,
        &["type 10"],
    );
    expect(
        refusal(&[3, 2], &[1, 3], &|_| {})?,
        &["[1, 3]", "[2, 1]", "contiguous"],
    );
    expect(refusal(&[3], &[2], &|_| {})?, &["gaps"]);
    expect(
        refusal(&[1], &[], &|tensor| tensor.byte_offset = 2)?,
        &["aligned to 4 bytes"],
    );
    expect(
        refusal(&[6], &[], &|tensor| tensor.data = null_mut())?,
        &["the driver knows of none"],
    );
    expect(
        refusal(&[i64::MAX, i64::MAX], &[], &|_| {})?,
        &["more elements than memory"],
    );
    expect(refusal(&[-1], &[], &|_| {})?, &["[-1]"]);
    expect(
        refusal(&[1], &[], &|tensor| tensor.ndim = -1)?,
        &["-1 dimensions"],
    );
    expect(
        refusal(&[1], &[], &|tensor| tensor.shape = null_mut())?,
        &["no shape"],
    );
    Ok(())
}

/// Strides of extents of one element say nothing, and none at all say that there are no gaps.
#[test]
fn strides_that_say_nothing_are_no_gaps() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    for (extents, strides) in [(&[1, 6, 1], &[77, 1, 55]), (&[2, 1, 3], &[3, 0, 1])] {
        let (raw, _deleted) = {
            let numbers = stream.upload(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
            let (mut library, deleted) = Library::new(Some(numbers), extents);
            library.strides = strides.to_vec();
            (library.export(&gpu, |_| {}), deleted)
        };
        // SAFETY: nobody else has the struct; its numbers are written, in this stream.
        let buffer = unsafe { Tensor::from_raw(raw)?.into_buffer::<f32>(&stream)? };
        assert_eq!(stream.download(&buffer)?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }
    Ok(())
}

#[test]
fn an_offset_counts_from_the_memorys_beginning() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let numbers = stream.upload(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    let (library, _deleted) = Library::new(Some(numbers), &[2]);
    let raw = library.export(&gpu, |tensor| tensor.byte_offset = 12);
    // SAFETY: nobody else has the struct; its numbers are written, in this stream.
    let buffer = unsafe { Tensor::from_raw(raw)?.into_buffer::<f32>(&stream)? };
    assert_eq!(stream.download(&buffer)?, [4.0, 5.0]);
    Ok(())
}

unsafe extern "C" fn delete_versioned(raw: *mut DLManagedTensorVersioned) {
    // SAFETY: it is the box of `versioned`, which is given back once, with the plain struct behind it.
    unsafe {
        let raw = Box::from_raw(raw);
        delete(raw.manager_ctx.cast());
    }
}

/// A library's tensor of six numbers as a struct of this version.
fn versioned(
    gpu: &TestGpu,
    stream: &Stream,
    version: DLPackVersion,
    flags: u64,
) -> (NonNull<DLManagedTensorVersioned>, Arc<AtomicU32>) {
    let (plain, deleted) = six(gpu, stream);
    let raw = Box::new(DLManagedTensorVersioned {
        version,
        manager_ctx: plain.as_ptr().cast(),
        deleter: Some(delete_versioned),
        flags,
        // SAFETY: the struct is valid until its deleter is called.
        dl_tensor: unsafe { plain.as_ref() }.dl_tensor,
    });
    (NonNull::from(Box::leak(raw)), deleted)
}

#[test]
fn versions_and_flags_are_looked_at() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let of = |major, minor| DLPackVersion { major, minor };
    let (raw, deleted) = versioned(&gpu, &stream, of(2, 0), 0);
    // SAFETY: nobody else has the struct.
    let error = unsafe { Tensor::from_raw_versioned(raw) }.unwrap_err();
    assert!(error.to_string().contains("DLPack 2.0"), "{error}");
    assert_eq!(count(&deleted), 1);

    const READ_ONLY: u64 = 1;
    let (raw, deleted) = versioned(&gpu, &stream, of(1, 9), READ_ONLY);
    // SAFETY: nobody else has the struct.
    let tensor = unsafe { Tensor::from_raw_versioned(raw)? };
    assert!(tensor.is_read_only());
    let raw = tensor.into_raw_versioned();
    // SAFETY: the struct is valid until its deleter is called; nobody else has it.
    let (flags, tensor) = unsafe { (raw.as_ref().flags, Tensor::from_raw_versioned(raw)?) };
    assert_eq!(flags, READ_ONLY);
    // SAFETY: it is refused.
    let refused = unsafe { tensor.into_buffer::<f32>(&stream) }.unwrap_err();
    assert!(
        refused.to_string().contains("not to be written"),
        "{refused}"
    );
    drop(refused);
    assert_eq!(count(&deleted), 1);
    Ok(())
}

#[test]
fn what_cannot_be_handed_over_comes_back() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let words = stream.upload(&[1_u32; 6])?;
    let refused = words
        .into_dlpack(Consumer::Own(&stream), &[2, 4])
        .unwrap_err();
    let text = refused.to_string();
    assert!(
        text.contains("[2, 4]") && text.contains("6 elements"),
        "{text}"
    );
    let mut words = refused.value;

    // A graph may be launched at any time.
    let mut graph = gpu.graph()?;
    graph.fill(&mut words, 7)?;
    let ready = graph.instantiate()?;
    drop(graph);
    let refused = words.into_dlpack(Consumer::Own(&stream), &[6]).unwrap_err();
    assert!(refused.to_string().contains("a graph uses"), "{refused}");
    let words = refused.value;
    drop(ready);
    gpu.synchronize()?;
    let tensor = words.into_dlpack(Consumer::Unordered, &[6])?;
    drop(tensor);
    Ok(())
}

#[test]
fn a_capture_hands_nothing_over() -> Result<()> {
    let gpu = gpu();
    let mut stream = gpu.stream()?;
    let words = stream.upload(&[1_u32; 6])?;
    let mut outcome = None;
    let graph = stream.capture(|capture| {
        // SAFETY: the number is no handle.
        let legacy = unsafe { Consumer::from_python(None)? };
        let refused = words.into_dlpack(legacy, &[6]).unwrap_err();
        assert!(refused.to_string().contains("captured"), "{refused}");
        let refused = refused.value.into_dlpack(Consumer::Own(capture), &[6]);
        outcome = Some(refused.unwrap_err());
        Ok(())
    });
    graph?;
    let refused = outcome.expect("it was tried");
    assert!(refused.to_string().contains("captured"), "{refused}");
    assert_eq!(stream.download(&refused.value)?, [1; 6]);
    Ok(())
}

/// A wait would break the capture, and without one the memory may be in use.
#[test]
fn what_comes_back_during_a_capture_is_freed_after_it() {
    let output = common::in_own_process(&[], || {
        let gpu = gpu();
        let mut stream = gpu.stream().unwrap();
        let mut kept = stream.upload(&[1_u32; 6]).unwrap();
        let used = || gpu.default_pool().unwrap().usage().unwrap().used;
        let before = used();
        let words = stream.zeroed::<u32>(1 << 20).unwrap();
        let tensor = words.into_dlpack(Consumer::Unordered, &[1 << 20]).unwrap();
        let unified = gpu.unified::<u32>(6).unwrap();
        let unified = unified.into_dlpack(Consumer::Unordered, &[6]).unwrap();
        let graph = stream.capture(|capture| {
            capture.fill(&mut kept, 7)?;
            drop((tensor, unified));
            // Nor is it freed by what would free it elsewhere.
            gpu.unified::<u32>(6)?;
            assert!(used() > before);
            Ok(())
        });
        let mut ready = graph.and_then(|graph| graph.instantiate()).unwrap();
        ready.launch(&stream).unwrap();
        assert_eq!(stream.download(&kept).unwrap(), [7; 6]);
        gpu.synchronize().unwrap();
        assert_eq!(used(), before);
    });
    if let Some(output) = output {
        assert!(!output.contains("while dropping"), "{output}");
    }
}

/// A thread of the driver may not call it.
#[test]
fn a_deleter_may_be_called_in_a_function_of_the_host() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let used = || {
        let pool = gpu.default_pool()?;
        Ok::<u64, Error>(pool.usage()?.used)
    };
    let before = used()?;
    for consumer in [Consumer::Unordered, Consumer::Own(&stream)] {
        let words = stream.zeroed::<u32>(1 << 20)?;
        let tensor = words.into_dlpack(consumer, &[1 << 20])?;
        stream.host_fn(move || drop(tensor))?;
        stream.synchronize()?;
        let begun = std::time::Instant::now();
        while used()? > before {
            assert!(
                begun.elapsed().as_secs() < 60,
                "{consumer:?} is never freed"
            );
            gpu.synchronize()?;
        }
    }
    Ok(())
}

#[test]
fn pythons_streams_are_told_apart() {
    // SAFETY: none of the numbers is used as a handle.
    let of = |number| unsafe { Consumer::from_python(number) };
    assert!(matches!(of(None), Ok(Consumer::Legacy)));
    assert!(matches!(of(Some(1)), Ok(Consumer::Legacy)));
    assert!(matches!(of(Some(2)), Ok(Consumer::PerThread)));
    assert!(matches!(of(Some(-1)), Ok(Consumer::Unordered)));
    assert!(matches!(of(Some(0x1000)), Ok(Consumer::Foreign(_))));
    for number in [0, -2, i64::MIN] {
        let error = of(Some(number)).unwrap_err().to_string();
        assert!(
            error.contains(&number.to_string()) && error.contains("legacy"),
            "{error}"
        );
    }
}
