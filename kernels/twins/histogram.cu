// bins[v] += the number of bytes v. Twin of kernels/src/histogram.rs: one 256-bin histogram a warp in shared
// memory, 16 bytes a load, one global atomic a bin and block.
__device__ __forceinline__ void count(unsigned* mine, unsigned word) {
    atomicAdd(&mine[word & 255], 1u);
    atomicAdd(&mine[(word >> 8) & 255], 1u);
    atomicAdd(&mine[(word >> 16) & 255], 1u);
    atomicAdd(&mine[word >> 24], 1u);
}

extern "C" __global__ void __launch_bounds__(256)
histogram(const unsigned char* __restrict__ data, size_t n, unsigned* bins, size_t bins_len) {
    __shared__ unsigned shared[8 * 256];
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) shared[k * 256 + threadIdx.x] = 0;
    __syncthreads();
    unsigned* mine = shared + (threadIdx.x >> 5) * 256;
    const size_t vectors = n / 16;
    const uint4* words = reinterpret_cast<const uint4*>(data);
    const size_t step = static_cast<size_t>(gridDim.x) * 256;
    for (size_t i = static_cast<size_t>(blockIdx.x) * 256 + threadIdx.x; i < vectors; i += step) {
        const uint4 v = words[i];
        count(mine, v.x);
        count(mine, v.y);
        count(mine, v.z);
        count(mine, v.w);
    }
    const size_t tail = vectors * 16 + threadIdx.x;
    if (blockIdx.x == 0 && tail < n) atomicAdd(&mine[data[tail]], 1u);
    __syncthreads();
    unsigned total = 0;
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) total += shared[k * 256 + threadIdx.x];
    if (total != 0 && threadIdx.x < bins_len) atomicAdd(&bins[threadIdx.x], total);
}
