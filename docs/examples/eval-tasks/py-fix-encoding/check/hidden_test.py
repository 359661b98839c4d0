import os
import tempfile
import unittest

from reader import read_lines


class Reader(unittest.TestCase):
    def lines(self, content):
        with tempfile.NamedTemporaryFile(delete=False) as file:
            file.write(content)
        try:
            return read_lines(file.name)
        finally:
            os.unlink(file.name)

    def test_lines(self):
        self.assertEqual(self.lines(b"\xef\xbb\xbfa\r\nb"), ["a", "b"])
        self.assertEqual(self.lines("\u00e9\nx".encode()), ["\u00e9", "x"])
