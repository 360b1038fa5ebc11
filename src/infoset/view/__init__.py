"""What people look at: text, pictures of trees, curves."""
