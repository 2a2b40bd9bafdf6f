/* A sketch on the desk: its serial port is standard input and output, as a pseudo-terminal has them. */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include "Arduino.h"

HardwareSerial Serial;
void setup();
void loop();

void HardwareSerial::begin(unsigned long) {
  termios line;
  if (tcgetattr(0, &line)) return;
  cfmakeraw(&line);
  tcsetattr(0, TCSANOW, &line);
}

int HardwareSerial::available() {
  pollfd input = {0, POLLIN, 0};
  return poll(&input, 1, 1) > 0;
}

int HardwareSerial::read() {
  uint8_t byte;
  if (::read(0, &byte, 1) != 1) exit(0); /* the desk has gone */
  return byte;
}

size_t HardwareSerial::write(const uint8_t* bytes, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t part = ::write(1, bytes + done, size - done);
    if (part < 0) exit(0);
    done += part;
  }
  return size;
}

size_t HardwareSerial::println(const char* text) {
  return write((const uint8_t*)text, strlen(text)) + write((const uint8_t*)"\r\n", 2);
}

unsigned long millis() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

void delay(unsigned long time) {
  std::this_thread::sleep_for(std::chrono::milliseconds(time));
}

int main() {
  setup();
  for (;;) loop();
}
