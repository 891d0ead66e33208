"""A trainer's passes with the kernels of the sampler, so that both give the same log-probs to the last bit."""
