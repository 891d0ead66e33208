"""Sampling: continuous batching over a paged key/value cache, in plain PyTorch and Triton."""
