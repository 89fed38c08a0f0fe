"""The entrances of the Lambda functions; each app.py in functions/ makes one of them."""
