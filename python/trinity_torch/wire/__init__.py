"""What crosses between Trinity and a worker: frames, the channel that carries them, and what each request does."""
