function mandelbrot(size, limit) {
  let inside = 0;
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      let x = 0, y = 0, i = 0;
      const a = (3 * column) / size - 2.2, b = (2.4 * row) / size - 1.2;
      for (; i < limit && x * x + y * y <= 4; i++) [x, y] = [x * x - y * y + a, 2 * x * y + b];
      if (i === limit) inside++;
    }
  }
  return inside;
}
function primes(limit) {
  const sieve = new Uint8Array(limit).fill(1);
  for (let n = 2; n * n < limit; n++) if (sieve[n]) for (let m = n * n; m < limit; m += n) sieve[m] = 0;
  return sieve.reduce((sum, flag, n) => sum + (n > 1 ? flag : 0), 0);
}
function collatz(limit) {
  let longest = 0;
  for (let start = 1; start < limit; start++) {
    let n = start, steps = 0;
    while (n !== 1) { n = n % 2 === 0 ? n / 2 : 3 * n + 1; steps++; }
    if (steps > longest) longest = steps;
  }
  return longest;
}
function hash(text) {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619) >>> 0;
  return h;
}
const matrix = Array.from({ length: 50 }, (_, i) => Array.from({ length: 50 }, (_, j) => ((i * j) % 7) + 0.5));
const product = matrix.map((row) => matrix[0].map((_, j) => row.reduce((sum, v, k) => sum + v * matrix[k][j], 0)));
console.log(mandelbrot(70, 50), primes(200000), collatz(4000), hash("abc".repeat(20000)), product[3][4]);
let total = 0;
for (let i = 0; i < 100000; i++) total += Math.sin(i) * Math.sqrt(i) + Math.floor(i / 3) + (i & 255) - (i >> 2);
console.log(total.toFixed(3), (123.456).toString(16), parseInt("ff", 16), Number("1e3"), 2n ** 300n % 1000007n);
let big = 1n;
for (let i = 1n; i < 200n; i++) big *= i;
console.log(String(big).length, 0.1 + 0.2, NaN === NaN, [3, 1, 2].sort((a, b) => a - b));
