// Adds to counts how many of the times (seconds from 1 January 1970) from first_year on lie in each month, on each weekday.
static __device__ long long floor_div(long long a, int b) { return a / b - (a % b < 0); }
static __device__ int floor_div(int a, int b) { return a / b - (a % b < 0); }

extern "C" __global__ void __launch_bounds__(256) date_histogram(const long long* __restrict__ times, size_t n, int first_year,
                                                                 unsigned* counts, size_t counts_len) {
    __shared__ unsigned local[84];
    for (int i = threadIdx.x; i < 84; i += blockDim.x) local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const int days = floor_div(times[i], 86400);
        const int shifted_days = days + 719468;
        const int era = floor_div(shifted_days, 146097);
        const unsigned of_era = shifted_days - era * 146097;
        const unsigned year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
        const unsigned of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        const unsigned shifted = (5 * of_year + 2) / 153;
        const unsigned month = shifted < 10 ? shifted + 3 : shifted - 9;
        const int year = (int)year_of_era + era * 400 + (month <= 2);
        const int weekday = days + 4 - floor_div(days + 4, 7) * 7;
        if (year >= first_year) atomicAdd(&local[(month - 1) * 7 + weekday], 1);
    }
    __syncthreads();
    if (threadIdx.x < 84) atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}
