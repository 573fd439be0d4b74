// Filters each channel by its own three stages and keeps its last output and the largest size of all outputs; a thread a channel.
struct Stage {
    float b[3], a[2];
};

struct Filter {
    Stage stages[3];
};

extern "C" __global__ void biquad(const float* __restrict__ samples, unsigned rows, unsigned columns, unsigned stride,
                                  const Filter* __restrict__ filters, size_t filters_len, float2* __restrict__ out, size_t n) {
    const int channel = blockIdx.x * blockDim.x + threadIdx.x;
    if (channel >= n) return;
    const Filter filter = filters[channel];
    float first[3] = {}, second[3] = {};
    float last = 0.0f, peak = 0.0f;
    for (int time = 0; time < rows; time++) {
        float x = samples[(size_t)time * stride + channel];
        for (int i = 0; i < 3; i++) {
            const Stage& stage = filter.stages[i];
            const float y = stage.b[0] * x + first[i];
            first[i] = stage.b[1] * x - stage.a[0] * y + second[i];
            second[i] = stage.b[2] * x - stage.a[1] * y;
            x = y;
        }
        last = x;
        peak = fmaxf(peak, fabsf(x));
    }
    out[channel] = make_float2(last, peak);
}
