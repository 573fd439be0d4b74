//! Which device to run on, and what it can do.

use std::fmt;
use std::str::FromStr;

use super::capability::ComputeCapability;
use super::uuid::Uuid;
use crate::error::{Code, Error, Result};
use crate::settings;

/// The device to run on.
///
/// ```
/// use warpsmith_host::DeviceChoice;
///
/// assert_eq!("cuda:1".parse::<DeviceChoice>()?, DeviceChoice::Cuda(1));
/// assert_eq!(DeviceChoice::Simulator.to_string(), "simulator");
/// assert_eq!("simulator:1".parse::<DeviceChoice>()?, DeviceChoice::SimulatorDevice(1));
/// # Ok::<(), warpsmith_host::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DeviceChoice {
    /// The simulator in this process: its first device.
    Simulator,
    /// The device of this number that the simulator shows (`WARPSMITH_SIMULATOR_DEVICES`); number 0 is [`Simulator`](Self::Simulator).
    SimulatorDevice(u32),
    /// The GPU of this number, as the driver counts them.
    Cuda(u32),
}

impl DeviceChoice {
    /// What the environment variable `WARPSMITH_DEVICE` asks for: `simulator`, `simulator:N`, `cuda` or `cuda:N`; `None` where it is not set.
    pub fn from_env() -> Result<Option<DeviceChoice>> {
        settings::device().map(|text| text.parse()).transpose()
    }

    pub(crate) fn ordinal(self) -> u32 {
        match self {
            DeviceChoice::Simulator => 0,
            DeviceChoice::SimulatorDevice(ordinal) | DeviceChoice::Cuda(ordinal) => ordinal,
        }
    }

    /// The simulator's device of this number, by its one name.
    pub(crate) fn simulated(ordinal: u32) -> DeviceChoice {
        match ordinal {
            0 => DeviceChoice::Simulator,
            ordinal => DeviceChoice::SimulatorDevice(ordinal),
        }
    }

    /// Each device has one name.
    pub(crate) fn canonical(self) -> DeviceChoice {
        match self {
            DeviceChoice::SimulatorDevice(ordinal) => DeviceChoice::simulated(ordinal),
            other => other,
        }
    }

    pub(crate) fn is_simulator(self) -> bool {
        !matches!(self, DeviceChoice::Cuda(_))
    }
}

impl FromStr for DeviceChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<DeviceChoice> {
        let number_behind = |prefix| text.strip_prefix(prefix).and_then(|n| n.parse().ok());
        match text {
            "simulator" => Ok(DeviceChoice::Simulator),
            "cuda" => Ok(DeviceChoice::Cuda(0)),
            _ => number_behind("cuda:")
                .map(DeviceChoice::Cuda)
                .or_else(|| number_behind("simulator:").map(DeviceChoice::simulated))
                .ok_or_else(|| {
                    Error::misuse(
                        "DeviceChoice::from_str",
                        Code::INVALID_DEVICE,
                        format!("`{text}` is not a device"),
                        "WARPSMITH_DEVICE may be `simulator`, `simulator:N`, `cuda` or `cuda:N`",
                    )
                }),
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Simulator => write!(f, "simulator"),
            DeviceChoice::SimulatorDevice(number) => write!(f, "simulator:{number}"),
            DeviceChoice::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

/// A device that can be opened.
#[derive(Clone, Debug)]
pub struct DeviceInfo {
    /// How to open it.
    pub choice: DeviceChoice,
    /// Its name.
    pub name: String,
    /// Its compute capability.
    pub compute_capability: ComputeCapability,
    /// Its memory in bytes.
    pub total_memory: usize,
    /// What names the device for other interfaces, too (Vulkan's `deviceUUID`).
    pub uuid: Uuid,
}
