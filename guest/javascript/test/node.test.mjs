// SPDX-License-Identifier: Apache-2.0
// The built-in modules and globals, compared where possible with the node that runs this test.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createRequire } from "node:module";
import { inspect } from "node:util";
import { newEngine } from "./engine.mjs";

const require = createRequire(import.meta.url);

// Evaluates each expression here and in the engine; both must give the same text.
function same(engine, expressions) {
  for (const expression of expressions) {
    const expected = inspect(new Function("require", `return (${expression})`)(require));
    const result = engine.run(`require('util').inspect(${expression})`);
    assert.equal(result.error, undefined, `${expression}: ${JSON.stringify(result.error)}`);
    const got = engine.run(`console.log(require('util').inspect(${expression}))`).stdout.slice(0, -1);
    assert.equal(got, expected, expression);
  }
}

const value = (engine, code) => {
  const result = engine.run(code);
  assert.equal(result.error, undefined, `${code}: ${JSON.stringify(result.error)}`);
  return result.text;
};

test("inspect gives Node's text", () => {
  same(newEngine(), String.raw`
1;-0;"a'b";"a'b\"c";[1,2,3];[];({});({a:1,b:{c:{d:{e:1}}}});[[[[[]]]]];new Map([[1,{a:2}],["x",[1]]]);new Set([1,"a"])
new (class Foo{constructor(){this.x=1}});class A{};(class B extends Array{});function f(){};()=>1;async()=>{};function*g(){};Object.assign(()=>1,{a:1})
Symbol("x");[Symbol.iterator];({[Symbol("k")]:1,"a-b":2,1:3});[undefined,null];[,1,,2,,,];Object.create(null);Object.create({a:1})
Object.assign(Object.create(null),{x:1});new Date(0);/a\/b/gi;10n;new Uint8Array([1,2,3]);new Float64Array(2);new ArrayBuffer(4);new DataView(new ArrayBuffer(2))
Promise.resolve(5);new Promise(()=>{});new WeakMap();new WeakSet();new Number(3);new String("abc");new Boolean(false);Object(1n);Object(Symbol("q"))
({get a(){return 1},set a(v){},get b(){return 1},set c(v){}});Array.from({length:120},(_, i)=>i);Array.from({length:30},(_, i)=>"item"+i);"x".repeat(200);["a".repeat(80),"b"]
({a:"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",b:"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",c:"ccccccccccccccc"});new Map([["k",new Map([["a",1]])]]).entries();[1,2][Symbol.iterator]();new Set([5]).values()
Math;JSON;Reflect;new Proxy({a:1},{});new Proxy(function f(){},{});[1.5,2.25,-3];[true,false];({a:[{b:{c:1}}]});({a:{b:{c:{}}}});[["a",1],["b",2]];new (class extends Map{})([[1,2]])
Array.from({length:7},()=>({a:1}));({f(){},g:()=>{},h:class{}});[function(){},class{}];new Array(5);Object.assign([1,2],{x:3});Object.assign([],{"-1":2});({__proto__:{x:1},y:2})
[new Date(NaN)];["\u4f60\u597d","b"];Buffer.from("hello");new URL("http://u:p@h.com:81/p?q=1#h");new URLSearchParams("a=1&b=2");({a:1n,b:Symbol.iterator,c:undefined,d:null})
Array.from({length:101},(_, i)=>i*1000);"a\nb".repeat(30);["a\nb".repeat(30)];new Set(Array.from({length:150},(_, i)=>i));({a:"it's"});Object.freeze({a:1});new (function Foo(){this.a=1})
(function*(){})();(async function*(){})();Object.create(class Foo{}.prototype)
`.trim().split(/\n|;(?=[^}]*(?:$|[;\n]))/).filter((text) => text !== "" && !/this\.x=1$|^\}\)$/.test(text)).filter((text) => {
    try {
      new Function(`return (${text})`);
      return true;
    } catch {
      return false;
    }
  }));
});

test("format and console follow Node", () => {
  const engine = newEngine();
  same(engine, [
    "require('util').format('%s %d %o %%', 'a', 1, {})", "require('util').format('%s', {a: {b: {}}})", "require('util').format('%i %f %j', '42.9', '1.5', {a: 1})",
    "require('util').format('a', 'b', {c: 1})", "require('util').format('%s %s', 'x')", "require('util').format('%c%s', 'css', 'y')", "require('util').format(1, 2, '3')",
    "require('util').format('%O', {a: {b: {c: {d: 1}}}})", "require('util').format('%s', null, undefined, 5n, Symbol('a'), -0)", "require('util').format('100%')",
    "require('util').format('%s', class A {})", "require('util').format('%d', '0x10')", "require('util').format('%x', 1)",
  ]);
  const result = engine.run(`console.log('%s=%d', 'a', 1); console.error('err'); console.table([{a: 1, b: 'x'}, {a: 2}]);
console.group('G'); console.log('in\\nner'); console.groupEnd(); console.assert(false, 'm'); console.assert(true, 'no');
console.count(); console.count(); console.dir({a: {b: {c: {d: 1}}}}, {depth: 0}); console.log(); console.info('i'); console.warn('w'); process.stdout.write('no nl')`);
  assert.equal(result.stdout, `a=1
┌─────────┬───┬─────┐
│ (index) │ a │ b   │
├─────────┼───┼─────┤
│ 0       │ 1 │ 'x' │
│ 1       │ 2 │     │
└─────────┴───┴─────┘
G
  in
  ner
default: 1
default: 2
{ a: [Object] }

i
no nl`);
  assert.equal(result.stderr, "err\nAssertion failed: m\nw\n");
  assert.match(engine.run("console.time('t'); console.timeEnd('t')").stdout, /^t: [\d.]+m?s\n$/);
  assert.match(engine.run("console.trace('here')").stderr, /^Trace: here\n {4}at cell-/);
});

test("Buffer follows Node", () => {
  same(newEngine(), [
    "Buffer.from('héllo')", "Buffer.from('68656c', 'hex')", "Buffer.from('aGk=', 'base64')", "Buffer.from('aGk', 'base64url')", "Buffer.from('a-_', 'base64')",
    "Buffer.from('zz', 'hex')", "Buffer.from([1, 2, 300])", "Buffer.from(new Uint16Array([1, 256]))", "Buffer.alloc(5, 'ab')", "Buffer.concat([Buffer.from('a'), Buffer.from('bc')])",
    "Buffer.from('hi').toString('base64')", "Buffer.from('hi?>').toString('base64url')", "Buffer.from('hi').toString('hex')", "Buffer.from([0xe9, 0x80]).toString('latin1')",
    "Buffer.from([0xff, 0x41]).toString()", "Buffer.from('hé').toString('ascii')", "Buffer.from('hé', 'utf16le')", "Buffer.from('hé', 'utf16le').toString('utf16le')",
    "Buffer.byteLength('héé')", "Buffer.from('abc').equals(Buffer.from('abc'))", "Buffer.compare(Buffer.from('a'), Buffer.from('b'))", "Buffer.from('abcabc').indexOf('ca')",
    "Buffer.from('abcabc').lastIndexOf('b')", "Buffer.from('abc').includes('z')", "(() => { const b = Buffer.alloc(8); b.writeUInt32BE(0xdeadbeef, 0); b.writeInt16LE(-2, 4); return b })()",
    "Buffer.from([1,2,3,4,5,6,7,8]).readDoubleBE(0)", "Buffer.from([1,2,3,4]).readInt32LE(0)", "Buffer.from([255,255]).readInt16BE(0)", "Buffer.from([1,2,3,4,5,6,7,8]).readBigUInt64LE(0)",
    "Buffer.from('hello').slice(1, 3).toString()", "Buffer.from('hello').subarray(-3).toString()", "Buffer.from('abc').toJSON()", "Buffer.isBuffer(Buffer.alloc(1))", "Buffer.from('x'.repeat(100))",
    "(() => { const b = Buffer.alloc(4); return [b.write('héé'), b] })()", "Buffer.from('abc').fill('xy')", "Buffer.from(Buffer.from('q'))", "[...Buffer.from('ab').entries()]", "Buffer.from('test').swap16()",
    "Buffer.from([1,2,3]).readUIntBE(0, 3)", "Buffer.isEncoding('UTF-8')", "typeof Buffer.from('a').buffer",
  ]);
});

test("path, url, querystring, events, string_decoder follow Node", () => {
  same(newEngine(), [
    "require('path').join('/a', '../b', './c')", "require('path').resolve('/x', 'y', '..')", "require('path').parse('/home/u/f.tar.gz')", "require('path').relative('/a/b/c', '/a/d')",
    "require('path').basename('/a/b.txt', '.txt')", "require('path').extname('.bashrc')", "require('path').normalize('/a//b/../c/')", "require('path').format({dir: '/d', base: 'b.c'})",
    "new URL('../x?y=1#z', 'https://example.com/a/b/c').href", "new URL('http://EXAMPLE.com:80/%7Efoo/../bar').href", "new URL('http://münchen.de/ä').href", "[...new URL('http://a/?b=1&b=2&c=%20x').searchParams]",
    "new URLSearchParams({a: '1 2', b: 'é'}).toString()", "URL.canParse('nope')", "require('url').fileURLToPath('file:///a%20b/c')", "require('url').pathToFileURL('/a b/c#d').href",
    "require('querystring').parse('a=1&b=2&a=3&c=%20d+e')", "require('querystring').stringify({a: [1, 2], b: 'x y', c: true})", "(() => { const E = require('events'); const e = new E(); const l = []; e.once('a', (x) => l.push(x)); e.on('a', (x) => l.push(x * 2)); e.emit('a', 1); e.emit('a', 2); return [l, e.listenerCount('a'), e.emit('none')] })()",
    "(() => { const {StringDecoder} = require('string_decoder'); const d = new StringDecoder('utf8'); return d.write(Buffer.from([0xe2, 0x82])) + d.write(Buffer.from([0xac])) + d.end(Buffer.from([0xe2])) })()",
    "require('util').isDeepStrictEqual({a: [1, new Map([[1, {b: 2}]])]}, {a: [1, new Map([[1, {b: 2}]])]})", "require('util').isDeepStrictEqual([1], ['1'])", "require('util').types.isRegExp(/a/)",
    "new TextDecoder('utf-16le').decode(new Uint8Array([0x41, 0, 0x42, 0]))", "new TextDecoder('latin1').decode(new Uint8Array([0xe9]))", "new TextEncoder().encode('é😀')", "new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x41, 0xff]))",
    "atob('aGk=')", "btoa('hi')", "structuredClone({a: new Date(0), m: new Map([[1, new Set([2])]]), r: /x/g, u: new Uint8Array([1])})", "(() => { const o = {x: 1}; o.self = o; const c = structuredClone(o); return c.self === c })()",
    "(1234567.891).toLocaleString()", "(1e6).toLocaleString('en-US', {minimumFractionDigits: 2})", "require('os').EOL", "new Date(0).toISOString()",
  ]);
});

test("crypto digests are right", () => {
  same(newEngine(), [
    ...["md5", "sha1", "sha224", "sha256", "sha384", "sha512"].flatMap((name) => ["", "abc", "x".repeat(55), "x".repeat(56), "x".repeat(64), "x".repeat(111), "x".repeat(112), "x".repeat(1000)]
      .map((text) => `require('crypto').createHash('${name}').update('${text}').digest('hex')`)),
    "require('crypto').createHash('sha256').update('a').update(Buffer.from('b')).digest('base64')", "require('crypto').createHmac('sha256', 'key').update('data').digest('hex')",
    "require('crypto').createHmac('sha512', 'k'.repeat(200)).update('data').digest('hex')", "require('crypto').pbkdf2Sync('pw', 'salt', 10, 40, 'sha256').toString('hex')",
    "require('crypto').timingSafeEqual(Buffer.from('a'), Buffer.from('a'))", "require('zlib').gunzipSync(require('zlib').gzipSync('hello')).toString()", "require('zlib').inflateSync(Buffer.from('eJzLSM3JyQcABiwCFQ==', 'base64')).toString()",
  ]);
  const engine = newEngine();
  assert.match(value(engine, "crypto.randomUUID()"), /^'[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'$/);
  assert.equal(value(engine, "(await crypto.subtle.digest('SHA-256', new TextEncoder().encode('abc'))).byteLength"), "32");
  assert.equal(value(engine, "const r = require('crypto').randomInt(5, 8); r >= 5 && r < 8"), "true");
});

test("files: everyday calls", () => {
  const engine = newEngine();
  const v = (code) => value(engine, code);
  v("const fs = require('fs'); fs.writeFileSync('a.txt', 'héllo\\n'); fs.appendFileSync('a.txt', 'two')");
  assert.equal(v("fs.readFileSync('a.txt', 'utf8')"), "'héllo\\ntwo'");
  assert.equal(v("fs.mkdirSync('d/e/f', {recursive: true}); fs.writeFileSync('d/e/x', Buffer.from([0,255,1])); fs.readdirSync('d', {recursive: true})"), "[ 'e', 'e/f', 'e/x' ]");
  assert.equal(v("fs.readdirSync('d', {withFileTypes: true}).map((e) => [e.name, e.isDirectory(), e.parentPath])"), "[ [ 'e', true, 'd' ] ]");
  assert.equal(v("fs.readFileSync('d/e/x')"), "<Buffer 00 ff 01>");
  assert.equal(v("const st = fs.statSync('a.txt'); [st.size, st.isFile(), st.mtime instanceof Date, st.mode & 0o777]"), "[ 10, true, true, 420 ]");
  v("fs.renameSync('a.txt', 'd/b.txt'); fs.copyFileSync('d/b.txt', 'c.txt'); fs.symlinkSync('c.txt', 'link'); fs.linkSync('c.txt', 'hard')");
  assert.equal(v("[fs.readlinkSync('link'), fs.realpathSync('link'), fs.lstatSync('link').isSymbolicLink(), fs.statSync('link').isFile(), fs.existsSync('nope')]"), "[ 'c.txt', '/workspace/c.txt', true, true, false ]");
  v("fs.utimesSync('c.txt', 1000, 2000); fs.chmodSync('c.txt', 0o600); fs.accessSync('c.txt')");
  assert.equal(v("fs.statSync('c.txt').mtimeMs"), "2000000");
  v("fs.truncateSync('c.txt', 3)");
  assert.equal(v("fs.readFileSync('c.txt', 'latin1')"), "'hÃ©'");
  assert.equal(v("const fd = fs.openSync('s.bin', 'w+'); fs.writeSync(fd, 'hello world'); const b = Buffer.alloc(5); fs.readSync(fd, b, 0, 5, 6); fs.ftruncateSync(fd, 4); const z = fs.fstatSync(fd).size; fs.closeSync(fd); [b.toString(), z]"), "[ 'world', 4 ]");
  assert.equal(v("const ap = fs.openSync('ap', 'a+'); fs.writeSync(ap, 'abc'); const b2 = Buffer.alloc(3); fs.readSync(ap, b2, 0, 3, 0); fs.writeSync(ap, 'def'); fs.closeSync(ap); [b2.toString(), fs.readFileSync('ap', 'utf8')]"), "[ 'abc', 'abcdef' ]");
  assert.equal(v("const codes = []; for (const f of [() => fs.readFileSync('nope'), () => fs.mkdirSync('d'), () => fs.rmdirSync('d'), () => fs.openSync('c.txt', 'wx'), () => fs.readdirSync('c.txt'), () => fs.readFileSync('d'), () => fs.unlinkSync('nope'), () => fs.rmSync('d'), () => fs.openSync('x\\0y')]) try { f(); codes.push(0) } catch (e) { codes.push(e.code) } codes.join()"),
    "'ENOENT,EEXIST,ENOTEMPTY,EEXIST,ENOTDIR,EISDIR,ENOENT,ERR_FS_EISDIR,ERR_INVALID_ARG_VALUE'");
  assert.equal(v("fs.rmSync('d', {recursive: true}); fs.rmSync('zz', {force: true}); fs.existsSync('d')"), "false");
  assert.match(v("fs.mkdtempSync('/tmp/t-')"), /^'\/tmp\/t-[A-Za-z0-9]{6}'$/);
  assert.equal(v("const fsp = require('fs/promises'); await fsp.writeFile('p.txt', 'x'); const fh = await fsp.open('p.txt'); const t = await fh.readFile('utf8'); await fh.close(); [t, (await fsp.stat('p.txt')).size]"), "[ 'x', 1 ]");
  assert.equal(v("await new Promise((ok, no) => fs.readFile('p.txt', 'utf8', (e, d) => e ? no(e) : ok(d)))"), "'x'");
  assert.equal(v("await require('util').promisify(fs.stat)('nope').catch((e) => e.code)"), "'ENOENT'");
  assert.equal(v("let text = ''; for await (const c of fs.createReadStream('ap', 'utf8')) text += c; text"), "'abcdef'");
  assert.equal(v("await new Promise((ok) => { const w = fs.createWriteStream('ws'); w.write('1'); w.end('2', () => ok()) }); fs.readFileSync('ws', 'utf8')"), "'12'");
  assert.equal(v("const {pipeline} = require('stream/promises'); await pipeline(fs.createReadStream('ap'), require('zlib').createGzip(), fs.createWriteStream('ap.gz')); require('zlib').gunzipSync(fs.readFileSync('ap.gz')).toString()"), "'abcdef'");
  assert.equal(v("fs.cpSync('.', '/tmp/copy', {recursive: true}); fs.readFileSync('/tmp/copy/ap', 'utf8')"), "'abcdef'");
  assert.equal(v("const all = Buffer.from(Array.from({length: 256}, (_, i) => i)); fs.writeFileSync('bin', all); fs.readFileSync('bin').equals(all)"), "true");
});

test("what a sandbox cannot do fails at once and says why", () => {
  const engine = newEngine();
  for (const code of [
    "require('child_process').execSync('ls')", "require('child_process').spawn('ls')", "new (require('worker_threads').Worker)('x')", "require('http').get('http://x')", "require('net').connect(1)",
    "require('dns').lookup('x', () => {})", "require('https').request('https://x')", "process.kill(1)", "require('cluster').fork()", "require('vm').createContext({})", "new Intl.NumberFormat('de')",
    "new Date(0).toLocaleString('de-DE', {timeZone: 'Asia/Tokyo'})", "require('crypto').createCipheriv('aes-256-gcm', '', '')",
  ]) {
    const { error } = engine.run(code);
    assert.ok(error !== undefined && error.message.length > 20, code);
  }
  assert.match(value(engine, "await fetch('http://x').catch((e) => e.message)"), /no network/);
  assert.equal(value(engine, "new Date(0).toLocaleString('en-US', {timeZone: 'UTC'})").length > 10, true);
  assert.equal(value(engine, "new Date(2024, 0, 1).getTimezoneOffset()"), "0");
});

test("assert, util and the rest", () => {
  const engine = newEngine();
  const v = (code) => value(engine, code);
  assert.match(engine.run("require('assert').deepStrictEqual({a: 1}, {a: 2})").error.message, /Expected values to be strictly deep-equal/);
  assert.match(engine.run("require('assert').strictEqual(1, 2)").error.message, /1 !== 2/);
  v("const assert = require('assert/strict'); assert.deepEqual([1, {a: new Set([1])}], [1, {a: new Set([1])}]); assert.throws(() => { throw new TypeError('x') }, TypeError); await assert.rejects(Promise.reject(new Error('q')), /q/)");
  assert.equal(v("await require('util').promisify((x, cb) => cb(null, x + 1))(1)"), "2");
  assert.equal(v("const ac = new AbortController(); const p = require('timers/promises').setTimeout(1000, 0, {signal: ac.signal}); ac.abort(); await p.catch((e) => e.name)"), "'AbortError'");
  assert.equal(v("const et = new EventTarget(); const got = []; et.addEventListener('x', (e) => got.push(e.type), {once: true}); et.dispatchEvent(new Event('x')); et.dispatchEvent(new Event('x')); got"), "[ 'x' ]");
  assert.equal(v("const t0 = performance.now(); const h0 = process.hrtime.bigint(); [performance.now() >= t0, process.hrtime.bigint() >= h0, t0 >= 0]"), "[ true, true, true ]");
  assert.equal(v("const {Readable} = require('stream'); const parts = []; for await (const x of Readable.from([1, 2, 3])) parts.push(x); parts"), "[ 1, 2, 3 ]");
  assert.equal(v("[process.platform, typeof process.version, process.argv.length, process.memoryUsage().heapUsed > 0]"), "[ 'linux', 'string', 2, true ]");
  assert.equal(v("Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)"), "'timed-out'");
  assert.equal(v("const w = new WeakRef({a: 1}); typeof w.deref()"), "'object'");
  assert.equal(v("new Blob(['ab', new Uint8Array([99])]).size"), "3");
  for (const name of require("node:module").builtinModules.filter((n) => !/^_|^node:|diagnostics|domain|inspector|repl|trace_events|wasi|punycode|sys|path\/win32|stream\/web|test|dns\/promises|sea/.test(n))) {
    const result = engine.run(`import('node:${name}').then((m) => typeof m.default)`);
    assert.equal(result.error, undefined, `${name}: ${JSON.stringify(result.error)}`);
  }
});
