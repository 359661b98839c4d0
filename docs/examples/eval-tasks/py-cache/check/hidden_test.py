import unittest

from cache import Cache


class Caches(unittest.TestCase):
    def test_the_oldest_goes(self):
        cache = Cache(2)
        made = []

        def make(key):
            return lambda: made.append(key) or key.upper()

        for key in "abacab":
            self.assertEqual(cache.get(key, make(key)), key.upper())
        self.assertEqual(made, ["a", "b", "c", "b"])
