"""What a model saves and resumes from."""
