raise ImportError("needs packages that are not here")
