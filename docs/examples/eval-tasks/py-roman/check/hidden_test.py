import unittest

from roman import to_roman


class Roman(unittest.TestCase):
    def test_numbers(self):
        for number, numeral in ((1, "I"), (4, "IV"), (90, "XC"), (1994, "MCMXCIV"), (3999, "MMMCMXCIX")):
            self.assertEqual(to_roman(number), numeral)

    def test_others(self):
        for value in (0, 4000, -1, 1.5, "3"):
            with self.assertRaises(ValueError):
                to_roman(value)
