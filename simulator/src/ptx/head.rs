//! The head of a module: `.version`, `.target` with its options, and `.address_size`.

use warpsmith_isa::{PtxVersion, Target};

use super::ast::{Head, Position};
use super::error::{Error, Result};
use super::parser::Parser;

/// The first architecture that has double precision, which `map_f64_to_f32` replaces.
const DOUBLES: u16 = 13;
/// The first architecture on which ptxas takes 64-bit addresses alone.
const WIDE_ADDRESSES: u16 = 90;

impl Parser<'_> {
    /// Reads the head of a module.
    pub fn module_head(&mut self) -> Result<Head> {
        let version = self.version()?;
        let at = self.at();
        if !self.accept_dotted("target") {
            let message = "Missing .target directive at start of file: `.target sm_90` or another architecture follows the version";
            return Err(Error::new(at, message));
        }
        let head = self.target(version)?;
        let at = self.at();
        if self.accept_dotted("address_size") {
            check_address_size(self.integer("32 or 64")?, head.target, at)?;
        }
        Ok(head)
    }

    fn version(&mut self) -> Result<PtxVersion> {
        let at = self.at();
        let number = self.token_after(1).text.split_once('.');
        let parts =
            number.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        let (true, Some(parts)) = (self.is_dotted("version"), parts) else {
            let message = "Missing .version directive at start of file: `.version 8.0` or another version begins a module";
            return Err(Error::new(at, message));
        };
        self.advance();
        self.advance();
        let (major, minor): (u32, u32) = parts;
        let known = u8::try_from(major).ok().zip(u8::try_from(minor).ok());
        let known = known.map(|(major, minor)| PtxVersion::new(major, minor));
        known.filter(|version| version.exists()).ok_or_else(|| {
            let newest = PtxVersion::NEWEST;
            let message =
                format!("Unsupported .version {major}.{minor}; current version is '{newest}'");
            Error::new(at, message)
        })
    }

    /// The architecture, and what may follow it: of several architectures the last one counts.
    fn target(&mut self, version: PtxVersion) -> Result<Head> {
        let (name, at) = self.name("an architecture such as `sm_90` after `.target`")?;
        if !is_architecture(name) {
            let message = format!(
                "Target architecture not defined at start of file: found `{name}`, expected `sm_90` or another"
            );
            return Err(Error::new(at, message));
        }
        let mut head = Head {
            version,
            target: architecture(name, version, at)?,
            debug: None,
        };
        let mut texture_mode = None;
        while self.accept(",") {
            let (name, at) = self.name("a target option")?;
            match name {
                "texmode_unified" | "texmode_independent" => {
                    if texture_mode.is_some_and(|other| other != name) {
                        return Err(Error::new(
                            at,
                            format!("Conflicting .target option '{name}'"),
                        ));
                    }
                    texture_mode = Some(name);
                }
                "debug" => head.debug = Some(at),
                "map_f64_to_f32" if head.target.level < DOUBLES => {}
                "map_f64_to_f32" => {
                    let message = "Directive map_f64_to_f32 is not supported with SM 1.3 or higher";
                    return Err(Error::new(at, message));
                }
                _ => head.target = architecture(name, version, at)?,
            }
        }
        Ok(head)
    }
}

/// Whether a name is one of an architecture, even if of none that exists.
fn is_architecture(name: &str) -> bool {
    name.starts_with("sm_") || name.starts_with("compute_")
}

/// The architecture of this name: `sm_90`, or `compute_90`, which is the same.
fn architecture(name: &str, version: PtxVersion, at: Position) -> Result<Target> {
    let target = match name.strip_prefix("compute_") {
        Some(number) => Target::parse(&format!("sm_{number}")),
        None => Target::parse(name),
    };
    let known = target.and_then(|target| Some((target, target.first_version()?)));
    match known {
        None => Err(Error::new(at, format!("Unsupported .target '{name}'"))),
        Some((_, first)) if version < first => {
            let message = format!(
                "PTX .version {version} does not support .target {name}: it came with {first}"
            );
            Err(Error::new(at, message))
        }
        Some((target, _)) => Ok(target),
    }
}

fn check_address_size(size: u32, target: Target, at: Position) -> Result<()> {
    let message = match size {
        64 => return Ok(()),
        32 if target.level >= WIDE_ADDRESSES => {
            "32-Bit ABI (--machine 32 or 32-Bit addressing) is not supported on sm_90 or higher architectures."
        }
        32 => "modules with `.address_size 32` are not supported by the simulator",
        _ => "Illegal value for .address_size directive (must be 32 or 64)",
    };
    Err(Error::new(at, message))
}
