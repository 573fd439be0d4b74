//! PTX that is damaged or made at random: loading and running it gives a result, an error or a fault, whatever it is. It never
//! crashes, hangs, panics, or uses memory without bound.

mod corpus;
mod execution;
mod mutation;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use warpsmith_isa::sample::{self, Sample};
use warpsmith_isa::{PtxVersion, Target};
use warpsmith_testkit::Random;

use crate::choose::Choose;
use crate::isolated::Limits;
use crate::kind::Kind;
use crate::report::Report;
use execution::{Device, Tried};

/// Damaged and random PTX.
pub const PTX: Kind = Kind {
    name: "ptx",
    summary: "damaged and random PTX, which must do no harm to the process",
    usual: Duration::from_secs(20),
    limits: Limits {
        processor: Duration::from_secs(30),
        time: Duration::from_secs(300),
        memory: 3 << 30,
    },
    environment: &[
        ("WARPSMITH_REPORT", "0"),
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_PATIENCE", "1"),
        ("WARPSMITH_SIMULATOR_THREADS", "2"),
    ],
    reducible: true,
    round,
    replay,
};

/// Modules of a round.
const MODULES: usize = 250;

/// What a case begins with; the number is what its launches are drawn from.
const HEAD: &str = "// launches ";

fn round(seed: u64, report: &mut Report) -> Result<()> {
    let mut random = Random::new(seed);
    let corpus = corpus::texts()?;
    let dictionary = mutation::Dictionary::new(&corpus);
    let samples = sample::all();
    // Without checks other code runs.
    let checks = if random.percent(70) { "all" } else { "none" };
    let mut device = Device::new(checks)?;
    let (mut loaded, mut launched) = (0, 0);
    for number in 0..MODULES {
        let text = if random.percent(25) {
            generated(&mut random, &samples).into_bytes()
        } else {
            let text = random.one_of(&corpus).as_bytes().to_vec();
            mutation::mutate(&mut random, text, &dictionary)
        };
        let mut case = format!("{HEAD}{:x}\n", random.bits()).into_bytes();
        case.extend(text);
        let file = report.write(&number.to_string(), "ptx", &case)?;
        report.trying(&file);
        let Tried { kernels, harm } = try_case(&mut device, &case)?;
        loaded += u64::from(kernels.is_some());
        launched += kernels.unwrap_or(0);
        match harm {
            Some(why) => report.found(&file, &why),
            None => report.dismiss(&file)?,
        }
    }
    report.count("modules", MODULES as u64);
    report.count("of them loaded", loaded);
    report.count("kernels launched", launched);
    Ok(())
}

fn replay(files: &[PathBuf], report: &mut Report) -> Result<()> {
    let mut device = Device::new("all")?;
    for file in files {
        let case =
            std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        report.trying(file);
        if let Some(why) = try_case(&mut device, &case)?.harm {
            report.found(file, &why);
        }
    }
    report.count("cases", files.len() as u64);
    Ok(())
}

fn try_case(device: &mut Device, case: &[u8]) -> Result<Tried> {
    let line = case.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let seed = line.strip_prefix(HEAD);
    let seed = seed.and_then(|seed| u64::from_str_radix(seed.trim(), 16).ok());
    let seed = seed.with_context(|| format!("a case begins with `{HEAD}NUMBER`"))?;
    device.try_module(case, &mut Random::new(seed))
}

/// A kernel of random instructions: examples of the forms in the instruction tables.
fn generated(random: &mut Random, samples: &[Sample]) -> String {
    let target = random.one_of(&["sm_70", "sm_80", "sm_90", "sm_90a"]);
    let target = Target::parse(target).expect("these are targets");
    let version = PtxVersion::new(8, 5);
    // Registers that are addresses of something, and numbers.
    let mut statements = vec![
        "ld.param.u64 %d1, [p]; add.u64 %d2, %d1, 64; mov.u64 %d3, 3; mov.u64 %d4, %d1;".to_owned(),
        "mov.u32 %r1, %tid.x; mov.u32 %r2, 7; mov.u32 %r3, %laneid; mov.f32 %f1, 0f3fc00000;"
            .to_owned(),
        "setp.lt.u32 %p1, %r1, 5; setp.ne.u32 %p2, %r2, %r2; mov.f64 %df1, 0d4000000000000000;"
            .to_owned(),
    ];
    for _ in 0..random.within(1..25) {
        let sample = random.one_of(samples);
        if random.percent(97) && !sample.is_allowed(version, target) {
            continue;
        }
        let guard = *random.one_of(&["", "", "", "@%p1 ", "@!%p2 "]);
        statements.push(format!("{guard}{}", sample.text));
    }
    statements.push("ret;".into());
    let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
    sample::module(version, target, &statements).0
}
