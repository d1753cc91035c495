def f(a, b=2):
    return a + b

f(1)
