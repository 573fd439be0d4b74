//! The collectives, each described once: NCCL's function, and how the lengths of what is sent and what is received go together.

use std::ffi::c_void;

use warpsmith_nccl_abi::{cudaStream_t, ncclComm_t, ncclDataType_t, ncclRedOp_t, ncclResult_t};

use crate::error::{Error, Result};
use crate::library::Functions;

/// What NCCL's functions take, of which each takes its part.
#[derive(Clone, Copy)]
pub(crate) struct Arguments {
    pub(crate) send: u64,
    pub(crate) receive: u64,
    /// Elements, as [`Collective::count`] counts them.
    pub(crate) count: usize,
    pub(crate) kind: ncclDataType_t,
    /// The bytes of an element.
    pub(crate) element: usize,
    pub(crate) reduction: ncclRedOp_t,
    /// The root, or the other side.
    pub(crate) rank: i32,
    pub(crate) ranks: usize,
    pub(crate) comm: ncclComm_t,
    pub(crate) stream: cudaStream_t,
}

impl Arguments {
    #[inline(always)]
    fn from(&self) -> *const c_void {
        self.send as *const c_void
    }

    #[inline(always)]
    fn to(&self) -> *mut c_void {
        self.receive as *mut c_void
    }
}

/// A collective.
pub(crate) struct Collective {
    /// NCCL's function, by which errors name it.
    pub(crate) name: &'static str,
    /// Whether it is several calls, which need a group.
    pub(crate) is_several: bool,
    lengths: Lengths,
    call: unsafe fn(&Functions, &Arguments) -> ncclResult_t,
}

/// How the lengths of the buffers go together.
#[derive(Clone, Copy)]
enum Lengths {
    /// Both are the count. So it is with one buffer, too.
    Same,
    /// What is sent is the count, and one of that for each rank is received.
    Gathered,
    /// What is received is the count, and one of that for each rank is sent.
    Scattered,
    /// Both have one count for each rank.
    Exchanged,
}

impl Collective {
    /// The count of NCCL's call for buffers of these lengths.
    ///
    /// # Errors
    ///
    /// The lengths do not go together.
    #[inline(always)]
    pub(crate) fn count(&self, sent: usize, received: usize, ranks: usize) -> Result<usize> {
        let count = match self.lengths {
            Lengths::Same => (sent == received).then_some(sent),
            Lengths::Gathered => (sent.checked_mul(ranks) == Some(received)).then_some(sent),
            Lengths::Scattered => (received.checked_mul(ranks) == Some(sent)).then_some(received),
            Lengths::Exchanged => {
                (sent == received && sent.is_multiple_of(ranks)).then(|| sent / ranks)
            }
        };
        count.ok_or_else(|| self.misfit(sent, received, ranks))
    }

    #[cold]
    fn misfit(&self, sent: usize, received: usize, ranks: usize) -> Error {
        let what = match self.lengths {
            Lengths::Same => format!("{sent} elements are sent and {received} received"),
            Lengths::Gathered => {
                format!("{ranks} ranks send {sent} elements each, and there is room for {received}")
            }
            Lengths::Scattered => {
                format!("{ranks} ranks get {received} elements each, and {sent} are sent")
            }
            Lengths::Exchanged => format!(
                "{sent} elements are sent and {received} received, which must be the same multiple of {ranks} ranks"
            ),
        };
        let hint = "use slices of the buffers: `buffer.slice(..n)`";
        Error::misuse(self.name, what, hint)
    }

    /// Calls NCCL.
    ///
    /// # Safety
    ///
    /// The communicator is alive, and this thread alone calls NCCL with it; the stream is of its device. The buffers that the function reads
    /// and writes have as many elements as the count says, until the work is done.
    #[inline(always)]
    pub(crate) unsafe fn call(&self, nccl: &Functions, arguments: &Arguments) -> ncclResult_t {
        // SAFETY: this function's condition.
        unsafe { (self.call)(nccl, arguments) }
    }
}

/// One line a collective: how the lengths go together, and NCCL's call. They are constants, so that who makes one call knows all of it when compiled.
macro_rules! table {
    ($($name:ident: $function:literal, $lengths:ident, $is_several:literal, |$nccl:ident, $a:ident| $call:expr;)*) => {
        $(pub(crate) const $name: Collective = Collective {
            name: $function,
            is_several: $is_several,
            lengths: Lengths::$lengths,
            call: {
                #[inline(always)]
                unsafe fn call($nccl: &Functions, $a: &Arguments) -> ncclResult_t {
                    // SAFETY: the condition of `Collective::call`.
                    unsafe { $call }
                }
                call
            },
        };)*
    };
}

table! {
    ALL_REDUCE: "ncclAllReduce", Same, false,
        |nccl, a| (nccl.ncclAllReduce)(a.from(), a.to(), a.count, a.kind, a.reduction, a.comm, a.stream);
    BROADCAST: "ncclBroadcast", Same, false,
        |nccl, a| (nccl.ncclBroadcast)(a.from(), a.to(), a.count, a.kind, a.rank, a.comm, a.stream);
    REDUCE: "ncclReduce", Same, false,
        |nccl, a| (nccl.ncclReduce)(a.from(), a.to(), a.count, a.kind, a.reduction, a.rank, a.comm, a.stream);
    ALL_GATHER: "ncclAllGather", Gathered, false,
        |nccl, a| (nccl.ncclAllGather)(a.from(), a.to(), a.count, a.kind, a.comm, a.stream);
    REDUCE_SCATTER: "ncclReduceScatter", Scattered, false,
        |nccl, a| (nccl.ncclReduceScatter)(a.from(), a.to(), a.count, a.kind, a.reduction, a.comm, a.stream);
    ALL_TO_ALL: "ncclAlltoAll", Exchanged, true, |nccl, a| match nccl.newer.ncclAlltoAll {
            Some(own) => own(a.from(), a.to(), a.count, a.kind, a.comm, a.stream),
            None => exchange(nccl, a, Some, Some),
        };
    GATHER: "ncclGather", Gathered, true, |nccl, a| match nccl.newer.ncclGather {
            Some(own) => own(a.from(), a.to(), a.count, a.kind, a.rank, a.comm, a.stream),
            None => gather(nccl, a),
        };
    SCATTER: "ncclScatter", Scattered, true, |nccl, a| match nccl.newer.ncclScatter {
            Some(own) => own(a.from(), a.to(), a.count, a.kind, a.rank, a.comm, a.stream),
            None => scatter(nccl, a),
        };
    SEND: "ncclSend", Same, false,
        |nccl, a| (nccl.ncclSend)(a.from(), a.count, a.kind, a.rank, a.comm, a.stream);
    RECEIVE: "ncclRecv", Same, false,
        |nccl, a| (nccl.ncclRecv)(a.to(), a.count, a.kind, a.rank, a.comm, a.stream);
}

/// Sends each rank the part that `sent` says, and receives from each what becomes the part that `received` says, if there is any.
///
/// # Safety
///
/// As for [`Collective::call`]; the thread is in a group of NCCL's. The parts are within the buffers.
unsafe fn exchange(
    nccl: &Functions,
    a: &Arguments,
    sent: impl Fn(usize) -> Option<usize>,
    received: impl Fn(usize) -> Option<usize>,
) -> ncclResult_t {
    let bytes = a.count * a.element;
    for peer in 0..a.ranks {
        let other = peer as i32;
        let send = sent(peer).map(|part| {
            let from = a.from().wrapping_byte_add(part * bytes);
            // SAFETY: the part is within its buffer: this function's condition.
            unsafe { (nccl.ncclSend)(from, a.count, a.kind, other, a.comm, a.stream) }
        });
        let receive = received(peer).map(|part| {
            let to = a.to().wrapping_byte_add(part * bytes);
            // SAFETY: the part is within its buffer: this function's condition.
            unsafe { (nccl.ncclRecv)(to, a.count, a.kind, other, a.comm, a.stream) }
        });
        let refused = |code: &ncclResult_t| {
            *code != ncclResult_t::ncclSuccess && *code != ncclResult_t::ncclInProgress
        };
        if let Some(code) = send.into_iter().chain(receive).find(refused) {
            return code;
        }
    }
    ncclResult_t::ncclSuccess
}

/// `ncclGather` of a library that has it not.
///
/// # Safety
///
/// As for [`Collective::call`]; the thread is in a group of NCCL's.
unsafe fn gather(nccl: &Functions, a: &Arguments) -> ncclResult_t {
    let is_root = |rank: usize| rank == a.rank as usize;
    // SAFETY: this function's condition.
    let own = match unsafe { own_rank(nccl, a) } {
        Ok(own) => own,
        Err(code) => return code,
    };
    let sent = |peer| is_root(peer).then_some(0);
    let received = |peer| is_root(own).then_some(peer);
    // SAFETY: this function's condition: what is sent has one part, and the root has room for one of each rank.
    unsafe { exchange(nccl, a, sent, received) }
}

/// `ncclScatter` of a library that has it not.
///
/// # Safety
///
/// As for [`Collective::call`]; the thread is in a group of NCCL's.
unsafe fn scatter(nccl: &Functions, a: &Arguments) -> ncclResult_t {
    let is_root = |rank: usize| rank == a.rank as usize;
    // SAFETY: this function's condition.
    let own = match unsafe { own_rank(nccl, a) } {
        Ok(own) => own,
        Err(code) => return code,
    };
    let sent = |peer| is_root(own).then_some(peer);
    let received = |peer| is_root(peer).then_some(0);
    // SAFETY: this function's condition: the root sends one part to each rank, and each has room for one.
    unsafe { exchange(nccl, a, sent, received) }
}

/// # Safety
///
/// The communicator is alive.
unsafe fn own_rank(nccl: &Functions, a: &Arguments) -> Result<usize, ncclResult_t> {
    let mut own = 0;
    // SAFETY: the communicator is alive: this function's condition; NCCL writes one number to `own`, which outlives the call.
    match unsafe { (nccl.ncclCommUserRank)(a.comm, &mut own) } {
        ncclResult_t::ncclSuccess => Ok(own as usize),
        code => Err(code),
    }
}

#[cfg(test)]
mod tests {
    use warpsmith_nccl_abi::signature;

    use super::*;

    #[test]
    fn each_count_is_what_nccl_counts() {
        let count = |collective: &Collective, sent, received| collective.count(sent, received, 3);
        assert_eq!(count(&ALL_REDUCE, 6, 6).expect("fits"), 6);
        assert_eq!(count(&ALL_GATHER, 2, 6).expect("fits"), 2);
        assert_eq!(count(&REDUCE_SCATTER, 6, 2).expect("fits"), 2);
        assert_eq!(count(&ALL_TO_ALL, 6, 6).expect("fits"), 2);
        for (collective, sent, received) in [
            (&ALL_REDUCE, 6, 5),
            (&ALL_GATHER, usize::MAX / 2, 6),
            (&REDUCE_SCATTER, 6, 3),
            (&ALL_TO_ALL, 5, 5),
            (&ALL_TO_ALL, 6, 3),
        ] {
            let error = count(collective, sent, received).expect_err("does not fit");
            assert!(error.to_string().contains(collective.name), "{error}");
            assert!(error.to_string().contains(&sent.to_string()), "{error}");
        }
    }

    /// What the stand-ins below were called with: whether it is a send, the address, and the other rank.
    type Called = (bool, usize, i32);

    thread_local! {
        static CALLED: std::cell::RefCell<Vec<Called>> = const { std::cell::RefCell::new(Vec::new()) };
    }

    unsafe extern "C" fn send(
        from: *const c_void,
        count: usize,
        _kind: ncclDataType_t,
        peer: i32,
        _comm: ncclComm_t,
        _stream: cudaStream_t,
    ) -> ncclResult_t {
        assert_eq!(count, 3);
        CALLED.with_borrow_mut(|called| called.push((true, from.addr(), peer)));
        ncclResult_t::ncclSuccess
    }

    unsafe extern "C" fn receive(
        to: *mut c_void,
        count: usize,
        _kind: ncclDataType_t,
        peer: i32,
        _comm: ncclComm_t,
        _stream: cudaStream_t,
    ) -> ncclResult_t {
        assert_eq!(count, 3);
        CALLED.with_borrow_mut(|called| called.push((false, to.addr(), peer)));
        ncclResult_t::ncclSuccess
    }

    /// This is the rank that the handle says.
    unsafe extern "C" fn user_rank(comm: ncclComm_t, rank: *mut i32) -> ncclResult_t {
        // SAFETY: the caller gives a place for a number.
        unsafe { rank.write(comm.addr() as i32) };
        ncclResult_t::ncclSuccess
    }

    /// What `collective` calls of a library that has none of the newer functions, for one of three ranks, with rank 1 as the root.
    fn called(collective: &Collective, rank: usize) -> Vec<Called> {
        let find = |name: &str| match name {
            "ncclSend" => Some(send as signature::ncclSend as *const c_void),
            "ncclRecv" => Some(receive as signature::ncclRecv as *const c_void),
            "ncclCommUserRank" => Some(user_rank as signature::ncclCommUserRank as *const c_void),
            "ncclAlltoAll" | "ncclGather" | "ncclScatter" => None,
            other => warpsmith_nccl_simulator::entry_point(other),
        };
        // SAFETY: the functions above have the types of their names, and the simulator's have theirs.
        let nccl = unsafe { Functions::resolve(&find) };
        let nccl = nccl.expect("all functions of NCCL 2.18");
        let arguments = Arguments {
            send: 1000,
            receive: 2000,
            count: 3,
            kind: ncclDataType_t::ncclInt32,
            element: 4,
            reduction: ncclRedOp_t::ncclSum,
            rank: 1,
            ranks: 3,
            comm: rank as ncclComm_t,
            stream: std::ptr::null_mut(),
        };
        // SAFETY: the functions above use no memory.
        let code = unsafe { collective.call(&nccl, &arguments) };
        assert_eq!(code, ncclResult_t::ncclSuccess);
        CALLED.take()
    }

    #[test]
    fn an_older_library_sends_and_receives() {
        let gathered = [
            (false, 2000, 0),
            (true, 1000, 1),
            (false, 2012, 1),
            (false, 2024, 2),
        ];
        assert_eq!(called(&GATHER, 1), gathered);
        assert_eq!(called(&GATHER, 0), [(true, 1000, 1)]);
        let scattered = [
            (true, 1000, 0),
            (true, 1012, 1),
            (false, 2000, 1),
            (true, 1024, 2),
        ];
        assert_eq!(called(&SCATTER, 1), scattered);
        assert_eq!(called(&SCATTER, 2), [(false, 2000, 1)]);
        let exchanged = [
            (true, 1000, 0),
            (false, 2000, 0),
            (true, 1012, 1),
            (false, 2012, 1),
            (true, 1024, 2),
            (false, 2024, 2),
        ];
        assert_eq!(called(&ALL_TO_ALL, 0), exchanged);
    }
}
