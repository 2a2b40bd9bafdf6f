/* Of ESP-IDF. */
#pragma once
#define pdMS_TO_TICKS(milliseconds) ((milliseconds) / 10)
