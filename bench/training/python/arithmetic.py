import math
from fractions import Fraction


def mandelbrot(size, limit):
    inside = 0
    for row in range(size):
        for column in range(size):
            x = y = 0.0
            a, b = 3.0 * column / size - 2.2, 2.4 * row / size - 1.2
            for _ in range(limit):
                x, y = x * x - y * y + a, 2 * x * y + b
                if x * x + y * y > 4:
                    break
            else:
                inside += 1
    return inside


def primes(limit):
    sieve = bytearray([1]) * limit
    sieve[0:2] = b"\0\0"
    for n in range(2, int(limit**0.5) + 1):
        if sieve[n]:
            sieve[n * n :: n] = bytes(len(range(n * n, limit, n)))
    return [n for n in range(limit) if sieve[n]]


def collatz(limit):
    longest = 0
    for start in range(1, limit):
        n, steps = start, 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        longest = max(longest, steps)
    return longest


matrix = [[(i * j) % 7 + 0.5 for j in range(40)] for i in range(40)]
product = [[sum(a * b for a, b in zip(row, column)) for column in zip(*matrix)] for row in matrix]
print(mandelbrot(60, 40), len(primes(100_000)), collatz(3000), round(product[3][4], 3))
print(sum(math.sin(x) * math.sqrt(x) for x in range(30_000)), math.factorial(300) % 1_000_007)
print(sum((Fraction(1, n) for n in range(1, 60)), Fraction()), pow(3, 10**60, 10**40 + 7), 7**900 // 3**500)
print(sum(x ^ (x << 3) & 0xFFFF for x in range(50_000)))
