// Joins: a record whose result the next one alone reads may run together with it, so that the result is never stored.
//
// Found when a program is opened, within chains (chains.h). The result's place in the arena then keeps what it held:
// so a join is made only where other tensors share that place, and its content after a run tells nothing. A result in
// BR_PASSING has no place: it must be such a one.
#pragma once
#include "machine/program.h"

namespace bitreplay {

// Sets `joined` of every record. Null, or what is wrong with the program.
const char* find_joins(br_program* program);

}  // namespace bitreplay
