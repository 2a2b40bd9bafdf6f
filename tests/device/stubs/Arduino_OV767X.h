/* Of the library Arduino_OV767X. */
#pragma once
enum { QQVGA = 3, RGB565 = 2 };
struct OV767X {
  int begin(int resolution, int format, int fps);
  void readFrame(void* buffer);
};
extern OV767X Camera;
