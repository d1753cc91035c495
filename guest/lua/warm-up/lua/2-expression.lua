x = (x or 0) + 1; x
