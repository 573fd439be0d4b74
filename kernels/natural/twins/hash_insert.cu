// Puts each key into the table, into the first free place from its own on; a key that is there already stays alone.
extern "C" __global__ void hash_insert(const unsigned* __restrict__ keys, size_t n, unsigned* table, size_t length) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned size = length, key = keys[i];
    unsigned place = key * 0x9E3779B1u % size;
    while (true) {
        const unsigned other = atomicCAS(&table[place], 0xffffffff, key);
        if (other == 0xffffffff || other == key) break;
        place = (place + 1) % size;
    }
}
