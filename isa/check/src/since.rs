//! Since when ptxas knows each form and alternative.

use warpsmith_isa::sample::{Example, Origin, Sample};
use warpsmith_isa::{PtxVersion, Target};

use super::cells::{BEST, TARGETS, VERSIONS};
use super::verdicts::Verdicts;

/// Since when ptxas takes each sample: a line each, with tabs.
pub fn print(samples: &[Sample], verdicts: &Verdicts) {
    for (index, sample) in samples.iter().enumerate() {
        let targets: Vec<&str> = TARGETS
            .iter()
            .copied()
            .filter(|name| {
                Target::parse(name)
                    .is_some_and(|target| verdicts.accepts(index, (PtxVersion::NEWEST, target)))
            })
            .collect();
        let version = VERSIONS.iter().find(|&&(major, minor)| {
            BEST.iter().any(|name| {
                Target::parse(name).is_some_and(|target| {
                    verdicts.accepts(index, (PtxVersion::new(major, minor), target))
                })
            })
        });
        let (what, syntax) = match &sample.origin {
            Origin::Form {
                found,
                family,
                example,
            } => {
                let example = match example {
                    Example::Form => "form".to_owned(),
                    Example::Alternative(slot, word) => format!("slot {slot} {word}"),
                    Example::Operand(name) => format!("operand {name}"),
                };
                (format!("{family}\t{example}"), found.form.syntax)
            }
            Origin::Special(name) => ("special\tform".to_owned(), name.as_str()),
        };
        let version = version.map_or("never".to_owned(), |(major, minor)| {
            format!("{major}.{minor}")
        });
        let why = verdicts
            .cells
            .iter()
            .find_map(|((version, target), refusals)| {
                (*version == PtxVersion::NEWEST && target.to_string() == "sm_90a")
                    .then(|| refusals.get(&index))?
            });
        println!(
            "{what}\t{version}\t{}\t{syntax}\t{}\t{}",
            targets.join(","),
            sample.text,
            why.map_or(String::new(), |w| w.join("; "))
        );
    }
}
