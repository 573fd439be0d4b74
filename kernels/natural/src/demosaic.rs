//! The colours of a picture that a camera took through Bayer's mosaic of filters.

use warpsmith_device::prelude::*;

/// What a pixel's filter lets through.
enum Filter {
    Red,
    GreenBesideRed,
    GreenBesideBlue,
    Blue,
}

impl Filter {
    fn at(row: usize, column: usize) -> Filter {
        match (row % 2, column % 2) {
            (0, 0) => Filter::Red,
            (0, _) => Filter::GreenBesideRed,
            (_, 0) => Filter::GreenBesideBlue,
            _ => Filter::Blue,
        }
    }
}

/// `out` = red, green and blue of each pixel: what it lacks is the mean of its neighbours that have it. Beyond the border the picture goes on
/// as at the border.
#[kernel]
pub fn demosaic(raw: Matrix<u8>, mut out: MatrixOut<[u8; 3]>) {
    let (row, column) = (out.row(), out.column());
    if let Some(pixel) = out.mine() {
        let near = |place: usize, length: usize| {
            [place.saturating_sub(1), place, (place + 1).min(length - 1)]
        };
        let columns = near(column, raw.columns());
        let around =
            near(row, raw.rows()).map(|row| columns.map(|column| u32::from(raw[(row, column)])));
        *pixel = colours(Filter::at(row, column), around).map(|value| value as u8);
    }
}

/// Red, green and blue of the pixel in the middle.
fn colours(filter: Filter, [above, beside, below]: [[u32; 3]; 3]) -> [u32; 3] {
    let own = beside[1];
    let across = (beside[0] + beside[2]) / 2;
    let along = (above[1] + below[1]) / 2;
    let cross = (beside[0] + beside[2] + above[1] + below[1]) / 4;
    let corners = (above[0] + above[2] + below[0] + below[2]) / 4;
    match filter {
        Filter::Red => [own, cross, corners],
        Filter::GreenBesideRed => [across, own, along],
        Filter::GreenBesideBlue => [along, own, across],
        Filter::Blue => [corners, cross, own],
    }
}
