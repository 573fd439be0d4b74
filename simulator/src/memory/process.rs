//! Other processes of the machine.

/// Whether a process runs: one that has ended and was not waited for does not.
pub(super) fn is_running(process: u32) -> bool {
    let Ok(text) = std::fs::read_to_string(format!("/proc/{process}/stat")) else {
        return false;
    };
    // The state stands behind the name, which may hold anything.
    let state = text.rsplit_once(") ").map(|(_, rest)| rest.as_bytes());
    !matches!(state, Some([b'Z' | b'X', ..]))
}
