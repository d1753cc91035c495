const squares: number[] = [1, 2, 3].map((n: number) => n * n);
console.log("hello", squares[1]);
squares.length
