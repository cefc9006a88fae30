"""Selection trees as the seed tells them, written down plainly, to compare with.

Nothing here is fast, compiled or shared with the library. A condition is evaluated while it is read, from the left to
the right, with a dict of variables. A tree is nested tuples: ``(name, condition, children)`` for a Priority and
``(name, condition, None)`` for a Leaf, with None or an expression as the condition.
"""

from __future__ import annotations


class Wrong(Exception):
    """A condition is no expression; ``at`` is the token that cannot stand where it does."""

    def __init__(self, at):
        self.at = at
        super().__init__(at)


def tokens_of(text):
    """Words, the two comparisons, and everything else character by character."""
    found = []
    at = 0
    while at < len(text):
        if text[at] in " \t\n\r\f\v":
            at += 1
        elif text[at : at + 2] in ("==", "!="):
            found.append(text[at : at + 2])
            at += 2
        elif text[at].isascii() and (text[at].isalpha() or text[at] == "_"):
            end = at
            while end < len(text) and text[end].isascii() and (text[end].isalnum() or text[end] in "_."):
                end += 1
            found.append(text[at:end])
            at = end
        else:
            found.append(text[at])
            at += 1
    return found


def evaluate(text, variables):  # noqa: C901 - the whole grammar in one place
    """Value and ignored tokens of a condition.

    Args:
        text: the expression.
        variables: name in lower case -> value; what is not there is false.
    """
    tokens = tokens_of(text)

    def expression():
        value = comparison()
        while tokens and tokens[0].lower() in ("and", "or", "xor"):
            operator = tokens.pop(0).lower()
            other = comparison()
            if operator == "and":
                value = value and other
            elif operator == "or":
                value = value or other
            else:
                value = value != other
        return value

    def comparison():
        value = operand()
        if tokens and tokens[0] in ("==", "!="):
            equal = tokens.pop(0) == "=="
            value = (value == operand()) is equal
        return value

    def operand():
        if tokens and tokens[0] == "!":
            tokens.pop(0)
            return not simple()
        return simple()

    def simple():
        if not tokens:
            raise Wrong("")
        token = tokens[0]
        if token == "(":
            tokens.pop(0)
            value = expression()
            if not tokens or tokens[0] != ")":
                raise Wrong(tokens[0] if tokens else "")
            tokens.pop(0)
            return value
        if token.lower() in ("and", "or", "xor") or not (
            token[0] == "_" or (token[0].isascii() and token[0].isalpha())
        ):
            raise Wrong(token)
        tokens.pop(0)
        if token.lower() in ("true", "false"):
            return token.lower() == "true"
        return variables.get(token.lower(), False)

    return expression(), tokens


def select(node, variables):
    """The name of the first leaf that passes, or None: a group whose children all fail is as good as one that fails."""
    name, condition, children = node
    if condition is not None and not evaluate(condition, variables)[0]:
        return None
    if children is None:
        return name
    for child in children:
        found = select(child, variables)
        if found is not None:
            return found
    return None


class Model:
    """One agent.

    Args:
        tree: nested tuples.
        defaults: of the variables, by name.
        signals: triples of a signal, a variable and an expression, in the order of the file.
        targets: leaf -> behavior.
        constructors: behavior -> variables that it sets when it begins.
        destructors: behavior -> variables that it sets when it ends.
        handlers: behavior -> signal -> variables that it sets when it is told.
        out: behaviors whose constructors raise.
    """

    def __init__(self, tree, defaults, signals, targets, constructors, destructors, handlers, out=()):
        self.tree = tree
        self.variables = dict(defaults)
        self.signals = signals
        self.targets = targets
        self.constructors = constructors
        self.destructors = destructors
        self.handlers = handlers
        self.raising = out
        self.known_to_raise = set()
        self.current = None
        self.log = []

    def selected(self):
        def without(node):
            name, condition, children = node
            if children is None:
                behavior = self.targets.get(name, name)
                return (behavior, "false" if behavior in self.known_to_raise else condition, None)
            return (name, condition, [without(child) for child in children])

        return select(without(self.tree), self.variables)

    def update(self):
        """One update of the AI: evaluate, destruct, construct."""
        chosen = self.selected()
        if chosen == self.current:
            return
        if self.current is not None:
            self.log.append(("destructor", self.current))
            self.variables.update(self.destructors.get(self.current, {}))
        self.current = chosen
        while self.current is not None:
            self.log.append(("constructor", self.current))
            self.variables.update(self.constructors.get(self.current, {}))
            if self.current not in self.raising:
                return
            self.known_to_raise.add(self.current)
            self.current = self.selected()

    def signal(self, name):
        for signal, variable, value in self.signals:
            if signal == name:
                self.variables[variable] = evaluate(value, self.variables)[0]
        if self.current is not None and name in self.handlers.get(self.current, {}):
            self.log.append((name, self.current))
            self.variables.update(self.handlers[self.current][name])
