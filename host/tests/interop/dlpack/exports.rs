//! Buffers that go out.

use super::*;

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
                // SAFETY: the numbers are written, and the stream was waited for or comes after that.
                let same = unsafe { tensor.into_buffer::<i16>(&stream)? };
                assert_eq!(stream.download(&same)?, vec![0; elements]);
            }
            _ => {
                // SAFETY: the numbers are written, and the stream was waited for or comes after that.
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
    let output = crate::common::in_own_process(&[], || {
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
