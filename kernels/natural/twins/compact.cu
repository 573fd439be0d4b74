// Writes the elements above limit one after another; those of block b begin at starts[b].
extern "C" __global__ void __launch_bounds__(256) compact(const float* __restrict__ x, size_t n, float limit,
                                                          const unsigned* __restrict__ starts, size_t blocks,
                                                          float* __restrict__ out, size_t out_len) {
    __shared__ unsigned counts[8];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float own = i < n ? x[i] : -INFINITY;
    const bool is_kept = own > limit;
    const unsigned votes = __ballot_sync(0xffffffff, is_kept);
    if (lane == 0) counts[warp] = __popc(votes);
    __syncthreads();
    unsigned place = starts[blockIdx.x];
    for (int w = 0; w < warp; w++) place += counts[w];
    if (is_kept) out[place + __popc(votes & ((1u << lane) - 1))] = own;
}
