//! Calls of the driver with whole-number result codes, turned into errors.

pub(crate) mod adopt;
pub(crate) mod callback;
pub(crate) mod hand_over;
pub(crate) mod handle;
pub(crate) mod loss;
pub(crate) mod stream_ref;

use warpsmith_driver::raw::CUresult;

use self::loss::CurrentLoss;
use crate::error::{Code, DriverError, Error, KernelFault, Result, general_hint};

/// `call!(cuFoo(a, b))` calls the driver and gives `Result<()>`. For use inside `unsafe { }`, whose comment says why the call is sound.
macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {
        $crate::driver_call::check(
            const { $crate::driver_call::documented(stringify!($function)) },
            ::warpsmith_driver::raw::$function($($argument),*),
        )
    };
}
pub(crate) use call;

/// The name by which the manual knows a function: a symbol may end with the number of its version.
pub(crate) const fn documented(symbol: &'static str) -> &'static str {
    match symbol.as_bytes() {
        [.., b'_', b'v', b'2'..=b'9'] => symbol.split_at(symbol.len() - 3).0,
        _ => symbol,
    }
}

#[inline]
pub(crate) fn check(call: &'static str, code: CUresult) -> Result<()> {
    if code.0 == 0 {
        Ok(())
    } else {
        Err(failed(call, Code(code.0)))
    }
}

/// The error for a code; where it is one that a fault has, the simulator is asked for the fault of the current context, which the
/// program now knows.
#[cold]
pub(crate) fn failed(call: &'static str, code: Code) -> Error {
    if code == Code::NOT_PERMITTED && callback::is_running() {
        return callback::called_inside(call);
    }
    if code.is_fatal() || code == Code::UNKNOWN {
        let loss = CurrentLoss::ask(call, code.is_fatal());
        if let Some(fault) = loss.fault {
            return Error::Fault(Box::new(KernelFault::new(call, code, fault, loss.told_by)));
        }
    }
    Error::Driver(Box::new(DriverError {
        call,
        code,
        context: None,
        hint: general_hint(code),
    }))
}

/// The error for a failure that `cust` reports. Its enum has no room for codes newer than CUDA 11.4; the driver seam hands it 999
/// for those, so what is lost is the number, nothing else.
#[cold]
pub(crate) fn cust_failed(call: &'static str, error: cust::error::CudaError) -> Error {
    let code = match error {
        cust::error::CudaError::InvalidMemoryAllocation => Code::INVALID_VALUE,
        other => Code(other as u32),
    };
    failed(call, code)
}
