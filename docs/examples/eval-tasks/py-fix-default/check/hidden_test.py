import unittest

from tags import add_tag


class Tags(unittest.TestCase):
    def test_calls_are_apart(self):
        self.assertEqual(add_tag("a"), ["a"])
        self.assertEqual(add_tag("b"), ["b"])

    def test_the_list_stays(self):
        own = ["x"]
        self.assertEqual(add_tag("y", own), ["x", "y"])
        self.assertEqual(own, ["x"])
