/* A stand-in for libnvidia-ml.so.1, for machines without a GPU: one whole A100, one cut into MIG instances in its
   slots 1 and 2, and one H100 that has fallen off the bus. It has the real signatures, so that the real nvidia-ml-py
   runs against it. FAKE_NVML_INIT makes the start fail with that code. */
#include <stdlib.h>
#include <string.h>

enum { OK = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6, GPU_IS_LOST = 15 };
typedef struct { int number; const char *uuid; const char *name; unsigned long long memory; } gpu;
static gpu gpus[] = {
    {0, "GPU-aaaa0000-0000-0000-0000-000000000000", "NVIDIA A100-SXM4-80GB", 81920ULL << 20},
    {1, "GPU-bbbb1111-0000-0000-0000-000000000000", "NVIDIA A100-SXM4-80GB", 81920ULL << 20},
    {2, "GPU-cccc2222-0000-0000-0000-000000000000", "NVIDIA H100 PCIe", 81559ULL << 20},
    {3, "MIG-dddd3333-0000-0000-0000-000000000000", "NVIDIA A100-SXM4-80GB MIG 1g.10gb", 9728ULL << 20},
    {4, "MIG-eeee4444-0000-0000-0000-000000000000", "NVIDIA A100-SXM4-80GB MIG 3g.40gb", 40192ULL << 20},
};
int nvmlInitWithFlags(unsigned flags) {
    const char *code = getenv("FAKE_NVML_INIT");
    return flags == 0 && code ? atoi(code) : OK;
}
int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
int nvmlShutdown(void) { return OK; }
const char *nvmlErrorString(int code) { return code == GPU_IS_LOST ? "GPU is lost" : "Driver/library mismatch"; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 3; return OK; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, gpu **device) {
    *device = &gpus[index];
    return index == 2 ? GPU_IS_LOST : OK;
}
int nvmlDeviceGetName(gpu *device, char *text, unsigned size) { strncpy(text, device->name, size); return OK; }
int nvmlDeviceGetUUID(gpu *device, char *text, unsigned size) { strncpy(text, device->uuid, size); return OK; }
int nvmlDeviceGetMemoryInfo(gpu *device, unsigned long long *memory) {
    memory[0] = device->memory; memory[1] = memory[2] = 0;
    return OK;
}
int nvmlDeviceGetCudaComputeCapability(gpu *device, int *major, int *minor) {
    *major = 8; *minor = 0;
    return device->number < 3 ? OK : NOT_SUPPORTED;
}
int nvmlDeviceGetMigMode(gpu *device, unsigned *current, unsigned *pending) {
    *current = *pending = device->number == 1;
    return OK;
}
int nvmlDeviceGetMaxMigDeviceCount(gpu *device, unsigned *count) { *count = device->number == 1 ? 7 : 0; return OK; }
int nvmlDeviceGetMigDeviceHandleByIndex(gpu *device, unsigned index, gpu **instance) {
    if (device->number != 1 || index < 1 || index > 2) return NOT_FOUND;
    *instance = &gpus[2 + index];
    return OK;
}
int nvmlSystemGetDriverVersion(char *text, unsigned size) { strncpy(text, "570.86.15", size); return OK; }
