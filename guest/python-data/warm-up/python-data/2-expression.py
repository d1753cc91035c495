x = [n * n for n in range(10)]
print("hello", x[3])
sum(x)
