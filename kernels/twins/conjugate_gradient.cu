// Solves a * x = b for a symmetric positive definite sparse matrix (CSR) in one cooperative grid. Twin of
// kernels/src/conjugate_gradient.rs: one row a thread, three grid barriers an iteration, sums in f64 and in a fixed
// order (one partial a block), so that every run gives the same bits.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

namespace {
// The sum over the block, valid in every thread.
__device__ __forceinline__ double block_sum(double value, double* slots) {
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1) value += __shfl_xor_sync(0xffffffffu, value, offset);
    __syncthreads();
    if ((threadIdx.x & 31) == 0) slots[threadIdx.x >> 5] = value;
    __syncthreads();
    double sum = 0.0;
#pragma unroll
    for (int w = 0; w < 8; ++w) sum += slots[w];
    return sum;
}
// The sum over the grid, valid in every thread; a grid barrier.
__device__ __forceinline__ double grid_sum(cg::grid_group& grid, double value, double* slots, double* partials) {
    const double mine = block_sum(value, slots);
    if (threadIdx.x == 0) partials[blockIdx.x] = mine;
    grid.sync();
    double part = 0.0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += 256) part += partials[i];
    return block_sum(part, slots);
}
}  // namespace

extern "C" __global__ void __launch_bounds__(256)
conjugate_gradient(const unsigned* __restrict__ starts, size_t starts_len, const unsigned* __restrict__ columns, size_t,
                   const float* __restrict__ values, size_t, const float* __restrict__ b, size_t,
                   float* x, float* r, float* p, float* ap, double* partials, double* report,
                   double tolerance, unsigned max_iterations) {
    __shared__ double slots[8];
    cg::grid_group grid = cg::this_grid();
    const unsigned n = static_cast<unsigned>(starts_len) - 1;
    const unsigned first = blockIdx.x * 256 + threadIdx.x, step = gridDim.x * 256;
    double part = 0.0;
    for (unsigned i = first; i < n; i += step) {
        const float bi = b[i];
        x[i] = 0.0f;
        r[i] = bi;
        p[i] = bi;
        part += static_cast<double>(bi) * bi;
    }
    double rr = grid_sum(grid, part, slots, partials + gridDim.x);
    const double goal = tolerance * tolerance * rr;
    unsigned iteration = 0;
    while (rr > goal && iteration < max_iterations) {
        part = 0.0;
        for (unsigned i = first; i < n; i += step) {
            float sum = 0.0f;
            for (unsigned k = starts[i]; k < starts[i + 1]; ++k) sum += values[k] * p[columns[k]];
            ap[i] = sum;
            part += static_cast<double>(p[i]) * sum;
        }
        const float alpha = static_cast<float>(rr / grid_sum(grid, part, slots, partials));
        part = 0.0;
        for (unsigned i = first; i < n; i += step) {
            x[i] += alpha * p[i];
            const float ri = r[i] - alpha * ap[i];
            r[i] = ri;
            part += static_cast<double>(ri) * ri;
        }
        const double next = grid_sum(grid, part, slots, partials + gridDim.x);
        const float beta = static_cast<float>(next / rr);
        rr = next;
        for (unsigned i = first; i < n; i += step) p[i] = r[i] + beta * p[i];
        ++iteration;
        grid.sync();
    }
    if (first == 0) {
        report[0] = iteration;
        report[1] = rr;
    }
}
