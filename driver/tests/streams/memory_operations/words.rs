//! Single waits and writes.

use super::*;

#[test]
fn a_wait_holds_its_stream_up_until_the_word_has_the_value() {
    let _turn = turn();
    gpu();
    let (waiting, other) = (stream(), stream());
    let word = Word::new();
    for (condition, value, before, after) in [
        (GEQ, 5, 4, 5),
        (GEQ, 5, 4, 100),
        // Round the circle: 1 comes after the largest number.
        (GEQ, u32::MAX, 0x8000_0000, 1),
        (EQ, 7, 8, 7),
        (AND, 6, 9, 2),
        (NOR, 0xffff_fff0, 0xf, 0xe),
    ] {
        if condition == NOR
            && !has(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR)
        {
            continue;
        }
        word.store(before);
        let (behind, beside) = (Flag::new(), Flag::new());
        ok!(cuStreamWaitValue32_v2(
            waiting,
            word.address(),
            value,
            condition
        ));
        behind.set_on(waiting, 1);
        beside.set_on(other, 1);
        ok!(cuStreamSynchronize(other));
        assert_eq!(beside.get(), 1, "another stream does not wait");
        assert!(is_held(waiting, &behind), "{condition} {value:#x}");
        word.store(after);
        ok!(cuStreamSynchronize(waiting));
        assert_eq!(behind.get(), 1);
    }
    for stream in [waiting, other] {
        ok!(cuStreamDestroy_v2(stream));
    }
}

#[test]
fn words_may_have_64_bits() {
    let _turn = turn();
    gpu();
    if !has(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS) {
        return;
    }
    let waiting = stream();
    let word = Word::new();
    for (condition, value, before, after) in [
        (GEQ, 1 << 33, 1 << 32, 1 << 34),
        (EQ, 1 << 40, 0, 1 << 40),
        (AND, 3 << 40, 1 << 42, 1 << 41),
    ] {
        word.store_64(before);
        let behind = Flag::new();
        ok!(cuStreamWaitValue64_v2(
            waiting,
            word.address(),
            value,
            condition
        ));
        behind.set_on(waiting, 1);
        assert!(is_held(waiting, &behind), "{condition} {value:#x}");
        word.store_64(after);
        ok!(cuStreamSynchronize(waiting));
        assert_eq!(behind.get(), 1);
    }
    let memory = upload(&[1u64, 2]);
    ok!(cuStreamWriteValue64_v2(waiting, memory + 8, 7 << 33, 0));
    ok!(cuStreamSynchronize(waiting));
    assert_eq!(download::<u64>(memory, 2), [1, 7 << 33]);
    ok!(cuMemFree_v2(memory));
    ok!(cuStreamDestroy_v2(waiting));
}

#[test]
fn one_stream_writes_what_another_waits_for() {
    let _turn = turn();
    gpu();
    let (from, to) = (stream(), stream());
    // Device memory: nobody but streams reaches the word.
    let word = upload(&[0u32]);
    let data = upload(&[0u32; 64]);
    let host = pinned::<u32>(64);
    for round in 1..20 {
        ok!(cuStreamWaitValue32_v2(to, word, round, GEQ));
        ok!(cuMemcpyDtoHAsync_v2(host.cast(), data, 256, to));
        // The write comes after the fill, for who waits for it.
        ok!(cuMemsetD32Async(data, round, 64, from));
        ok!(cuStreamWriteValue32_v2(from, word, round, 0));
        ok!(cuStreamSynchronize(to));
        // SAFETY: page-locked memory of this size, and the copy into it is done.
        let copied = unsafe { std::slice::from_raw_parts(host, 64) };
        assert_eq!(copied, [round; 64]);
    }
    ok!(cuStreamSynchronize(from));
    for memory in [word, data] {
        ok!(cuMemFree_v2(memory));
    }
    ok!(cuMemFreeHost(host.cast()));
    for stream in [from, to] {
        ok!(cuStreamDestroy_v2(stream));
    }
}

#[test]
fn the_host_sees_what_came_before_a_write() {
    let _turn = turn();
    gpu();
    let stream = stream();
    let (word, data) = (Word::new(), pinned::<u32>(256));
    for round in 1..20 {
        ok!(cuMemsetD32Async(data as CUdeviceptr, round, 256, stream));
        ok!(cuStreamWriteValue32_v2(stream, word.address(), round, 0));
        while word.load() != round {
            std::thread::yield_now();
        }
        // SAFETY: page-locked memory of this size; the fill is done, and the next one is enqueued later.
        let seen = unsafe { std::slice::from_raw_parts(data, 256) };
        assert!(seen.iter().all(|&value| value == round));
    }
    ok!(cuStreamSynchronize(stream));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn a_destroyed_stream_still_waits() {
    let _turn = turn();
    gpu();
    let stream = stream();
    let (word, behind) = (Word::new(), Flag::new());
    ok!(cuStreamWaitValue32_v2(stream, word.address(), 1, EQ));
    behind.set_on(stream, 1);
    ok!(cuStreamDestroy_v2(stream));
    std::thread::sleep(Duration::from_millis(10));
    assert_eq!(behind.get(), 0);
    word.store(1);
    ok!(cuCtxSynchronize());
    assert_eq!(behind.get(), 1);
}

#[test]
fn a_wait_ends_with_its_context() {
    let _turn = turn();
    if gpu() != Backend::Simulator {
        return;
    }
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let (stream, word) = (stream(), upload(&[0u32]));
    ok!(cuStreamWaitValue32_v2(stream, word, 1, EQ));
    ok!(cuStreamWriteValue32_v2(stream, word, 2, 0));
    fails!(600, cuStreamQuery(stream));
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn memory_that_is_freed_during_a_wait_is_a_fault() {
    if in_child(&[("WARPSMITH_REPORT", "0")]).is_some() {
        return;
    }
    let _turn = turn();
    gpu();
    let (waiting, other) = (stream(), stream());
    let mut word = 0;
    ok!(cuMemAllocAsync(&mut word, 4, other));
    ok!(cuMemsetD32Async(word, 0, 1, other));
    ok!(cuStreamSynchronize(other));
    ok!(cuStreamWaitValue32_v2(waiting, word, 1, EQ));
    ok!(cuMemFreeAsync(word, other));
    fails!(700, cuStreamSynchronize(waiting));
    let fault = warpsmith_driver::fault(null_mut()).expect("a fault");
    assert!(fault.message.contains("a wait of a stream"), "{fault}");
}

#[test]
fn a_wait_that_takes_long_is_named() {
    let Some(printed) = in_child(&[("WARPSMITH_PATIENCE", "0.05")]) else {
        gpu();
        let (stream, word) = (stream(), Word::new());
        word.store(0x11);
        ok!(cuStreamWaitValue32_v2(stream, word.address(), 0x22, EQ));
        std::thread::sleep(Duration::from_millis(400));
        word.store(0x22);
        ok!(cuStreamSynchronize(stream));
        return;
    };
    let lines: Vec<_> = printed
        .lines()
        .filter(|line| line.contains("a stream has waited"))
        .collect();
    assert_eq!(lines.len(), 1, "{printed}");
    assert!(
        lines[0].contains("it is 0x11, the wait is for `== 0x22`"),
        "{printed}"
    );
}
