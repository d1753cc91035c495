function double(n) return 2 * n end
print(double(4), ("text"):upper(), #{ 1, 2, 3 })
