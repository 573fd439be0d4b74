// The value of each American put by a tree of prices, a block an option, a thread for each price that is possible at the end.
#define STEPS 255

struct Put {
    float price, strike, years;
};

extern "C" __global__ void __launch_bounds__(256) binomial(const Put* __restrict__ options, size_t options_len, float rate,
                                                           float volatility, float* __restrict__ values, size_t n) {
    __shared__ float tree[STEPS + 1];
    const int t = threadIdx.x;
    const Put option = options[blockIdx.x];

    const float dt = option.years / STEPS;
    const float move_up = volatility * sqrtf(dt);
    const float up = __expf(move_up), down = __expf(-move_up);
    const float chance = (__expf(rate * dt) - down) / (up - down);
    const float discount = __expf(-rate * dt);

    float price = option.price * __expf(move_up * (2 * t - STEPS));
    float value = fmaxf(option.strike - price, 0.0f);
    for (int step = STEPS - 1; step >= 0; step--) {
        __syncthreads();
        tree[t] = value;
        __syncthreads();
        if (t <= step) {
            price *= up;
            const float held = discount * (chance * tree[t + 1] + (1.0f - chance) * tree[t]);
            value = fmaxf(held, fmaxf(option.strike - price, 0.0f));
        }
    }
    if (t == 0 && blockIdx.x < n) values[blockIdx.x] = value;
}
