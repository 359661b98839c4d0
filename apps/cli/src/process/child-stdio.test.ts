import { describe, expect, it } from "vitest";
import { ownStdio } from "./child-stdio.ts";

describe("the stdio of a child process", () => {
  it.each([
    ["inherit", ["ignore", 2, "inherit"]],
    [
      ["inherit", "inherit", "inherit", "ipc"],
      ["ignore", 2, "inherit", "ipc"],
    ],
    [
      [0, 1, 2],
      ["ignore", 2, 2],
    ],
    [
      ["pipe", "pipe", 1],
      ["pipe", "pipe", 2],
    ],
    [
      [{ fd: 0 }, { _handle: { fd: 1 } }, "pipe"],
      ["ignore", 2, "pipe"],
    ],
  ])("replaces this process's stdin and stdout in %j", (given, expected) => {
    expect(ownStdio(given)).toEqual(expected);
  });

  it.each([["pipe"], ["ignore"], [["pipe", null, undefined]], [["ignore", 7, "overlapped"]]])(
    "leaves %j unchanged",
    (given) => {
      expect(ownStdio(given)).toEqual(given);
    },
  );
});
