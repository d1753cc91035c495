import pandas as pd
frame = pd.DataFrame({"a": [1, 2, 1], "b": [0.5, None, 2.5]})
frame.groupby("a").sum()
