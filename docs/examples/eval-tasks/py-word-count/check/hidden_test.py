import unittest

from words import count


class Words(unittest.TestCase):
    def test_words(self):
        self.assertEqual(count("It's it's IT a-b 'a'"), {"it's": 2, "it": 1, "a": 2, "b": 1})
        self.assertEqual(count("\u00c4pfel \u00e4pfel"), {"\u00e4pfel": 2})
        self.assertEqual(count(" ... "), {})
