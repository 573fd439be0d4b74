//! Which of the machine's devices this process sees.

use std::sync::OnceLock;

use crate::settings;

/// The most devices that can be simulated.
pub(super) const MOST: usize = 64;

/// The devices that this process sees, by their numbers in the machine. There are as many as `WARPSMITH_SIMULATOR_DEVICES` says, or
/// one; `CUDA_VISIBLE_DEVICES` chooses among them and orders them.
fn visible() -> &'static [usize] {
    static VISIBLE: OnceLock<Vec<usize>> = OnceLock::new();
    VISIBLE.get_or_init(|| {
        let settings = settings::process();
        let all = settings.devices.min(MOST);
        match &settings.visible_devices {
            Some(list) => choose(list, all),
            None => (0..all).collect(),
        }
    })
}

/// Numbers or beginnings of identities, up to the first that is none.
fn choose(list: &str, all: usize) -> Vec<usize> {
    let mut chosen = Vec::new();
    for entry in list.split(',').map(str::trim) {
        let found = match entry.strip_prefix("GPU-") {
            Some(prefix) => {
                let mut fitting =
                    (0..all).filter(|&device| identity_text(device).starts_with(prefix));
                fitting.next().filter(|_| fitting.next().is_none())
            }
            None => entry.parse().ok().filter(|&device| device < all),
        };
        match found {
            Some(device) if !chosen.contains(&device) => chosen.push(device),
            _ => break,
        }
    }
    chosen
}

/// How many devices this process sees.
pub(crate) fn count() -> usize {
    visible().len()
}

/// The number of a visible device in the machine.
pub(crate) fn in_machine(device: usize) -> usize {
    visible().get(device).copied().unwrap_or(device)
}

/// The visible device of a number in the machine; `None` if this process does not see it.
pub(crate) fn of_machine(number: usize) -> Option<usize> {
    visible().iter().position(|&device| device == number)
}

/// The visible device of a number in the machine; for one that this process does not see, a number that is no visible device's.
pub(crate) fn known_or_unseen(number: usize) -> usize {
    of_machine(number).unwrap_or_else(|| MOST.saturating_add(number))
}

/// A device's identity, by its number in the machine.
pub(crate) fn identity(device: usize) -> [u8; 16] {
    let mut bytes = *b"warpsmith-sim-00";
    bytes[14] = b'0' + (device / 10) as u8;
    bytes[15] = b'0' + (device % 10) as u8;
    bytes
}

/// The identity in the form that programs print: 32 hexadecimal digits in groups.
fn identity_text(device: usize) -> String {
    let hex: String = identity(device)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ]
    .join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visible_devices_are_listed_up_to_the_first_wrong_entry() {
        // covers: ENV-01, ENV-EX01
        assert_eq!(choose("2,1", 4), [2, 1]);
        assert_eq!(choose("0,2,-1,1", 4), [0, 2]);
        assert_eq!(choose("", 4), [0usize; 0]);
        assert_eq!(choose("-1", 4), [0usize; 0]);
        assert_eq!(choose("7", 4), [0usize; 0]);
        let third = format!("GPU-{}", identity_text(2));
        assert_eq!(choose(&third, 4), [2]);
        assert_eq!(
            choose("GPU-77617270", 4),
            [0usize; 0],
            "a beginning that several share names none"
        );
    }
}
