//! Where devices are on the PCI bus, and how programs write that.

use std::fmt;

use warpsmith_abi::CUdevice_attribute;

use super::catalog::profile;
use super::visible::in_machine;

/// An address on the PCI bus. `Display` writes it as `cuDeviceGetPCIBusId` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BusAddress {
    pub(crate) domain: u32,
    pub(crate) bus: u32,
    pub(crate) device: u32,
    pub(crate) function: u32,
}

impl BusAddress {
    /// Reads `domain:bus:device.function`, `domain:bus:device` or `bus:device.function`, in hexadecimal digits.
    pub(crate) fn parse(text: &str) -> Option<BusAddress> {
        let (before, slot) = text.rsplit_once(':')?;
        let (domain, bus) = match before.split_once(':') {
            Some((domain, bus)) => (Some(domain), bus),
            None => (None, before),
        };
        let (device, function) = match slot.split_once('.') {
            Some((device, function)) => (device, function),
            None => (slot, domain.map(|_| "0")?),
        };
        Some(BusAddress {
            domain: number(domain.unwrap_or("0"))?,
            bus: number(bus)?,
            device: number(device)?,
            function: number(function)?,
        })
    }
}

fn number(digits: &str) -> Option<u32> {
    let are_digits = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u32::from_str_radix(digits, 16).ok().filter(|_| are_digits)
}

impl fmt::Display for BusAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BusAddress {
            domain,
            bus,
            device,
            function,
        } = self;
        write!(f, "{domain:04x}:{bus:02x}:{device:02x}.{function:x}")
    }
}

/// Where a visible device is: those of the machine lie in a row.
pub(crate) fn bus_address(device: usize) -> BusAddress {
    let profile = profile(device);
    BusAddress {
        domain: profile.limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
        bus: profile.limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
        device: profile.limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)
            + in_machine(device) as u32,
        function: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_in_the_three_forms_of_the_driver() {
        let address = BusAddress {
            domain: 0x1f,
            bus: 0xa0,
            device: 6,
            function: 1,
        };
        assert_eq!(address.to_string(), "001f:a0:06.1");
        assert_eq!(BusAddress::parse("001f:a0:06.1"), Some(address));
        assert_eq!(BusAddress::parse("1F:A0:6.1"), Some(address));
        let first = BusAddress {
            function: 0,
            ..address
        };
        assert_eq!(BusAddress::parse("001f:a0:06"), Some(first));
        let short = BusAddress {
            domain: 0,
            ..address
        };
        assert_eq!(BusAddress::parse("a0:06.1"), Some(short));
        for wrong in [
            "",
            ":",
            "a0:06",
            "hello",
            "1f:a0:06.",
            "1f:a0:06:1",
            "zz:a0:06.1",
            "+1:a0:06.1",
        ] {
            assert_eq!(BusAddress::parse(wrong), None, "{wrong}");
        }
    }
}
