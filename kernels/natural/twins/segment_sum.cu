// Adds to sums[key] the values of each key. Equal keys are neighbours mostly: the lanes of a warp add up first.
extern "C" __global__ void segment_sum(const unsigned* __restrict__ keys, size_t n, const float* __restrict__ values, size_t values_len,
                                       float* sums, size_t sums_len) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x % 32;
    const bool inside = i < n;
    const unsigned key = inside ? keys[i] : 0xffffffff;
    float sum = inside ? values[i] : 0.0f;
    for (int distance = 1; distance < 32; distance *= 2) {
        const unsigned other_key = __shfl_up_sync(0xffffffff, key, distance);
        const float other_sum = __shfl_up_sync(0xffffffff, sum, distance);
        if (lane >= distance && other_key == key) sum += other_sum;
    }
    const unsigned next = __shfl_down_sync(0xffffffff, key, 1);
    if (inside && (lane == 31 || next != key)) atomicAdd(&sums[key], sum);
}
