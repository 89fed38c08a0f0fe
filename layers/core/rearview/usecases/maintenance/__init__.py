"""Maintenance: what a memory's life after the write consists of, one module a task."""
