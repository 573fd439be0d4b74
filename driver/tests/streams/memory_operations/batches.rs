//! Batches, wrong arguments, and the first interface.

use super::*;

fn unknown_operation() -> CUstreamBatchMemOpParams {
    CUstreamBatchMemOpParams {
        operation: CUstreamBatchMemOpType_enum(99),
    }
}

#[test]
fn a_batch_is_executed_in_order() {
    let _turn = turn();
    gpu();
    let stream = stream();
    let (word, results) = (Word::new(), [Word::new(), Word::new()]);
    let mut batch = [
        write(results[0].address(), 1),
        wait(word.address(), 1, EQ),
        write(results[1].address(), 2),
        barrier(0),
        write(results[0].address(), 3),
    ];
    let (count, array) = (batch.len() as c_uint, batch.as_mut_ptr());
    ok!(cuStreamBatchMemOp_v2(stream, count, array, 0));
    // The driver has its own copy.
    batch.fill(write(results[1].address(), 9));
    while results[0].load() != 1 {
        std::thread::yield_now();
    }
    fails!(600, cuStreamQuery(stream));
    assert_eq!(results[1].load(), 0);
    word.store(1);
    ok!(cuStreamSynchronize(stream));
    assert_eq!([results[0].load(), results[1].load()], [3, 2]);
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn wrong_arguments_are_refused() {
    let _turn = turn();
    let backend = gpu();
    let stream = stream();
    let word = Word::new();
    let address = word.address();
    // All of these waits would be over at once.
    refuses!(1, cuStreamWaitValue32_v2(stream, address + 2, 0, GEQ));
    refuses!(1, cuStreamWaitValue64_v2(stream, address + 4, 0, GEQ));
    refuses!(1, cuStreamWaitValue32_v2(stream, address, 0, 1 << 20));
    refuses!(1, cuStreamWriteValue32_v2(stream, address + 1, 0, 0));
    refuses!(1, cuStreamWriteValue32_v2(stream, address, 0, 1 << 20));
    refuses!(1, cuStreamWaitValue32_v2(stream, 0, 0, GEQ));
    refuses!(1, cuStreamWriteValue32_v2(stream, 0, 0, 0));
    let mut ordinary = 0u32;
    let unknown = &raw mut ordinary as CUdeviceptr;
    if !has(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS) {
        refuses!(1, cuStreamWriteValue32_v2(stream, unknown, 0, 0));
    }
    let mut batch = [write(address, 1); 256];
    refuses!(1, cuStreamBatchMemOp_v2(stream, 256, batch.as_mut_ptr(), 0));
    refuses!(1, cuStreamBatchMemOp_v2(stream, 1, batch.as_mut_ptr(), 1));
    // One that is wrong spoils the batch.
    for wrong in [write(address + 1, 1), unknown_operation()] {
        let mut batch = [write(address, 1), wrong];
        refuses!(1, cuStreamBatchMemOp_v2(stream, 2, batch.as_mut_ptr(), 0));
    }
    ok!(cuStreamSynchronize(stream));
    assert_eq!(word.load(), 0);
    if !has(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES) {
        refuses!(801, cuStreamWaitValue32_v2(stream, address, 0, FLUSH));
    }
    if backend == Backend::Simulator {
        // A real driver (580) reads the array, and the stream behind a handle, whatever they are.
        fails!(1, cuStreamBatchMemOp_v2(stream, 1, null_mut(), 0));
        fails!(
            400,
            cuStreamWriteValue32_v2(0x1234 as CUstream, address, 0, 0)
        );
        // "This flag is not supported in the v2 API", and managed memory cannot be used: the manual does not say what the answer is.
        fails!(1, cuStreamWriteValue32_v2(stream, address, 0, NO_BARRIER));
        let mut managed = 0;
        ok!(cuMemAllocManaged(&mut managed, 64, 1));
        fails!(1, cuStreamWaitValue32_v2(stream, managed, 0, GEQ));
        fails!(1, cuStreamWriteValue32_v2(stream, managed, 0, 0));
        ok!(cuMemFree_v2(managed));
        fails!(1, cuStreamWriteValue32_v2(stream, managed, 0, 0));
    }
    ok!(cuStreamDestroy_v2(stream));
}

/// The functions as they were before CUDA 11.7 are off unless the machine's administrator wants them.
#[test]
fn the_first_interface_is_another_one() {
    if in_child(&[]).is_some() {
        return;
    }
    let _turn = turn();
    gpu();
    let (stream, word) = (stream(), Word::new());
    let address = word.address();
    let mut batch = [write(address, 1)];
    fails!(801, cuStreamWaitValue32(stream, address, 0, GEQ));
    fails!(801, cuStreamWaitValue64(stream, address, 0, GEQ));
    fails!(801, cuStreamWriteValue32(stream, address, 1, NO_BARRIER));
    fails!(801, cuStreamBatchMemOp(stream, 1, batch.as_mut_ptr(), 0));
}

#[test]
fn a_device_may_have_the_first_interface() {
    if in_child(&[("WARPSMITH_SIMULATOR_ATTRIBUTES", "92=1,122=0,123=0")]).is_some() {
        return;
    }
    let _turn = turn();
    gpu();
    let (stream, word) = (stream(), Word::new());
    let address = word.address();
    ok!(cuStreamWriteValue32(stream, address, 1, NO_BARRIER));
    ok!(cuStreamWaitValue32(stream, address, 1, EQ));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(word.load(), 1);
    // Neither here nor by the second one.
    fails!(801, cuStreamWaitValue64(stream, address, 0, GEQ));
    fails!(801, cuStreamWaitValue32(stream, address, 0, NOR));
    fails!(801, cuStreamWaitValue64_v2(stream, address, 0, GEQ));
    fails!(801, cuStreamWriteValue64_v2(stream, address, 0, 0));
    fails!(801, cuStreamWaitValue32_v2(stream, address, 0, NOR));
    // Nothing but the second one can be captured.
    let mut graph = null_mut();
    ok!(cuStreamBeginCapture_v2(stream, RELAXED));
    fails!(900, cuStreamWriteValue32(stream, address, 1, 0));
    fails!(901, cuStreamEndCapture(stream, &mut graph));
}
