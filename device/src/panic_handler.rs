//! What a panic does on the device.

#[cfg(target_arch = "nvptx64")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // SAFETY: ends the kernel.
    unsafe { core::arch::asm!("trap;", options(noreturn)) }
}
