//! `ldmatrix`, `stmatrix` and `movmatrix`: 8 x 8 matrices of halfwords between rows in memory (or fragments) and lanes.
//!
//! A fragment of such a matrix is one register: lane `l` holds elements `2t` and `2t + 1` of row `l / 4`, `t = l % 4`.

use super::Lanes;

/// Eight rows of eight halfwords.
pub type Tile = [[u16; 8]; 8];

/// The lane whose address operand points to row `row` of matrix number `matrix` (of `ldmatrix.x1/.x2/.x4`).
pub fn row_lane(matrix: usize, row: usize) -> usize {
    matrix * 8 + row
}

/// Where the two elements of a lane's register lie in the matrix, of which `transposed` gives the transpose: rows and
/// columns.
pub fn elements(lane: usize, transposed: bool) -> [(usize, usize); 2] {
    let (row, column) = (lane / 4, lane % 4 * 2);
    match transposed {
        true => [(column, row), (column + 1, row)],
        false => [(row, column), (row, column + 1)],
    }
}

/// The lane whose register holds an element of a matrix.
pub fn holder(row: usize, column: usize) -> usize {
    row * 4 + column / 2
}

/// The fragment of a matrix, with `transposed` of its transpose.
pub fn scatter(tile: &Tile, transposed: bool) -> Lanes {
    std::array::from_fn(|lane| {
        let [low, high] =
            elements(lane, transposed).map(|(row, column)| u32::from(tile[row][column]));
        low | high << 16
    })
}

/// The matrix of a fragment, with `transposed` its transpose: the inverse of [`scatter`].
pub fn gather(fragment: &Lanes, transposed: bool) -> Tile {
    let mut tile = Tile::default();
    for (lane, &word) in fragment.iter().enumerate() {
        let [low, high] = elements(lane, transposed);
        tile[low.0][low.1] = word as u16;
        tile[high.0][high.1] = (word >> 16) as u16;
    }
    tile
}

/// `movmatrix.trans`: the fragment of the transpose.
pub fn transpose(fragment: &Lanes) -> Lanes {
    scatter(&gather(fragment, false), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_inverse_and_transposes_transpose() {
        let tile: Tile =
            std::array::from_fn(|row| std::array::from_fn(|column| (row * 16 + column) as u16));
        assert_eq!(scatter(&tile, false)[5], 0x0013_0012);
        assert_eq!(scatter(&tile, true)[5], 0x0031_0021);
        for transposed in [false, true] {
            assert_eq!(gather(&scatter(&tile, transposed), transposed), tile);
        }
        assert_eq!(transpose(&scatter(&tile, false)), scatter(&tile, true));
        assert_eq!(
            transpose(&transpose(&scatter(&tile, false))),
            scatter(&tile, false)
        );
        assert_eq!(row_lane(3, 2), 26);
    }
}
