// Waiting for another thread.
#pragma once

extern "C" {
// Sleeps while `*word` is `value`, until somebody notifies. In Node 20 the compiler that WebAssembly first runs through
// (Liftoff, of V8 11.3) stores the address that `memory.atomic.wait32` waits at as 8 bytes in a place of 4: the local variable
// beside it is 0 after the wait. So the instruction stands in a function that has nothing left to do afterward.
__attribute__((noinline)) void trinity_wait(int* word, int value);
}
