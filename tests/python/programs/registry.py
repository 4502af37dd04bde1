"""The one table of features. A feature is a function of a World; its weight says how often."""

FEATURES = {}
WEIGHTS = {}


def feature(weight=2, name=None):
    """Registers a function as a feature, under its own name unless another is given."""

    def register(function):
        key = name or function.__name__
        assert key not in FEATURES, key
        FEATURES[key] = function
        WEIGHTS[key] = weight
        return function

    return register


def family(weight, table, apply):
    """Registers one feature per row of a table {name: operation}; `apply(world, operation)`."""
    for key, operation in table.items():
        feature(weight, key)(lambda world, operation=operation: apply(world, operation))
