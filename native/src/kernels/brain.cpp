// Products in bfloat16 for machines with an instruction for them; the other kernels stay those of AVX-512.
#include "brain_kernel.h"

namespace trinity {
namespace TRINITY_ISA {

extern void (*const brain_products)(const BrainBlock&);
void (*const brain_products)(const BrainBlock&) = brain_block;

}  // namespace TRINITY_ISA
}  // namespace trinity
