// The version of the library, the same text as the Python package's, and that of its binary interface.
#include "bitreplay.h"

const char* br_version(void) { return BITREPLAY_VERSION; }
int br_abi(void) { return BR_ABI; }
