import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, inject } from "vitest";
import { Recording } from "./recording.ts";

const repository = fileURLToPath(new URL("../../../..", import.meta.url));

/** File and name of the running test; one of them if several run. */
export function currentTest(): string {
  const { testPath = "", currentTestName } = expect.getState();
  const file = relative(repository, testPath);
  return currentTestName === undefined ? file : `${file} > ${currentTestName}`;
}

/** Creates a recording for a host in this process, which nothing else records. */
export function recordHost(
  argv: readonly string[],
  { PI_RPC_PROTOCOL: protocol }: { readonly PI_RPC_PROTOCOL?: string } = {},
): Recording {
  return new Recording(inject("recordings"), { test: currentTest(), argv, protocol });
}

let parts: { readonly key: string; readonly recording: Recording } | undefined;

function recordingOfParts(protocol: string): Recording {
  const key = `${protocol} ${currentTest()}`;
  if (parts?.key !== key) {
    parts = { key, recording: recordHost(["--mode", "rpc"], { PI_RPC_PROTOCOL: protocol }) };
  }
  return parts.recording;
}

/** Longer frames, and longer texts in them, are shortened. */
const LONG_FRAME = 5_000;
const LONG_TEXT = 500;

/**
 * Records the output of a part of a host as if a host of the dialect had sent it. Keeps only the beginning of
 * long texts in long frames: the schema checks no more of them, and a few tests produced most of the bytes.
 */
export function recordFrames(frames: Iterable<object | string>, protocol = "pi"): void {
  for (const frame of frames) {
    const line = typeof frame === "string" ? frame : lineOf(frame);
    recordingOfParts(protocol).append("stdout", line);
  }
}

function lineOf(frame: object): string {
  const line = JSON.stringify(frame);
  return `${line.length > LONG_FRAME ? JSON.stringify(frame, cut) : line}\n`;
}

function cut(_: string, value: unknown): unknown {
  return typeof value === "string" && value.length > LONG_TEXT ? value.slice(0, LONG_TEXT) : value;
}

/** Records the input of a part of a host as if a client had sent it. */
export function recordClientLine(line: string): void {
  recordingOfParts("pi").append("stdin", `${line.replaceAll("\n", " ")}\n`);
}
