//! How many points lie near each, by cells of a grid.

use warpsmith_device::prelude::*;

/// How many other points lie within `radius` of each. Points are sorted by their cells; those of cell `c` are from `starts[c]` to
/// `starts[c + 1]`. A cell is as wide as the radius, a row of the grid has `columns` cells.
#[kernel]
pub fn cell_neighbours(
    points: &[[i32; 2]],
    starts: &[u32],
    columns: usize,
    radius: i32,
    mut counts: PerThread<[u32]>,
) {
    let i = thread::index();
    if let Some(count) = counts.mine() {
        let [x, y] = points[i];
        let rows = (starts.len() - 1) / columns;
        let (column, row) = ((x / radius) as usize, (y / radius) as usize);
        let near = (row.saturating_sub(1)..=row + 1)
            .filter(|&row| row < rows)
            .flat_map(|row| {
                let cells = column.saturating_sub(1)..=column + 1;
                cells
                    .filter(|&column| column < columns)
                    .map(move |column| row * columns + column)
            })
            .flat_map(|cell| starts[cell] as usize..starts[cell + 1] as usize)
            .filter(|&other| {
                let (dx, dy) = (points[other][0] - x, points[other][1] - y);
                other != i && dx * dx + dy * dy <= radius * radius
            });
        *count = near.count() as u32;
    }
}
