//! Running a grid: clusters of blocks are handed to the worker threads. A worker runs the warps of its clusters in turn; it
//! takes on a further cluster when one is done, or when all it has are spinning (on other blocks, as look-back scans do).
//! All blocks of a cooperative grid are resident from the start.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::access::finding;
use super::exec::grid::Grid;
use super::exec::notes::Notes;
use super::exec::progress::Progress;
use super::exec::resident::{Resident, Turn};
use super::exec::shared_map::SharedMap;
use super::exec::surface_writes::SurfaceWrites;
use super::exec::warp::RawFault;
use super::fault::{FaultDetails, FaultOrigin};
use super::memory::Aligned;
use super::observe::LaunchEvent;
use super::report;
use super::statistics::Statistics;
use super::{Environment, Fault, FaultKind, Kernel, Runtime};

/// One launch. The caller has checked the device's limits (threads per block, grid dimensions, shared memory);
/// `run` checks again whatever would be unsafe to believe.
pub struct Launch<'a> {
    /// What to run.
    pub kernel: &'a Arc<Kernel>,
    /// Blocks in each dimension, none 0.
    pub grid: [u32; 3],
    /// Threads of a block in each dimension, none 0, product at most 1024.
    pub block: [u32; 3],
    /// Blocks of a cluster in each dimension; [1, 1, 1] without clusters. Divides the grid.
    pub cluster: [u32; 3],
    /// Bytes of dynamic shared memory of a block.
    pub dynamic_shared: u32,
    /// All blocks are co-resident.
    pub cooperative: bool,
    /// The parameter buffer, laid out as [`Kernel::parameters`] says.
    pub params: &'a [u8],
}

/// Counts launches.
static LAUNCHES: AtomicU64 = AtomicU64::new(1);

fn refused(launch: &Launch, message: impl Into<String>) -> Box<Fault> {
    let origin = FaultOrigin {
        kernel: launch.kernel.name.clone(),
        block: [0; 3],
        thread: [0; 3],
        frames: Vec::new(),
    };
    Box::new(Fault::in_kernel(FaultKind::InvalidLaunch, message, origin))
}

fn volume(dimensions: [u32; 3]) -> Option<u64> {
    let [x, y, z] = dimensions.map(u64::from);
    x.checked_mul(y)?.checked_mul(z).filter(|&v| v > 0)
}

fn prepare<'a>(launch: &Launch<'a>, environment: &Environment<'a>) -> Result<Grid<'a>, Box<Fault>> {
    let kernel = launch.kernel;
    let threads = volume(launch.block)
        .filter(|&t| t <= 1024)
        .ok_or_else(|| refused(launch, "a block has 1 to 1024 threads"))?;
    volume(launch.grid).ok_or_else(|| refused(launch, "the grid is empty or too large"))?;
    let cluster_blocks = volume(launch.cluster)
        .filter(|&b| b <= 64)
        .ok_or_else(|| refused(launch, "a cluster has 1 to 64 blocks"))?;
    if (0..3).any(|axis| !launch.grid[axis].is_multiple_of(launch.cluster[axis])) {
        return Err(refused(launch, "the grid is no multiple of the cluster"));
    }
    let needed = kernel.parameter_bytes();
    if (launch.params.len() as u64) < u64::from(needed) {
        let given = launch.params.len();
        return Err(refused(
            launch,
            format!("the kernel has {needed} bytes of parameters, the launch {given}"),
        ));
    }
    let shared = u64::from(kernel.dynamic_shared_base) + u64::from(launch.dynamic_shared);
    let shared_bytes = if launch.dynamic_shared == 0 {
        u64::from(kernel.static_end)
    } else {
        shared
    };
    if shared_bytes > 1 << 20 {
        return Err(refused(
            launch,
            format!("{shared_bytes} bytes of shared memory for a block"),
        ));
    }
    let shared_map = match environment.checks.bounds {
        true => {
            let dynamic = kernel.dynamic_shared_base..shared_bytes as u32;
            SharedMap::of_kernel(&kernel.program, kernel.entry, dynamic)
        }
        false => SharedMap::whole(shared_bytes as u32),
    };
    let [x, y, _] = launch.block;
    let warps = (threads as u32).div_ceil(32);
    let thread_indices = (0..warps)
        .map(|warp| {
            let mut lanes = [[0; 32]; 3];
            for lane in 0..32 {
                let linear = warp * 32 + lane;
                lanes[0][lane as usize] = linear % x;
                lanes[1][lane as usize] = linear / x % y;
                lanes[2][lane as usize] = linear / x / y;
            }
            lanes
        })
        .collect();
    Ok(Grid {
        program: &kernel.program,
        entry: kernel.entry,
        dynamic_base: kernel.dynamic_shared_base,
        grid: launch.grid,
        block: launch.block,
        cluster: launch.cluster,
        clusters: std::array::from_fn(|axis| launch.grid[axis] / launch.cluster[axis]),
        cluster_blocks: cluster_blocks as u32,
        threads: threads as u32,
        warps,
        dynamic_shared: launch.dynamic_shared,
        shared_bytes: shared_bytes as u32,
        shared_total: match launch.dynamic_shared {
            0 => kernel.static_shared,
            dynamic => kernel.packed_shared_base.saturating_add(dynamic),
        },
        shared_map,
        params: Aligned::copied(launch.params),
        memory: environment.memory,
        runtime: environment.runtime,
        checks: environment.checks,
        notes: Notes::new(environment.notes, &kernel.noted),
        observer: environment.observer,
        touches: environment.touches,
        thread_indices,
        local_limit: kernel
            .local_bytes
            .saturating_add(environment.stack_limit)
            .saturating_add(4096)
            .min(1 << 22),
        constants: kernel.constants,
        number: LAUNCHES.fetch_add(1, Ordering::Relaxed),
        seed: environment.seed,
        workspace: 0,
        progress: environment.order.map(|order| {
            let blocks = launch.grid.iter().map(|&axis| u64::from(axis)).product();
            Progress::new(order, blocks)
        }),
        uses: kernel.uses,
        surface_writes: SurfaceWrites::default(),
    })
}

/// What the workers of a grid share.
struct Pool<'a> {
    grid: &'a Grid<'a>,
    kernel: &'a Kernel,
    /// The next cluster to be started.
    next: AtomicU64,
    stop: AtomicBool,
    patience: Duration,
    cancel: Option<&'a AtomicBool>,
    fault: Mutex<Option<Box<Fault>>>,
    instructions: AtomicU64,
    /// Milliseconds after `start` when a thread last did something other than poll.
    progress: AtomicU64,
    start: Instant,
    workers: usize,
    cooperative: bool,
}

/// What the driver gives each cooperative launch: its size, and the word that is the grid's barrier. CUDA's cooperative groups and
/// our device library find it through `%envreg1` and `%envreg2`.
struct Workspace<'a> {
    address: u64,
    runtime: &'a dyn Runtime,
}

impl<'a> Workspace<'a> {
    const BYTES: u64 = 8;

    fn of(launch: &Launch, environment: &Environment<'a>) -> Result<Workspace<'a>, Box<Fault>> {
        let runtime = environment.runtime;
        if !launch.cooperative {
            return Ok(Workspace {
                address: 0,
                runtime,
            });
        }
        let address = runtime.malloc(Self::BYTES);
        if address == 0 {
            return Err(refused(
                launch,
                "no memory for the workspace of a cooperative launch",
            ));
        }
        // SAFETY: so many bytes were just allocated there, and only this thread knows.
        unsafe {
            std::ptr::with_exposed_provenance_mut::<[u32; 2]>(address as usize)
                .write([Self::BYTES as u32, 0])
        };
        Ok(Workspace { address, runtime })
    }
}

impl Drop for Workspace<'_> {
    fn drop(&mut self) {
        if self.address != 0 {
            self.runtime.free(self.address);
        }
    }
}

/// Runs a grid to its end, on the calling thread and helpers of its own.
pub fn run(launch: &Launch, environment: &Environment) -> Result<Statistics, Box<Fault>> {
    let mut grid = prepare(launch, environment)?;
    let workspace = Workspace::of(launch, environment)?;
    grid.workspace = workspace.address;
    let total = grid.total();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = if grid.seed != 0 {
        // The order in which several workers go on would not be repeatable.
        1
    } else if environment.threads == 0 {
        cores
    } else {
        environment.threads
    };
    let workers = workers
        .min(usize::try_from(total).unwrap_or(usize::MAX))
        .max(1);
    let pool = Pool {
        grid: &grid,
        kernel: launch.kernel,
        next: AtomicU64::new(0),
        stop: AtomicBool::new(false),
        patience: environment.patience,
        cancel: environment.cancel,
        fault: Mutex::new(None),
        instructions: AtomicU64::new(0),
        progress: AtomicU64::new(0),
        start: Instant::now(),
        workers,
        cooperative: launch.cooperative,
    };
    let event = LaunchEvent {
        number: grid.number,
        kernel: &launch.kernel.name,
        grid: launch.grid,
        block: launch.block,
        cluster: launch.cluster,
    };
    if let Some(observer) = grid.observer {
        observer.launch(&event);
    }
    std::thread::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(|| pool.work());
        }
        pool.work();
    });
    let fault = pool
        .fault
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let outcome = match fault {
        Some(fault) => Err(fault),
        None => Ok(Statistics {
            warp_instructions: pool.instructions.into_inner(),
        }),
    };
    if let Some(observer) = grid.observer {
        observer.finished(&event, outcome.as_ref().copied().map_err(|fault| &**fault));
    }
    outcome
}

/// Clusters a worker has at most, unless the grid is cooperative.
const MAX_RESIDENT: usize = 64;

/// How a cluster goes on after its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Done,
    /// Some warps go on; true if all that run are spinning.
    Running(bool),
    Stopped,
}

/// Stops the other workers when this one panics: they may wait for its clusters.
struct StopOnPanic<'a>(&'a AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

impl<'a> Pool<'a> {
    fn work(&self) {
        let _stop = StopOnPanic(&self.stop);
        let mut resident: Vec<Resident<'a>> = Vec::new();
        // Finished clusters are started again with another number, which spares their memory.
        let mut idle: Vec<Resident<'a>> = Vec::new();
        let total = self.grid.total();
        let mut wanted = 1;
        if self.cooperative {
            wanted = usize::try_from(total.div_ceil(self.workers as u64)).unwrap_or(usize::MAX);
        }
        loop {
            while resident.len() < wanted {
                let number = self.next.fetch_add(1, Ordering::Relaxed);
                if number >= total {
                    break;
                }
                let number = self.grid.shuffled(number);
                let mut cluster = idle.pop().unwrap_or_else(|| Resident::new(self.grid));
                cluster.start(number);
                resident.push(cluster);
            }
            if resident.is_empty() {
                break;
            }
            let mut spinning = true;
            let mut index = 0;
            while index < resident.len() {
                if self.stop.load(Ordering::Relaxed) {
                    return;
                }
                match self.turn(&mut resident[index]) {
                    Outcome::Stopped => return,
                    Outcome::Running(spins) => {
                        spinning &= spins;
                        index += 1;
                    }
                    Outcome::Done => {
                        spinning = false;
                        idle.push(resident.swap_remove(index));
                    }
                }
            }
            let now = self.start.elapsed().as_millis() as u64;
            if !spinning {
                self.progress.store(now, Ordering::Relaxed);
            } else if self.grid.checks.barriers
                && u128::from(now.saturating_sub(self.progress.load(Ordering::Relaxed)))
                    > self.patience.as_millis()
                && let Some(cluster) = resident.first_mut()
            {
                self.report(report::deadlock(self.grid, self.kernel, cluster));
                return;
            }
            if spinning && !resident.is_empty() {
                if !self.cooperative && resident.len() < MAX_RESIDENT {
                    wanted = resident.len() + 1;
                }
                std::thread::yield_now();
            } else if !self.cooperative {
                wanted = wanted.max(1).min(resident.len().max(1));
            }
        }
    }

    /// Keeps the first fault, and stops everybody.
    fn report(&self, fault: Box<Fault>) {
        self.stop.store(true, Ordering::Relaxed);
        let mut first = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(fault);
    }

    fn turn(&self, resident: &mut Resident<'a>) -> Outcome {
        let mut executed = 0;
        let turn = resident.turn(&mut executed);
        self.instructions.fetch_add(executed, Ordering::Relaxed);
        let fault = match turn {
            Turn::Fault { warp } => {
                let fault = resident.warps[warp].fault.take();
                let fault = report::present(self.grid, self.kernel, resident, warp, fault);
                Some(self.first_of(resident, fault))
            }
            Turn::Stuck => {
                let fault = report::deadlock(self.grid, self.kernel, resident);
                Some(self.first_of(resident, fault))
            }
            Turn::Done => self.held_back(resident, true),
            Turn::Running { .. } => self.held_back(resident, false),
        };
        if let Some(fault) = fault {
            self.report(fault);
            return Outcome::Stopped;
        }
        if turn == Turn::Done {
            return Outcome::Done;
        }
        if let Some(cancel) = self.cancel
            && cancel.load(Ordering::Relaxed)
        {
            let fault = RawFault {
                kind: FaultKind::Cancelled,
                lane: 0,
                message: "the launch was cancelled".into(),
                details: FaultDetails::default(),
                issuer: None,
            };
            let warp = resident.warps.iter().position(|w| w.live != 0).unwrap_or(0);
            let fault = Some(Box::new(fault));
            self.report(report::present(
                self.grid,
                self.kernel,
                resident,
                warp,
                fault,
            ));
            return Outcome::Stopped;
        }
        Outcome::Running(turn == Turn::Running { spinning: true })
    }

    /// What is reported where a fault comes while a finding is held back: the finding if a barrier has confirmed it before the fault;
    /// else the fault, which names the finding. A race is what findings are held back for.
    fn first_of(&self, resident: &mut Resident<'_>, mut fault: Box<Fault>) -> Box<Fault> {
        if fault.kind == FaultKind::Race {
            return fault;
        }
        if let Some(confirmed) = self.held_back(resident, false) {
            return confirmed;
        }
        if let Some(earlier) = self.held_back(resident, true) {
            fault.notes.push(report::earlier(&earlier));
        }
        fault
    }

    /// A read of uninitialised shared memory that the checker has held back, if it is time.
    fn held_back(&self, resident: &mut Resident<'_>, ended: bool) -> Option<Box<Fault>> {
        let finding = resident.cluster.checker.as_mut()?.overdue(ended)?;
        Some(finding::fault(
            &resident.cluster,
            &self.kernel.name,
            &finding,
        ))
    }
}
