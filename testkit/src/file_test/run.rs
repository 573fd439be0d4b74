//! How a kernel is run.

use super::values::dimensions;

/// A kernel with its launch.
#[derive(Clone, Debug)]
pub struct Run {
    /// The kernel's name.
    pub kernel: String,
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Blocks of a cluster; `None`: as the kernel says.
    pub cluster: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// A cooperative launch.
    pub cooperative: bool,
    /// Whether the simulator's checks are on.
    pub checked: bool,
    /// The simulator's seed.
    pub seed: u64,
}

impl Run {
    /// Reads what follows the word `run`.
    pub(super) fn parse(text: &str) -> Result<Run, String> {
        let mut words = text.split_whitespace();
        let mut run = Run {
            kernel: words
                .next()
                .ok_or("`run` needs a kernel's name")?
                .to_owned(),
            grid: [1; 3],
            block: [1; 3],
            cluster: None,
            dynamic_shared: 0,
            cooperative: false,
            checked: true,
            seed: 0,
        };
        for word in words {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let number = || {
                value
                    .parse::<u32>()
                    .map_err(|_| format!("`{word}`: not a number"))
            };
            match key {
                "grid" => run.grid = dimensions(value)?,
                "block" => run.block = dimensions(value)?,
                "cluster" => run.cluster = Some(dimensions(value)?),
                "shared" => run.dynamic_shared = number()?,
                "seed" => run.seed = number()?.into(),
                "cooperative" => run.cooperative = true,
                "checks" if matches!(value, "none" | "all") => run.checked = value == "all",
                _ => return Err(format!("unknown setting `{word}`")),
            }
        }
        Ok(run)
    }
}
