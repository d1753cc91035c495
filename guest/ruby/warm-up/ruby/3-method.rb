def twice(n)
  n * 2
end
puts twice(4)
