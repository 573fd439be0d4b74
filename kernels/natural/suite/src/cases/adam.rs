//! A step of the optimiser Adam.

use super::prelude::*;
use half::bf16;
use kernels::adam::Adam;
use warpsmith_suite::case::Work;
use warpsmith_suite::check::Verified;
use warpsmith_suite::session::{Implementation, Pair};

case!(adam: "a step of Adam, parameters of bf16, moments of f32", "parameters", simulator [1000, 1], gpu 1 << 24);

const ADAM: Adam = Adam {
    rate: 0.125,
    beta1: 0.9,
    beta2: 0.99,
    epsilon: 1e-8,
    decay: 0.01,
    correction1: 0.271,
    correction2: 0.029701,
};

/// Parameters and moments.
struct State {
    parameters: DeviceBuffer<bf16>,
    means: DeviceBuffer<f32>,
    squares: DeviceBuffer<f32>,
}

impl State {
    fn upload(session: &Session, parameters: &[bf16], moments: &[[f32; 2]]) -> Result<State> {
        let moment = |i: usize| moments.iter().map(|both| both[i]).collect::<Vec<_>>();
        Ok(State {
            parameters: session.stream.upload(parameters)?,
            means: session.stream.upload(&moment(0))?,
            squares: session.stream.upload(&moment(1))?,
        })
    }
}

struct Step {
    kernel: Pair<kernels::adam::adam>,
    gradients: DeviceBuffer<bf16>,
    start: State,
    now: State,
    want: Vec<[f64; 3]>,
}

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let halves = |seed| -> Vec<bf16> {
        let values = draw::<f32>(seed, n).into_iter();
        values.map(bf16::from_f32).collect()
    };
    let (parameters, gradients) = (halves(1), halves(2));
    let moments: Vec<[f32; 2]> = draw::<f32>(3, 2 * n)
        .as_chunks()
        .0
        .iter()
        .map(|[mean, square]| [0.25 * mean, 0.25 * square.abs()])
        .collect();
    let want = parameters
        .iter()
        .zip(&gradients)
        .zip(&moments)
        .map(|((parameter, gradient), moments)| {
            stepped(
                parameter.to_f64(),
                gradient.to_f64(),
                moments.map(f64::from),
            )
        })
        .collect();
    Ok(Box::new(Step {
        kernel: session.pair(kernels::adam::adam, "adam")?,
        gradients: session.stream.upload(&gradients)?,
        start: State::upload(session, &parameters, &moments)?,
        now: State::upload(session, &parameters, &moments)?,
        want,
    }))
}

/// The new parameter, and the moments.
fn stepped(parameter: f64, gradient: f64, [mean, square]: [f64; 2]) -> [f64; 3] {
    let [rate, beta1, beta2, decay] =
        [ADAM.rate, ADAM.beta1, ADAM.beta2, ADAM.decay].map(f64::from);
    let mean = beta1 * mean + (1.0 - beta1) * gradient;
    let square = beta2 * square + (1.0 - beta2) * gradient * gradient;
    let root = (square / f64::from(ADAM.correction2)).sqrt() + f64::from(ADAM.epsilon);
    let change = mean / f64::from(ADAM.correction1) / root + decay * parameter;
    [parameter - rate * change, mean, square]
}

impl Problem for Step {
    fn shape(&self) -> String {
        format!("{} parameters", self.want.len())
    }

    fn work(&self) -> Work {
        Work::copy(22 * self.want.len())
    }

    fn refresh(&mut self, session: &Session, _seed: u64) -> Result<()> {
        let (start, now) = (&self.start, &mut self.now);
        session
            .stream
            .copy(&start.parameters, &mut now.parameters)?;
        session.stream.copy(&start.means, &mut now.means)?;
        Ok(session.stream.copy(&start.squares, &mut now.squares)?)
    }

    fn launch(&mut self, session: &Session, side: Implementation) -> Result<()> {
        let grid = Grid::cover(self.want.len(), 256);
        let State {
            parameters,
            means,
            squares,
        } = &mut self.now;
        let arguments = (ADAM, &self.gradients, means, squares, parameters);
        launch_pair!(session, side, self.kernel, grid, arguments);
        Ok(())
    }

    fn verify(&mut self, session: &Session) -> Result<Result<Verified, String>> {
        let parameters = session.stream.download(&self.now.parameters)?;
        let means = session.stream.download(&self.now.means)?;
        let squares = session.stream.download(&self.now.squares)?;
        let of = |i: usize| self.want.iter().map(|all| all[i]).collect();
        let check = || {
            // A parameter has eight bits, the last of them rounded.
            let parameters = nearly(of(0), 1.0 / 250.0)(&parameters)?;
            let means = nearly(of(1), 1e-6)(&means)?;
            Ok(parameters.and(means).and(nearly(of(2), 1e-6)(&squares)?))
        };
        Ok(check().map_err(|wrong: warpsmith_suite::check::Mismatch| wrong.to_string()))
    }
}
