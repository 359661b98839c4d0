"""Lines, partial JSON and replies that arrive in pieces."""

from __future__ import annotations

import json
import random
import time
import unittest
from typing import Any

from tau_rpc.lines import LineReader, decode_line, encode_line
from tau_rpc.partial_json import PartialJson
from tau_rpc.rebuild import MessageRebuilder

AWKWARD = "line\u2028para\u2029nel\x85 \r\n \U0001f49c \ud83d é \0 \"quoted\" \\ \x7f"


def read(data: bytes, size: int, limit: int = 1 << 20) -> tuple[list[bytes], list[int]]:
    lines: list[bytes] = []
    skipped: list[int] = []
    reader = LineReader(limit, lines.append, lambda _, length: skipped.append(length))
    for at in range(0, len(data), size):
        reader.feed(data[at : at + size])
    reader.end()
    return lines, skipped


class Lines(unittest.TestCase):
    def test_end_with_lf_only(self) -> None:
        frames = [{"type": "x", "text": AWKWARD}, {"type": "y", "n": 1}]
        data = b"".join(json.dumps(it, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
                        for it in frames[1:]) + encode_line(frames[0])
        for size in (1, 2, 3, 7, len(data)):
            lines, _ = read(data, size)
            self.assertEqual([decode_line(line) for line in lines], frames[::-1])

    def test_keep_line_separators_that_a_host_did_not_escape(self) -> None:
        line = '{"type":"x","text":"a\u2028b\x85c"}\r\n'.encode()
        lines, _ = read(line, 1)
        self.assertEqual([decode_line(it) for it in lines], [{"type": "x", "text": "a\u2028b\x85c"}])

    def test_are_sent_in_ascii_without_line_ends(self) -> None:
        line = encode_line({"text": AWKWARD})
        self.assertTrue(line.isascii())
        self.assertEqual(line.count(b"\n"), 1)
        self.assertEqual(json.loads(line), {"text": AWKWARD})

    def test_reject_numbers_that_json_does_not_allow(self) -> None:
        with self.assertRaises(ValueError):
            encode_line({"x": float("nan")})

    def test_skip_long_lines_without_keeping_them(self) -> None:
        data = b"a" * 5000 + b"\n" + b"b" * 10 + b"\n" + b"c" * 5000
        for size in (1, 100, 100_000):
            self.assertEqual(read(data, size, 1000), ([b"b" * 10], [5000, 5000]))

    def test_accept_a_frame_of_64_mib_in_linear_time(self) -> None:
        data = b'{"type":"' + b"x" * (64 << 20) + b'"}\n'
        began = time.process_time()
        lines, _ = read(data, 65536, 128 << 20)
        self.assertEqual(len(lines[0]), len(data) - 1)
        self.assertLess(time.process_time() - began, 5)


def documents(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.randrange(8 if depth < 3 else 5)
    if kind < 2:
        return rng.choice(["", AWKWARD.replace("\ud83d", ""), "x" * 50, "\\u0041", "💜" * 3])
    if kind < 5:
        return rng.choice([0, -1.5, 1e9, True, False, None, 123456])
    if kind < 6:
        return [documents(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {f"k{n}💜": documents(rng, depth + 1) for n in range(rng.randrange(4))}


class Partial(unittest.TestCase):
    def test_reads_any_document_however_it_is_split(self) -> None:
        rng = random.Random(7)
        for _ in range(300):
            document = {"": documents(rng)}
            text = json.dumps(document, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, 1]))
            reader = PartialJson()
            at = 0
            while at < len(text):
                size = rng.randrange(1, 9)
                reader.feed(text[at : at + size])
                at += size
            self.assertEqual(reader.value, document)

    def test_shows_strings_as_they_grow(self) -> None:
        reader = PartialJson()
        seen: list[Any] = []
        for piece in ('{"path":"a', "b.t", 'xt","n":1', "2,", '"ok":tr', "ue}", " rubbish"):
            reader.feed(piece)
            seen.append(dict(reader.value))
        self.assertEqual(seen[0], {"path": "a"})
        self.assertEqual(seen[1], {"path": "ab.t"})
        self.assertEqual(seen[2], {"path": "ab.txt"})
        self.assertEqual(seen[3], {"path": "ab.txt", "n": 12})
        self.assertEqual(seen[5], {"path": "ab.txt", "n": 12, "ok": True})
        self.assertEqual(seen[6], seen[5])

    def test_keeps_valid_values_before_an_error(self) -> None:
        for bad in ('{"a":1,,', '{"a":1]', '{"a":1,"b":nope}', '{"a":1,"b":01x', '{"a":1} {'):
            reader = PartialJson()
            reader.feed(bad)
            self.assertEqual(reader.value.get("a"), 1)


def updates(kind: str, pieces: list[str]) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = [{"type": f"{kind}_start", "id": "c", "toolName": "write"}]
    steps += [{"type": f"{kind}_delta", "delta": piece} for piece in pieces]
    return [
        {"type": "message_update", "assistantMessageEvent": {"contentIndex": 0, **step}}
        for step in steps
    ]


START = {"type": "message_start", "message": {"role": "assistant", "content": [], "model": "m"}}


class Rebuilding(unittest.TestCase):
    def test_gives_each_step_the_message_so_far(self) -> None:
        rebuilder = MessageRebuilder()
        rebuilder.apply(START)
        seen = [
            rebuilder.apply(it)["message"]["content"][0]["text"]
            for it in updates("text", ["He", "llo ", "\ud83d", "\udc9c"])
        ]
        self.assertEqual(seen, ["", "He", "Hello ", "Hello \ud83d", "Hello 💜"])

    def test_does_not_modify_frames_of_other_readers(self) -> None:
        frames = [START, *updates("toolcall", ['{"a":"', 'b"}'])]
        before = json.dumps(frames)
        first, second = MessageRebuilder(), MessageRebuilder()
        for frame in frames:
            first.apply(frame)
        for frame in frames:
            second.apply(frame)
        self.assertEqual(json.dumps(frames), before)

    def test_continues_from_another_reader(self) -> None:
        for kind, pieces in (("text", ["a", "b", "c"]), ("toolcall", ['{"a":"x', "y", 'z"}'])):
            frames = updates(kind, pieces)
            first = MessageRebuilder()
            for frame in (START, *frames[:3]):
                first.apply(frame)
            late = MessageRebuilder(first)
            self.assertEqual(first.apply(frames[3]), late.apply(frames[3]))

    def test_accepts_unknown_steps_and_nonsense(self) -> None:
        rebuilder = MessageRebuilder()
        far = {"type": "text_start", "contentIndex": 10**9}
        odd = {"type": "text_delta", "contentIndex": "0", "delta": 7}
        for step in ({"type": "new_kind", "contentIndex": 0}, {}, {"type": "text_delta"}, None, far, odd):
            event = rebuilder.apply({"type": "message_update", "assistantMessageEvent": step})
            self.assertEqual(event["message"]["content"], [])

    def test_starts_over_when_the_start_of_a_message_was_filtered_out(self) -> None:
        rebuilder = MessageRebuilder()
        for frame in (START, *updates("text", ["First"])):
            rebuilder.apply(frame)
        seen = [
            rebuilder.apply(it)["message"]["content"][0]["text"] for it in updates("text", ["Next"])
        ]
        self.assertEqual(seen, ["", "Next"])

    def test_passes_nonsense_on_unchanged(self) -> None:
        rebuilder = MessageRebuilder()
        nonsense: list[dict[str, Any]] = [
            {"type": "message_start", "message": {"role": "assistant", "content": [1, None]}},
            {"type": "message_start", "message": 7},
            {"type": "message_update", "message": {}, "assistantMessageEvent": []},
        ]
        for frame in nonsense:
            self.assertEqual(rebuilder.apply(frame), frame)

    def test_costs_no_more_per_step_in_a_long_reply(self) -> None:
        for kind, piece in (("text", "x" * 100), ("thinking", "é" * 100), ("toolcall", "x" * 100)):
            frames = updates(kind, ['{"a":"' if kind == "toolcall" else "", *[piece] * 40_000])
            rebuilder = MessageRebuilder()
            began = time.process_time()
            for frame in frames:
                rebuilder.apply(frame)
            self.assertLess(time.process_time() - began, 3, kind)
