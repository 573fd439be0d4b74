//! The loss of a classifier, a warp a row.

use warpsmith_device::prelude::*;

/// A maximum, and the sum of the exponentials of what lies below it.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Partial {
    max: f32,
    sum: f32,
}

impl Partial {
    fn join(self, other: Partial) -> Partial {
        let max = self.max.max(other.max);
        let sum =
            self.sum * (self.max - max).exp_approx() + other.sum * (other.max - max).exp_approx();
        Partial { max, sum }
    }
}

/// `losses` = how unlikely each row's logits make its label: the logarithm of the sum of their exponentials, less the label's logit. A row
/// without a label (`ignored`) has the loss 0.
#[kernel]
pub fn cross_entropy(
    logits: Matrix<f32>,
    labels: &[u32],
    ignored: u32,
    mut losses: PerWarp<[f32]>,
) {
    let row = losses.index();
    let Some(&label) = labels.get(row) else {
        return;
    };
    let logits = logits.row(row);
    let none = Partial {
        max: -1e30,
        sum: 0.0,
    };
    let own = logits
        .iter()
        .skip(warp::lane() as usize)
        .step_by(32)
        .map(|&x| Partial { max: x, sum: 1.0 })
        .fold(none, Partial::join);
    let total = warp::reduce(own, Partial::join);
    if let Some(loss) = losses.leader() {
        *loss = if label == ignored {
            0.0
        } else {
            total.max + total.sum.ln_approx() - logits[label as usize]
        };
    }
}
