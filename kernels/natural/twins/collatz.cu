// The steps of Collatz's sequence from each number on.
extern "C" __global__ void collatz(unsigned long long first, unsigned* __restrict__ steps, size_t length) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= length) return;
    unsigned long long n = first + i;
    unsigned count = 0;
    while (n != 1) {
        n = n % 2 == 0 ? n / 2 : 3 * n + 1;
        count++;
    }
    steps[i] = count;
}
