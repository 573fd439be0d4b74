//! What a device reports about itself.

use std::sync::OnceLock;

use crate::settings;
use warpsmith_abi::CUdevice_attribute;

/// What a device reports.
pub(crate) struct Profile {
    pub(crate) name: &'static str,
    pub(crate) total_memory: usize,
    pub(super) attributes: &'static [(CUdevice_attribute, i32)],
    pub(crate) stack_limit: usize,
    pub(crate) printf_fifo: usize,
    pub(crate) malloc_heap: usize,
    pub(crate) pending_launches: usize,
    pub(crate) max_l2_fetch: usize,
    pub(crate) persisting_l2: usize,
    pub(crate) shared_memory_limit: usize,
    /// Least and greatest stream priority.
    pub(crate) priorities: (i32, i32),
}

impl Profile {
    /// The value of an attribute; `None` if the device does not know it. `WARPSMITH_SIMULATOR_ATTRIBUTES` comes first.
    pub(crate) fn attribute(&self, attribute: CUdevice_attribute) -> Option<i32> {
        let given = replaced().iter().chain(self.attributes);
        given
            .into_iter()
            .find(|(key, _)| *key == attribute)
            .map(|&(_, value)| value)
    }

    /// The value of an attribute that every profile has, as an unsigned number.
    pub(crate) fn limit(&self, attribute: CUdevice_attribute) -> u32 {
        self.attribute(attribute)
            .and_then(|value| u32::try_from(value).ok())
            .unwrap_or(0)
    }
}

/// What `WARPSMITH_SIMULATOR_ATTRIBUTES` makes the devices report instead: `89=0,120=0`, by the numbers of `CUdevice_attribute`.
fn replaced() -> &'static [(CUdevice_attribute, i32)] {
    static REPLACED: OnceLock<Vec<(CUdevice_attribute, i32)>> = OnceLock::new();
    REPLACED.get_or_init(|| {
        assignments(&settings::process().attributes).unwrap_or_else(|entry| {
            eprintln!("warpsmith: WARPSMITH_SIMULATOR_ATTRIBUTES: `{entry}` is not `NUMBER=VALUE`; the variable is ignored");
            Vec::new()
        })
    })
}

/// `1=2,3=4`, or the entry that is not of this form.
fn assignments(text: &str) -> Result<Vec<(CUdevice_attribute, i32)>, &str> {
    let entries = text
        .split(',')
        .map(str::trim)
        .filter(|entry| !entry.is_empty());
    entries
        .map(|entry| {
            let (key, value) = entry.split_once('=').ok_or(entry)?;
            let (Ok(key), Ok(value)) = (key.trim().parse(), value.trim().parse()) else {
                return Err(entry);
            };
            Ok((CUdevice_attribute(key), value))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_can_be_replaced() {
        assert_eq!(
            assignments("89=0, 2=-1,"),
            Ok(vec![
                (CUdevice_attribute(89), 0),
                (CUdevice_attribute(2), -1)
            ])
        );
        assert_eq!(assignments(""), Ok(vec![]));
        assert_eq!(assignments("89=0,x=1"), Err("x=1"));
        assert_eq!(assignments("89"), Err("89"));
    }
}
