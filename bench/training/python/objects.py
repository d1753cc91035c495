import dataclasses
import functools
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from enum import Enum

Point = namedtuple("Point", "x y")


class Colour(Enum):
    RED = 1
    GREEN = 2


class Shape:
    count = 0

    def __init__(self, name):
        self.name = name
        Shape.count += 1

    @property
    def title(self):
        return self.name.title()

    def area(self):
        raise NotImplementedError


class Square(Shape):
    def __init__(self, side):
        super().__init__("square")
        self.side = side

    def area(self):
        return self.side**2

    def __eq__(self, other):
        return isinstance(other, Square) and self.side == other.side

    def __hash__(self):
        return hash(self.side)

    def __lt__(self, other):
        return self.side < other.side


@dataclasses.dataclass(order=True)
class Item:
    price: float
    name: str = dataclasses.field(compare=False, default="")


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __getitem__(self, i):
        return self.y if i else self.x


@functools.lru_cache(maxsize=None)
def ways(n, k):
    return 1 if k in (0, n) else ways(n - 1, k - 1) + ways(n - 1, k)


def tree(depth):
    return None if depth == 0 else (tree(depth - 1), depth, tree(depth - 1))


def total(node):
    if node is None:
        return 0
    left, value, right = node
    return total(left) + value + total(right)


def countdown(n):
    while n:
        got = yield n
        n -= 1 if got is None else got


squares = [Square(i % 50) for i in range(5000)]
print(sum(s.area() for s in squares), len(set(squares)), max(squares).title, Shape.count)
vector = Vector(0, 0)
for i in range(20_000):
    vector = vector + Vector(i, 1)
print(vector[0], vector[1], ways(60, 30), total(tree(12)))
print(sum(countdown(20_000)), sum(p.x * p.y for p in (Point(i, 2) for i in range(10_000))))
print(sorted(Item(i * 37 % 101, str(i)) for i in range(2000))[:2], Colour.RED, Colour["GREEN"].value)
queue, seen = deque([0]), defaultdict(list)
while queue:
    node = queue.popleft()
    for child in (2 * node + 1, 2 * node + 2):
        if child < 20_000:
            seen[node].append(child)
            queue.append(child)
print(len(seen), Counter(len(v) for v in seen.values()).most_common(1), OrderedDict(a=1, b=2).popitem())


def risky(i):
    try:
        if i % 3 == 0:
            raise ValueError(i)
        return [i][1] if i % 3 == 1 else i
    except (ValueError, IndexError) as error:
        return -1 if isinstance(error, ValueError) else -2
    finally:
        i += 1


with_context = sum(map(risky, range(20_000)))
print(with_context, [f"{n:>6.2f}|{n!r:<5}|{n:x}" if isinstance(n, int) is False else n for n in (1, 2)])
match {"kind": "point", "at": [1, 2]}:
    case {"kind": "point", "at": [x, y]}:
        print(x + y)
