// The version of the library, the same text as the Python package's.
extern "C" __attribute__((visibility("default"))) const char* br_version() { return BITREPLAY_VERSION; }
