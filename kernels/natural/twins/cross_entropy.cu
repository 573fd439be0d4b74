// losses = how unlikely each row's logits make its label, a warp a row; a row without a label (ignored) has the loss 0.
struct Partial {
    float max, sum;
};

static __device__ Partial join(Partial a, Partial b) {
    const float max = fmaxf(a.max, b.max);
    return {max, a.sum * __expf(a.max - max) + b.sum * __expf(b.max - max)};
}

extern "C" __global__ void cross_entropy(const float* __restrict__ logits, unsigned rows, unsigned columns, unsigned stride,
                                         const unsigned* __restrict__ labels, size_t labels_len, unsigned ignored,
                                         float* __restrict__ losses, size_t n) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (row >= n) return;
    const unsigned label = labels[row];
    const float* own = logits + (size_t)row * stride;
    Partial total = {-1e30f, 0.0f};
    for (int i = lane; i < columns; i += 32) total = join(total, {own[i], 1.0f});
    for (int offset = 16; offset > 0; offset /= 2) {
        const Partial other = {__shfl_xor_sync(0xffffffff, total.max, offset), __shfl_xor_sync(0xffffffff, total.sum, offset)};
        total = join(total, other);
    }
    if (lane == 0) losses[row] = label == ignored ? 0.0f : total.max + __logf(total.sum) - own[label];
}
