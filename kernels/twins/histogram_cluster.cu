// bins[min(v, last)] += the number of values v. Twin of kernels/src/histogram_cluster.rs: the bins of one
// histogram are spread over the shared memory of the blocks of a cluster (distributed shared memory).
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void __launch_bounds__(256)
histogram_cluster(const unsigned* __restrict__ data, size_t n, unsigned* bins, size_t bins_len, unsigned shift) {
    extern __shared__ unsigned mine[];
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned per_block = 1u << shift;
    for (unsigned i = threadIdx.x; i < per_block; i += 256) mine[i] = 0;
    cluster.sync();
    const unsigned last = static_cast<unsigned>(bins_len) - 1;
    const size_t vectors = n / 4;
    const uint4* words = reinterpret_cast<const uint4*>(data);
    const size_t step = static_cast<size_t>(gridDim.x) * 256;
    auto count = [&](unsigned value) {
        const unsigned bin = min(value, last);
        atomicAdd(cluster.map_shared_rank(mine, bin >> shift) + (bin & (per_block - 1)), 1u);
    };
    for (size_t i = static_cast<size_t>(blockIdx.x) * 256 + threadIdx.x; i < vectors; i += step) {
        const uint4 v = words[i];
        count(v.x);
        count(v.y);
        count(v.z);
        count(v.w);
    }
    const size_t tail = vectors * 4 + threadIdx.x;
    if (blockIdx.x == 0 && tail < n) count(data[tail]);
    cluster.sync();
    const unsigned base = cluster.block_rank() << shift;
    for (unsigned i = threadIdx.x; i < per_block; i += 256) {
        const unsigned total = mine[i];
        if (total != 0) atomicAdd(&bins[base + i], total);
    }
}
