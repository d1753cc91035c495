class Shape {
  static count = 0;
  #name;
  constructor(name) { this.#name = name; Shape.count++; }
  get title() { return this.#name.toUpperCase(); }
  area() { throw new Error("no area"); }
}
class Square extends Shape {
  constructor(side) { super("square"); this.side = side; }
  area() { return this.side ** 2; }
  toString() { return `Square(${this.side})`; }
}
const squares = Array.from({ length: 20000 }, (_, i) => new Square(i % 50));
console.log(squares.reduce((sum, s) => sum + s.area(), 0), Shape.count, String(squares[7]), squares[0].title);
function* countdown(n) { while (n) { const got = yield n; n -= got ?? 1; } }
let sum = 0;
for (const n of countdown(30000)) sum += n;
const tree = (depth) => (depth === 0 ? null : { left: tree(depth - 1), value: depth, right: tree(depth - 1) });
const weigh = (node) => (node ? weigh(node.left) + node.value + weigh(node.right) : 0);
console.log(sum, weigh(tree(14)));
const counters = new Map(), seen = new Set(), plain = {};
for (let i = 0; i < 60000; i++) {
  const key = `key${i % 997}`;
  counters.set(key, (counters.get(key) ?? 0) + 1);
  plain[key] = (plain[key] || 0) + i;
  seen.add(i % 1009);
}
console.log(counters.size, seen.size, Object.keys(plain).length, Object.entries(plain)[3]);
const adders = Array.from({ length: 500 }, (_, i) => (x) => x + i);
let value = 0;
for (let round = 0; round < 60; round++) for (const add of adders) value = add(value) % 10007;
const { a, ...rest } = { a: 1, b: 2, c: 3 }, [first, , third = 9, ...others] = [1, 2, undefined, 4, 5];
console.log(value, a, rest, first, third, others, [...seen].slice(0, 3), { ...rest, d: 4 });
let caught = 0;
for (let i = 0; i < 20000; i++) {
  try { if (i % 3 === 0) throw new RangeError(`bad ${i}`); null?.x; if (i % 3 === 1) undefined.x; } catch (error) { caught += error instanceof RangeError ? 1 : 2; } finally { caught++; }
}
const proxy = new Proxy({}, { get: (target, name) => name.length });
let length = 0;
for (let i = 0; i < 20000; i++) length += proxy.abcd;
console.log(caught, length, [1, [2, [3]]].flat(Infinity), JSON.parse(JSON.stringify({ x: [1] })));
const delay = (x) => new Promise((resolve) => resolve(x));
async function chain() { let t = 0; for (let i = 0; i < 5000; i++) t += await delay(i); return t; }
console.log(await chain(), (await Promise.all([1, 2, 3].map(delay))).length);
label: for (let i = 0; i < 1000; i++) for (let j = 0; j < 1000; j++) { if (j > i) continue label; if (i + j > 1500) break label; }
