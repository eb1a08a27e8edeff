"""What a text is about decides what a draft can guess: three classes of prompts for the embedded pair.

In: nothing. Out: prompts by class. A plan speaks of each class apart, never of their average alone.
"""

__all__ = ["WORKLOADS"]

_PASSAGES = (
    "And the king said unto the captain of the host, Go up and possess the land. ",
    "Now these are the names of the sons of Jacob, which came down into the valley. ",
    "Blessed are they that keep the law of the LORD, and walk in his ways. ",
    "And it came to pass in the third year that the word of the LORD came unto me. ",
    "Then all the people answered with one voice, We will serve the LORD our God. ",
    "And he took the bread and brake it, and gave it to the men that were with him. ",
    "The wise man feareth and departeth from evil, but the fool rageth. ",
    "And the priest shall sprinkle the blood upon the altar round about. ",
)

WORKLOADS: dict[str, tuple[str, ...]] = {
    "continuation": (
        "In the beginning",
        "And it came to pass",
        "Blessed are the",
        "And the king said unto",
        "Hear the word of the LORD",
        "Now these are the names of",
        "The wise man",
        "And Jesus answered and said",
    ),
    "copy": tuple(passage * 3 + " ".join(passage.split()[:3]) for passage in _PASSAGES),
    "code": (
        "def add(a, b):\n    return a + b\n\ndef subtract(a, b):\n    return",
        "for (int i = 0; i < n; i++) {\n    total += values[i];\n}\nfor (int j",
        "SELECT name, age FROM people WHERE age > 30 ORDER BY name;\nSELECT",
        "import numpy as np\n\nx = np.zeros(10)\ny = np.",
        "class Stack:\n    def __init__(self):\n        self.items = []\n\n    def push(self, item):\n        self.",
        '{"name": "draft", "layers": 1, "hidden": 128},\n{"name": "target", "layers":',
        "if x > 0:\n    print(x)\nelif x < 0:\n    print(-x)\nelse:\n    print(",
        "<ul>\n  <li>one</li>\n  <li>two</li>\n  <li>",
    ),
}
"""More of a text as the models know it; a passage said three times, to be said again; what they have never seen."""
