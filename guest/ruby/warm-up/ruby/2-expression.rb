total = [1, 2, 3].sum { |n| n * 2 }
"total: #{total}"
