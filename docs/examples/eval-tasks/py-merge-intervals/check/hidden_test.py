import unittest

from intervals import merge


class Intervals(unittest.TestCase):
    def test_intervals(self):
        self.assertEqual(merge([(5, 6), (1, 2), (2, 3)]), [(1, 3), (5, 6)])
        self.assertEqual(merge([(1, 10), (2, 3)]), [(1, 10)])
        self.assertEqual(merge([]), [])
        self.assertEqual(merge([[0, 0]]), [(0, 0)])
