/* As Kconfig's defaults make it. */
#pragma once
#define CONFIG_BITREPLAY_AREAS 4
