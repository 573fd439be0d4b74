//! Memory that two processes share.

mod common;

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};

use common::{gpu, launch_add, module};
use warpsmith_host::interprocess::{receive_descriptor, send_descriptor};
use warpsmith_host::prelude::*;
use warpsmith_host::{MappingAccess, PhysicalOptions, PoolOptions, PoolPointer};
use warpsmith_testkit::process::{is_child, run_in_child};

/// Holds, in the child's environment, where the parent listens.
const SOCKET: &str = "WARPSMITH_TEST_SOCKET";
const BYTES: usize = 2 << 20;
const WORDS: usize = BYTES / size_of::<u32>();

fn connect() -> UnixStream {
    let path = std::env::var_os(SOCKET).expect("the parent says where it listens");
    UnixStream::connect(path).expect("the parent listens")
}

/// Runs the other side of a test in a process of its own: `send` talks to it first; it is waited for.
fn beside_another_process(test: &'static str, send: impl FnOnce(&mut UnixStream)) {
    let path = std::env::temp_dir().join(format!("warpsmith-{test}-{}", std::process::id()));
    let listener = UnixListener::bind(&path).expect("the path is free");
    let child = {
        let path = path.clone().into_os_string().into_string();
        let path = path.expect("temporary paths are text");
        std::thread::spawn(move || run_in_child(test, &[(SOCKET, &path)]))
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
    launch_add(&stream, &common::add(&module(&gpu)), &mut words, 1);
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
    beside_another_process("another_process_uses_the_same_memory", |socket| {
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
    launch_add(&stream, &common::add(&module(&gpu)), &mut words, 1);
    drop(words);
    stream.synchronize()?;
    // SAFETY: it is refused, so there is nothing to read.
    let other = unsafe { pool.buffer::<u32>(&stream, PoolPointer::from_bytes([9; 64]), 1) };
    assert!(other.is_err());
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
    beside_another_process("another_process_gets_a_buffer_of_the_pool", |socket| {
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
