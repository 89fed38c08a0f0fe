"""AWS on one machine without Docker: ministack, real OpenSearch nodes and LocalStack's queue and bucket code.

Standard library only, so that it runs before anything is installed. ``python -m infra.local up`` from the checkout.
"""
