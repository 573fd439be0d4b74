// output := inclusive sum of input (wrapping). Twin of kernels/src/scan.rs: one pass with decoupled look-back.
// A tile is 8192 elements: eight 16-byte vectors a thread, one warp scan a vector, one warp looks back.
// state[tile] packs a status (high half: 0 nothing, 1 sum of the tile, 2 sum up to the tile) and its value.
__device__ __forceinline__ unsigned long long read(const unsigned long long* word) {
    unsigned long long value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
    return value;
}
__device__ __forceinline__ void publish(unsigned long long* word, unsigned status, unsigned sum) {
    const unsigned long long value = static_cast<unsigned long long>(status) << 32 | sum;
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
}
__device__ __forceinline__ unsigned warp_scan(unsigned value, unsigned lane) {
#pragma unroll
    for (unsigned offset = 1; offset < 32; offset <<= 1) {
        const unsigned other = __shfl_up_sync(0xffffffffu, value, offset);
        if (lane >= offset) value += other;
    }
    return value;
}

extern "C" __global__ void __launch_bounds__(256)
scan(const unsigned* __restrict__ input, size_t n, unsigned* __restrict__ output, size_t,
     unsigned long long* state, size_t, unsigned* ticket, size_t) {
    __shared__ unsigned totals[64];
    __shared__ unsigned shared_tile;
    const unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5;
    if (t == 0) shared_tile = atomicAdd(ticket, 1u);
    __syncthreads();
    const unsigned tile = shared_tile;
    const size_t base = static_cast<size_t>(tile) * 8192;
    const bool full = base + 8192 <= n;
    uint4 v[8];
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) {
        const size_t i = base + k * 1024 + t * 4;
        if (full) {
            v[k] = *reinterpret_cast<const uint4*>(input + i);
        } else {
            v[k].x = i < n ? input[i] : 0;
            v[k].y = i + 1 < n ? input[i + 1] : 0;
            v[k].z = i + 2 < n ? input[i + 2] : 0;
            v[k].w = i + 3 < n ? input[i + 3] : 0;
        }
    }
    unsigned before[8];
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) {
        v[k].y += v[k].x;
        v[k].z += v[k].y;
        v[k].w += v[k].z;
        const unsigned through = warp_scan(v[k].w, lane);
        before[k] = through - v[k].w;
        if (lane == 31) totals[k * 8 + warp] = through;
    }
    __syncthreads();
    if (warp == 0) {
        const unsigned first = totals[2 * lane], second = totals[2 * lane + 1];
        const unsigned through = warp_scan(first + second, lane);
        const unsigned sum = __shfl_sync(0xffffffffu, through, 31);
        unsigned prefix = 0;
        if (tile == 0) {
            if (lane == 0) publish(&state[0], 2, sum);
        } else {
            if (lane == 0) publish(&state[tile], 1, sum);
            // Lane l reads the state of the l-th tile before `nearest`, nearest first.
            unsigned nearest = tile;
            for (;;) {
                unsigned long long word = 2ull << 32;
                if (nearest > lane) {
                    do word = read(&state[nearest - 1 - lane]);
                    while (word >> 32 == 0);
                }
                const unsigned done = __ballot_sync(0xffffffffu, word >> 32 == 2);
                const unsigned stop = done ? __ffs(done) - 1 : 31;
                prefix += __reduce_add_sync(0xffffffffu, lane <= stop ? static_cast<unsigned>(word) : 0u);
                if (done) break;
                nearest -= 32;
            }
            if (lane == 0) publish(&state[tile], 2, prefix + sum);
        }
        const unsigned before_second = prefix + through - second;
        totals[2 * lane] = before_second - first;
        totals[2 * lane + 1] = before_second;
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) {
        const unsigned add = totals[k * 8 + warp] + before[k];
        const uint4 r = make_uint4(v[k].x + add, v[k].y + add, v[k].z + add, v[k].w + add);
        const size_t i = base + k * 1024 + t * 4;
        if (full) {
            *reinterpret_cast<uint4*>(output + i) = r;
        } else {
            if (i < n) output[i] = r.x;
            if (i + 1 < n) output[i + 1] = r.y;
            if (i + 2 < n) output[i + 2] = r.z;
            if (i + 3 < n) output[i + 3] = r.w;
        }
    }
}
