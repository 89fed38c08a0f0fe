"""REST: the routes of the design's section 6 over the use cases. ``app.create_app`` is the entrance."""
