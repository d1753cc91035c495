function double(n) return 2 * n end
text = ("text"):upper() .. double(4)
