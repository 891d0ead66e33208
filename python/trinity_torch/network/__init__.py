"""A model of Transformers over packed sequences, and the layers that replace its own."""
