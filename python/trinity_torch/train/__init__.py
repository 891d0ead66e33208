"""Models that score and learn: losses, the optimizer, and weights over several ranks or in main memory."""
