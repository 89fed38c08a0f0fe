"""Rearview: memory and decision traces for LLM agents."""
