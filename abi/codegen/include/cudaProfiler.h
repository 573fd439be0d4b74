/* What cudaProfilerTypedefs.h wants of <cudaProfiler.h>, which the wheel lacks. Nothing calls the first function: its mode is a name. */
#pragma once
#include <cuda.h>
typedef int CUoutput_mode;
CUresult CUDAAPI cuProfilerInitialize(const char *configFile, const char *outputFile, CUoutput_mode outputMode);
CUresult CUDAAPI cuProfilerStart(void);
CUresult CUDAAPI cuProfilerStop(void);
