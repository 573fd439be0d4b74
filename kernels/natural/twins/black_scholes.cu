// Call and put price of each option.
static __device__ float normal(float d) {
    const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    const float polynomial = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    const float tail = 0.3989423f * __expf(-0.5f * d * d) * polynomial;
    return d > 0.0f ? 1.0f - tail : tail;
}

extern "C" __global__ void black_scholes(const float* __restrict__ prices, size_t prices_len, const float* __restrict__ strikes,
                                         size_t strikes_len, const float* __restrict__ years, size_t years_len, float rate,
                                         float volatility, float (*__restrict__ out)[2], size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float price = prices[i], strike = strikes[i], time = years[i];
    const float root = sqrtf(time);
    const float d1 = (__logf(price / strike) + (rate + 0.5f * volatility * volatility) * time) / (volatility * root);
    const float d2 = d1 - volatility * root;
    const float n1 = normal(d1), n2 = normal(d2);
    const float discounted = strike * __expf(-rate * time);
    out[i][0] = price * n1 - discounted * n2;
    out[i][1] = discounted * (1.0f - n2) - price * (1.0f - n1);
}
