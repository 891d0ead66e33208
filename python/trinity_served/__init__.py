"""What Trinity adds to servers of other projects that it starts: their life ends with it, and their log-probs are its own."""
