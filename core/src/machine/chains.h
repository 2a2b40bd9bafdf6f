// Chains: records that may follow one another for some samples before the other samples come.
//
// An operation that writes tensors per sample alone (and a number that `counts`, which only grows) makes each sample's
// results from that sample. A chain is a row of such records in one list; samples go through it in blocks, so that what
// one record writes is still in the cache when the next one reads it, and threads take blocks without waiting for one
// another. Tensors share places in the arena by lifetime: a record that writes where an earlier one of the chain has
// other samples of another tensor begins a new chain.
#pragma once
#include "machine/program.h"

namespace bitreplay {

// Sets `chain` of every record.
void find_chains(br_program* program);

}  // namespace bitreplay
