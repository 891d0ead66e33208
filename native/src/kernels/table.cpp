// Compiled once per instruction set (see scripts/build-native.mjs): -DTRINITY_ISA=<name> and the matching -m flags.
#include "attention_back_kernel.h"
#include "attention_row_kernel.h"
#include "brain_kernel.h"
#include "optim_kernel.h"
#include "rows_kernel.h"
#include "sample_kernel.h"
#include "softmax_kernel.h"

#define TRINITY_TEXT_(x) #x
#define TRINITY_TEXT(x) TRINITY_TEXT_(x)

namespace trinity {
namespace TRINITY_ISA {

extern const Kernels table;
const Kernels table = {
    TRINITY_TEXT(TRINITY_ISA),
    NR,
    MR,
    GR,
    WIDENS_F16,
    gemm_block,
    pack_tiles,
    transpose_panels,
    fma_peak,
    brain_block,
    pair_panel,
    rmsnorm,
    rmsnorm_back,
    rmsnorm_weight,
    rope,
    swiglu,
    swiglu_back,
    geglu,
    geglu_back,
    squash,
    add_bias,
    column_sum,
    axpy,
    scale_by,
    dot,
    pack_keys,
    attention_block,
    attention_finish,
    attention_row,
    attention,
    attention_back,
    exp_blocks,
    softmax_fold,
    softmax_back,
    sum_squares,
    adamw,
};

}  // namespace TRINITY_ISA
}  // namespace trinity
