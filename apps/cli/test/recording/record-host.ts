import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, inject } from "vitest";
import { Recording } from "./recording.ts";

const repository = fileURLToPath(new URL("../../../..", import.meta.url));

/** File and name of the test that runs; of one of them when several do. */
export function currentTest(): string {
  const { testPath = "", currentTestName } = expect.getState();
  const file = relative(repository, testPath);
  return currentTestName === undefined ? file : `${file} > ${currentTestName}`;
}

/** A recording for a host in this process, which nothing else records. */
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

/** From here on a frame is long, and so is a text in it. */
const LONG_FRAME = 5_000;
const LONG_TEXT = 500;

/**
 * Records what a part of a host makes, as if a host of the dialect had sent it. Of long texts in long
 * frames it keeps the beginning: the schema asks no more of them, and a few tests had most of the bytes.
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

/** Records what a part of a host is given, as if a client had sent it. */
export function recordClientLine(line: string): void {
  recordingOfParts("pi").append("stdin", `${line.replaceAll("\n", " ")}\n`);
}
