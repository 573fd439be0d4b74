//! Memory that two processes share.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;

use crate::common::{gpu, launch_add, module};
use warpsmith_host::interprocess::{
    EventHandle, MemoryHandle, receive_descriptor, send_descriptor,
};
use warpsmith_host::prelude::*;
use warpsmith_host::{MappingAccess, PhysicalOptions, PoolOptions, PoolPointer};
use warpsmith_testkit::process::{calling_test, is_child, run_in_child};

/// Holds, in the child's environment, where the parent listens.
const SOCKET: &str = "WARPSMITH_TEST_SOCKET";
const BYTES: usize = 2 << 20;
const WORDS: usize = BYTES / size_of::<u32>();

fn connect() -> UnixStream {
    let path = std::env::var_os(SOCKET).expect("the parent says where it listens");
    UnixStream::connect(path).expect("the parent listens")
}

/// Where the two sides of the calling test meet.
fn meeting_place() -> PathBuf {
    let test = calling_test();
    let name = test.rsplit("::").next().expect("a name has an end");
    std::env::temp_dir().join(format!("warpsmith-{name}-{}", std::process::id()))
}

/// Runs the other side of the calling test in a process of its own: `send` talks to it first; it is waited for.
fn beside_another_process(send: impl FnOnce(&mut UnixStream)) {
    beside_a_process_with(&[], send);
}

/// As [`beside_another_process`], where that has these variables.
fn beside_a_process_with(variables: &'static [(&str, &str)], send: impl FnOnce(&mut UnixStream)) {
    let path = meeting_place();
    let listener = UnixListener::bind(&path).expect("the path is free");
    let child = {
        let path = path.clone().into_os_string().into_string();
        let path = path.expect("temporary paths are text");
        let test = calling_test();
        std::thread::spawn(move || {
            let mut all = vec![(SOCKET, &*path)];
            all.extend(variables);
            run_in_child(&test, &all)
        })
    };
    let (mut socket, _) = listener.accept().expect("the child connects");
    send(&mut socket);
    child.join().expect("the child runs").expect_success();
    std::fs::remove_file(path).expect("the socket is there");
}

/// Imports what the parent has exported, checks it, and adds 1 to each word.
fn the_other_process() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let descriptor = receive_descriptor(&connect()).expect("the parent sends");
    let memory = gpu.import_physical_memory(descriptor, BYTES)?;
    // SAFETY: the parent has written all of it, and uses it again only after this process has ended.
    let mut words = unsafe { memory.map::<u32>(MappingAccess::ReadWrite)? };
    let expected: Vec<u32> = (0..WORDS as u32).collect();
    assert!(stream.download(&words)? == expected);
    launch_add(&stream, &crate::common::add(&module(&gpu)), &mut words, 1);
    stream.synchronize()
}

// covers: VMM-26, VMM-27, VMM-28, VMM-35, VMM-X07
#[test]
fn another_process_uses_the_same_memory() -> Result<()> {
    if is_child() {
        return the_other_process();
    }
    let gpu = gpu();
    let stream = gpu.stream()?;
    let free = gpu.memory_info()?.free;
    let options = PhysicalOptions {
        shareable: true,
        ..Default::default()
    };
    let memory = gpu.physical_memory(BYTES, options)?;
    // SAFETY: all of it is written before it is read, and the other process uses it between this one's uses.
    let mut words = unsafe { memory.map::<u32>(MappingAccess::ReadWrite)? };
    let first: Vec<u32> = (0..WORDS as u32).collect();
    stream.upload_into(&first, &mut words)?;
    stream.synchronize()?;

    let descriptor = memory.export()?;
    beside_another_process(|socket| {
        send_descriptor(socket, descriptor).expect("the child is there");
    });

    let second: Vec<u32> = (1..=WORDS as u32).collect();
    assert!(stream.download(&words)? == second);
    drop((words, memory));
    gpu.synchronize()?;
    assert_eq!(gpu.memory_info()?.free, free);
    Ok(())
}

/// Imports the parent's pool and the buffer that it names, checks it, and adds 1 to each word.
fn a_process_without_the_pool() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut socket = connect();
    let pool = gpu.import_pool(receive_descriptor(&socket).expect("the parent sends"))?;
    let mut bytes = [0; 64];
    socket.read_exact(&mut bytes).expect("the parent sends");
    let pointer = PoolPointer::from_bytes(bytes);
    // SAFETY: the parent has written the words, and uses them again only after this process has ended.
    let mut words = unsafe { pool.buffer::<u32>(&stream, pointer, 1000)? };
    assert_eq!(stream.download(&words)?, [7; 1000]);
    launch_add(&stream, &crate::common::add(&module(&gpu)), &mut words, 1);
    drop(words);
    stream.synchronize()?;
    // SAFETY: it is refused, so there is nothing to read.
    let other = unsafe { pool.buffer::<u32>(&stream, PoolPointer::from_bytes([9; 64]), 1) };
    assert!(other.is_err());
    // SAFETY: it is refused, so there is nothing to read.
    let longer = unsafe { pool.buffer::<u32>(&stream, pointer, 1 << 20) };
    let error = longer.unwrap_err().to_string();
    assert!(error.contains("1048576 elements take"), "{error}");
    Ok(())
}

// covers: POOL-30, POOL-31, POOL-33, POOL-34, POOL-X13, POOL-X14
#[test]
fn another_process_gets_a_buffer_of_the_pool() -> Result<()> {
    if is_child() {
        return a_process_without_the_pool();
    }
    let gpu = gpu();
    let stream = gpu.stream()?;
    let pool = gpu.pool(PoolOptions {
        shareable: true,
        ..Default::default()
    })?;
    let words = stream.alloc_from(&pool)?.filled(1000, 7_u32)?;
    let beside = stream.alloc_from(&pool)?.filled(1000, 9_u32)?;
    stream.synchronize()?;
    let (descriptor, pointer) = (pool.export()?, words.export_pointer()?);
    beside_another_process(|socket| {
        send_descriptor(socket, descriptor).expect("the child is there");
        socket
            .write_all(&pointer.to_bytes())
            .expect("the child is there");
    });
    assert_eq!(stream.download(&words)?, [8; 1000]);
    assert_eq!(stream.download(&beside)?, [9; 1000]);

    let private = stream.filled(10, 1_u32)?;
    let error = private.export_pointer().unwrap_err();
    assert!(error.to_string().contains("shareable"), "{error}");
    let error = gpu.default_pool()?.export().unwrap_err();
    assert!(error.to_string().contains("shareable"), "{error}");
    Ok(())
}

fn an_owner_of_two_devices() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let pool = gpu.pool(PoolOptions {
        shareable: true,
        ..Default::default()
    })?;
    let words = stream.alloc_from(&pool)?.filled(1000, 7_u32)?;
    stream.synchronize()?;
    let (descriptor, pointer) = (pool.export()?, words.export_pointer()?);
    // The other process sees the other device alone.
    let variables = &[("CUDA_VISIBLE_DEVICES", "1")];
    beside_a_process_with(variables, |socket| {
        send_descriptor(socket, descriptor).expect("the child is there");
        socket
            .write_all(&pointer.to_bytes())
            .expect("the child is there");
    });
    assert_eq!(stream.download(&words)?, [8; 1000]);
    Ok(())
}

// covers: POOL-32
#[test]
fn a_device_reaches_the_pool_of_one_that_its_process_does_not_see() -> Result<()> {
    if is_child() {
        return match std::env::var_os(SOCKET) {
            Some(_) => a_process_without_the_pool(),
            None => an_owner_of_two_devices(),
        };
    }
    // One GPU has no other.
    if gpu().is_simulator() || Gpu::devices()?.len() > 1 {
        run_in_child(&calling_test(), &[("WARPSMITH_SIMULATOR_DEVICES", "2")]);
    }
    Ok(())
}

/// Opens the parent's buffer and events; when the parent has written, adds 1 to each word in place, and tells it so by an event.
fn a_process_with_handles() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut socket = connect();
    let [memory, written, added] = [(); 3].map(|()| receive_handle(&mut socket));
    let written = gpu.open_event(EventHandle::from_bytes(written))?;
    let added = gpu.open_event(EventHandle::from_bytes(added))?;
    stream.wait(&written)?;
    // SAFETY: the parent keeps the buffer, has written all of it before it recorded the event, and uses it again after the other one.
    let mut words = unsafe { gpu.open_buffer::<u32>(MemoryHandle::from_bytes(memory), 1000)? };
    launch_add(&stream, &crate::common::add(&module(&gpu)), &mut words, 1);
    stream.record(&added)?;
    assert_eq!(stream.download(&words)?, [8; 1000]);
    assert!(added.is_complete()? && added.export().is_err());
    // SAFETY: they are refused, so there is nothing to read.
    let [other, longer] = unsafe {
        [
            gpu.open_buffer::<u32>(MemoryHandle::from_bytes([9; 64]), 1),
            gpu.open_buffer::<u32>(MemoryHandle::from_bytes(memory), WORDS + 1),
        ]
    };
    assert!(other.is_err());
    let error = longer.unwrap_err().to_string();
    assert!(error.contains("2097152"), "{error}");
    assert!(gpu.open_event(EventHandle::from_bytes([9; 64])).is_err());
    drop(words);
    gpu.synchronize()
}

fn receive_handle(socket: &mut UnixStream) -> [u8; 64] {
    let mut bytes = [0; 64];
    socket.read_exact(&mut bytes).expect("the parent sends");
    bytes
}

// covers: IPC-01, IPC-02, IPC-03
#[test]
fn another_process_opens_a_buffer_and_events_by_their_handles() -> Result<()> {
    if is_child() {
        return a_process_with_handles();
    }
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut words = gpu.exportable::<u32>(1000)?;
    let beside = gpu.exportable::<u32>(1)?;
    for buffer in [&words, &beside] {
        let address = buffer.as_device_ptr().address();
        assert!(address.is_multiple_of(BYTES as u64), "it shares a block");
    }
    assert_eq!(stream.download(&words)?, [0; 1000]);
    let (written, added) = (gpu.event_interprocess()?, gpu.event_interprocess()?);
    let handles = [
        words.export_handle()?.to_bytes(),
        written.export()?.to_bytes(),
        added.export()?.to_bytes(),
    ];
    stream.fill(&mut words, 7)?;
    stream.record(&written)?;
    beside_another_process(|socket| {
        for handle in handles {
            socket.write_all(&handle).expect("the child is there");
        }
    });
    stream.wait(&added)?;
    assert_eq!(stream.download(&words)?, [8; 1000]);
    added.synchronize()?;

    let handle = MemoryHandle::from_bytes(handles[0]);
    // SAFETY: it is refused, so there is nothing to read.
    let error = unsafe { gpu.open_buffer::<u32>(handle, 1000) }.unwrap_err();
    assert!(error.to_string().contains("this very process"), "{error}");
    let error = gpu.open_event(EventHandle::from_bytes(handles[1]));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("this very process"), "{error}");
    let error = stream.filled(10, 1_u32)?.export_handle().unwrap_err();
    assert!(error.to_string().contains("exportable"), "{error}");
    let error = gpu.event_untimed()?.export().unwrap_err();
    assert!(error.to_string().contains("event_interprocess"), "{error}");
    assert!(written.elapsed_since(&added).is_err());
    Ok(())
}

/// Sums what the producer has made, in place.
fn a_consumer() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut socket = connect();
    let handle = MemoryHandle::from_bytes(receive_handle(&mut socket));
    // SAFETY: the producer has written the batch and waited, keeps it until this process has ended, and nobody writes it any more.
    let batch = unsafe { gpu.open_buffer::<u32>(handle, WORDS)? };
    let sum: u64 = stream.download(&batch)?.into_iter().map(u64::from).sum();
    socket.write_all(&sum.to_le_bytes()).expect("it listens");
    Ok(())
}

// covers: IPC-04, IPC-X01
#[test]
fn several_consumers_read_one_batch_in_place() -> Result<()> {
    if is_child() {
        return a_consumer();
    }
    let gpu = gpu();
    let stream = gpu.stream()?;
    let values: Vec<u32> = (0..WORDS as u32).collect();
    let mut batch = gpu.exportable::<u32>(WORDS)?;
    stream.upload_into(&values, &mut batch)?;
    stream.synchronize()?;
    let handle = batch.export_handle()?.to_bytes();
    let expected: u64 = values.into_iter().map(u64::from).sum();
    let path = meeting_place();
    let listener = UnixListener::bind(&path).expect("the path is free");
    let text = path.to_str().expect("temporary paths are text");
    let test = calling_test();
    std::thread::scope(|scope| {
        let consumers = [(); 3].map(|()| scope.spawn(|| run_in_child(&test, &[(SOCKET, text)])));
        let sockets = [(); 3].map(|()| listener.accept().expect("a child connects").0);
        for mut socket in sockets {
            socket.write_all(&handle).expect("the child is there");
            let mut sum = [0; 8];
            socket.read_exact(&mut sum).expect("the child answers");
            assert_eq!(u64::from_le_bytes(sum), expected);
        }
        for consumer in consumers {
            consumer.join().expect("the child runs").expect_success();
        }
    });
    std::fs::remove_file(path).expect("the socket is there");
    Ok(())
}
