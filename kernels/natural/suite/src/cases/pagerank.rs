//! A step of PageRank.

use super::prelude::*;
use crate::problem::Sparse;

case!(pagerank: "a step of PageRank", "pages", simulator [200, 1], gpu 1 << 20);

const DAMPING: f32 = 0.85;

fn prepare(session: &Session, pages: usize) -> Result<Box<dyn Problem>> {
    let links = Sparse::draw(1, pages, 16);
    let ranks: Vec<f32> = draw::<f32>(3, pages).iter().map(|x| x.abs()).collect();
    let degrees: Vec<u32> = below(4, pages, 20).iter().map(|d| d + 1).collect();
    let step = |page: usize| {
        let share = |at: usize| {
            let source = links.places[at] as usize;
            f64::from(ranks[source]) / f64::from(degrees[source])
        };
        let sum: f64 = links.row(page).map(share).sum();
        (1.0 - f64::from(DAMPING)) / pages as f64 + f64::from(DAMPING) * sum
    };
    let want = (0..pages).map(step).collect();
    let kernel = session.pair(kernels::pagerank::pagerank, "pagerank")?;
    let starts = session.stream.upload(&links.starts)?;
    let sources = session.stream.upload(&links.places)?;
    let (ranks, degrees) = (
        session.stream.upload(&ranks)?,
        session.stream.upload(&degrees)?,
    );
    problem(
        session,
        format!("{pages} pages, {} links", sources.len()),
        &vec![f32::NAN; pages],
        move |session, side, new| {
            let grid = Grid::cover(pages, 256);
            let arguments = (&starts, &sources, &ranks, &degrees, DAMPING, new);
            launch_pair!(session, side, kernel, grid, arguments);
            Ok(())
        },
        nearly(want, 1e-5),
    )
}
