//! The description of an interface: what `abi/interfaces/*.toml` holds. Each field's meaning is explained there where it is used.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use warpsmith_builder::setup::PinnedWheel;

/// An interface of NVIDIA's.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Its name, as in "the CUDA driver's".
    pub title: String,
    /// The folder of the generated files, in `warpsmith-abi`.
    pub output: String,
    /// The headers, in the order in which C programs include them.
    pub headers: Vec<String>,
    /// Macros that are defined before.
    #[serde(default)]
    pub defines: Vec<String>,
    /// A pattern that the names of the interface's functions match.
    pub function: String,
    /// The enumeration of error codes.
    pub results: String,
    /// Where the headers come from.
    pub wheel: Wheel,
    /// Lists of functions with signatures.
    pub functions: Vec<FunctionList>,
    /// The files of types.
    pub topics: Vec<Topic>,
    /// Which types there are beside those that functions use.
    #[serde(default)]
    pub types: MoreTypes,
    /// Where the versions of functions are told.
    pub versions: Option<VersionRule>,
    /// Functions that are looked up by version, by symbol.
    #[serde(default)]
    pub pinned: BTreeMap<String, Pinned>,
    /// Macros with a value.
    #[serde(default)]
    pub constants: Vec<Constant>,
}

/// A pinned wheel, and the folder of headers in it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wheel {
    package: String,
    /// The package's version.
    pub version: String,
    sha256: Vec<String>,
    platform: String,
    /// The folder.
    pub include: String,
}

impl Wheel {
    /// The wheel, to be fetched.
    pub fn pinned(&self) -> PinnedWheel {
        PinnedWheel {
            package: self.package.clone(),
            version: self.version.clone(),
            sha256: self.sha256.clone(),
            platform: Some(self.platform.clone()),
        }
    }
}

/// A list of functions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionList {
    /// The macro is called `for_each_NAME_function`.
    pub name: String,
    /// What they have in common.
    pub about: String,
    /// Their names ...
    #[serde(default)]
    pub names: Vec<String>,
    /// ... or a pattern for them.
    pub pattern: Option<String>,
}

/// A file of types.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topic {
    /// The file's name.
    pub name: String,
    /// What it is about.
    pub about: String,
    /// A pattern for the beginning of their names.
    pub types: String,
}

/// Types beside those that functions use.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MoreTypes {
    /// A pattern for their names.
    pub also: Option<String>,
}

/// Where the header tells which version of CUDA introduced a function's signature.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VersionRule {
    /// A pattern for the names of function types, with the function's name and the version as its two groups.
    pub types: String,
    /// What the header tells in another way.
    #[serde(default)]
    pub also: Vec<AlsoVersion>,
}

/// A version that no function type tells.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlsoVersion {
    /// The name.
    pub name: String,
    /// The version of CUDA.
    pub version: u32,
    /// The symbol that the name stands for since then.
    pub symbol: String,
}

/// How a function is looked up by version.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pinned {
    /// The name without a version.
    pub name: String,
    /// The version of CUDA that introduced the signature.
    pub version: u32,
}

/// A macro with a value.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// Its name.
    pub name: String,
    /// Its documentation.
    pub about: String,
    /// The Rust type.
    #[serde(rename = "type")]
    pub rust_type: String,
    /// Whether the type is a pointer, to which the value has to be cast.
    #[serde(default)]
    pub cast: bool,
    /// The value.
    pub value: i64,
}

impl Description {
    /// Reads a description.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("{} is wrong", path.display()))
    }
}
