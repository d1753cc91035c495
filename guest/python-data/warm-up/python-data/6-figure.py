import matplotlib.pyplot as plt
figure, axes = plt.subplots()
axes.plot([1, 2, 3], [1, 4, 9])
figure.savefig("/tmp/figure.png")
