"""Adapters over AWS services. Imported only where they are configured: the embedded mode needs none of them."""
