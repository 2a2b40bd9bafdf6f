/* What the sketches use of Arduino's core, as its reference declares it: stand-ins to compile them with. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct HardwareSerial {
  void begin(unsigned long);
  int available();
  int read();
  size_t write(const uint8_t*, size_t);
  size_t println(const char*);
};
extern HardwareSerial Serial;
unsigned long millis();
void delay(unsigned long);
void pinMode(int, int);
int digitalRead(int);
void digitalWrite(int, int);
enum { OUTPUT = 1, INPUT_PULLUP = 2, LED_BUILTIN = 13 };
