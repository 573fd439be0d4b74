use warpsmith_device::grid;

fn main() {
    let arrival = grid::arrive();
    arrival.wait();
    arrival.wait();
}
