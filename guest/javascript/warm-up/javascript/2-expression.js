const squares = [1, 2, 3].map((n) => n * n);
console.log("hello", squares[1]);
squares.length
