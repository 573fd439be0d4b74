//! Tensors that come in.

use super::*;

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
