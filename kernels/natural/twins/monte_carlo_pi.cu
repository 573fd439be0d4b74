// How many of points random points lie in the circle, for each thread's own sequence.
typedef unsigned long long u64;

static __device__ float unit(u64& state) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (unsigned)(state * 0x2545F4914F6CDD1Dull >> 40) / 16777216.0f;
}

extern "C" __global__ void monte_carlo_pi(u64 seed, unsigned points, unsigned* __restrict__ hits, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u64 state = (seed ^ i * 0x9E3779B97F4A7C15ull) | 1;
    unsigned count = 0;
    for (unsigned point = 0; point < points; point++) {
        const float x = unit(state);
        const float y = unit(state);
        if (x * x + y * y < 1.0f) count++;
    }
    hits[i] = count;
}
