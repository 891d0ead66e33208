"""Operators of Data-Juicer as a service: what `service.data_juicer.auto_start` starts. See docs/buffers.md."""
