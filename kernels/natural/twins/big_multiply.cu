// The product of each pair of integers of 256 bits.
struct Factor {
    unsigned long long words[4];
};

struct Product {
    unsigned long long words[8];
};

extern "C" __global__ void big_multiply(const Factor* __restrict__ a, size_t a_len, const Factor* __restrict__ b, size_t b_len,
                                        Product* __restrict__ products, size_t n) {
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= n) return;
    const Factor first = a[index], second = b[index];
    Product product = {};
    for (int i = 0; i < 4; i++) {
        unsigned long long carry = 0;
        for (int j = 0; j < 4; j++) {
            const unsigned __int128 sum = (unsigned __int128)first.words[i] * second.words[j] + product.words[i + j] + carry;
            product.words[i + j] = (unsigned long long)sum;
            carry = (unsigned long long)(sum >> 64);
        }
        product.words[i + 4] = carry;
    }
    products[index] = product;
}
