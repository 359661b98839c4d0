def read_lines(path):
    with open(path, "rb") as file:
        return file.read().decode("ascii").split("\n")
