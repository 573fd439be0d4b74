#!/usr/bin/env bash
# Runs what the bundle holds on this machine's device.
#   ./run.sh test [FILTER]     every device test
#   ./run.sh run [OPTIONS]     every kernel once, each checked against its CPU oracle
#   ./run.sh bench [OPTIONS]   ours against the nvcc twins and the measured roofs
#   ./run.sh bench-natural [OPTIONS]  the natural kernels against plain CUDA C++; `--markdown FILE` writes the page of the book
#   ./run.sh bench-host        the host library beside plain calls of the driver, and of NCCL
#   ./run.sh example [NAME [ARGUMENTS]]  an example; without a name, which there are
#   ./run.sh record OUT [OPTIONS]  what the arithmetic answers, written below OUT
# WARPSMITH_DEVICE chooses the device; left out, `cuda` is meant: a bundle is made for a GPU.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export WARPSMITH_DEVICE=${WARPSMITH_DEVICE:-cuda}
export WARPSMITH_TWINS=${WARPSMITH_TWINS:-$here/twins}
export WARPSMITH_NVTX_TOOL=${WARPSMITH_NVTX_TOOL:-$here/libnvtx_tool.so}
what=${1:-}
[ $# -gt 0 ] && shift
case $what in
  test)
    failed=()
    passed=0
    for harness in "$here"/tests/*; do
      echo "== $(basename "$harness")"
      if "$harness" "$@"; then passed=$((passed + 1)); else failed+=("$(basename "$harness")"); fi
    done
    echo "$passed harnesses passed, ${#failed[@]} failed${failed:+: ${failed[*]}}"
    [ ${#failed[@]} -eq 0 ]
    ;;
  bench-host) "$here/cost" && exec "$here/call_cost" ;;
  example)
    [ $# -gt 0 ] || exec ls "$here/examples"
    name=$1
    shift
    exec "$here/examples/$name" "$@"
    ;;
  bench-natural) exec "$here/natural" bench "$@" ;;
  run | bench) exec "$here/suite" "$what" "$@" ;;
  record | compare) exec "$here/recorder" "$what" "$@" ;;
  *)
    sed -n '2,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
