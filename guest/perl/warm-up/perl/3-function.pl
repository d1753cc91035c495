sub f { my ($a, $b) = @_; return {sum => $a + $b} }
f(1, 2)
