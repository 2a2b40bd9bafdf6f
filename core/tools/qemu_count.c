/* A plugin for qemu-user: counts the guest's instructions between two marks (core/tools/count.c makes them).
 *
 *     gcc -shared -fPIC -o qemu_count.so qemu_count.c
 *     qemu-aarch64 -plugin ./qemu_count.so ./count PROGRAM 1 1
 *
 * A mark is a system call with the number 0xB17: argument 1 begins, 0 ends and prints. qemu translates the guest in
 * blocks that run from the first instruction to the last; a block adds its length when it begins. A system call ends a
 * block, so that the count starts and ends between two instructions, and repeats exactly.
 *
 * The declarations below are the few of qemu's plugin interface that are used; they are the same in all its
 * versions. */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifndef PLUGIN_VERSION
#define PLUGIN_VERSION 1 /* qemu 4.2 to 8.2; 9.0 and later ask for 2 or more */
#endif
#define EXPORT __attribute__((visibility("default")))
#define MARK 0xB17

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, void (*call)(plugin_id, struct qemu_plugin_tb*));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb* block, void (*call)(unsigned, void*), int flags,
                                          void* data);
void qemu_plugin_register_vcpu_syscall_cb(plugin_id id,
                                          void (*call)(plugin_id, unsigned, int64_t, uint64_t, uint64_t, uint64_t,
                                                       uint64_t, uint64_t, uint64_t, uint64_t, uint64_t));

EXPORT int qemu_plugin_version = PLUGIN_VERSION;
static bool counting;
static uint64_t instructions;

static void executed(unsigned cpu, void* length) {
  (void)cpu;
  if (counting) instructions += (uint64_t)(uintptr_t)length;
}

static void translated(plugin_id id, struct qemu_plugin_tb* block) {
  (void)id;
  qemu_plugin_register_vcpu_tb_exec_cb(block, executed, 0, (void*)(uintptr_t)qemu_plugin_tb_n_insns(block));
}

static void called(plugin_id id, unsigned cpu, int64_t number, uint64_t begins, uint64_t b, uint64_t c, uint64_t d,
                   uint64_t e, uint64_t f, uint64_t g, uint64_t h) {
  (void)id, (void)cpu, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
  if (number != MARK) return;
  counting = begins == 1;
  if (counting) instructions = 0;
  else fprintf(stderr, "instructions %" PRIu64 "\n", instructions);
}

EXPORT int qemu_plugin_install(plugin_id id, const void* info, int count, char** words) {
  (void)info, (void)count, (void)words;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_vcpu_syscall_cb(id, called);
  return 0;
}
