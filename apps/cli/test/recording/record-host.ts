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

/** Records what a part of a host makes, as if a host of the dialect had sent it. */
export function recordFrames(frames: Iterable<object | string>, protocol = "pi"): void {
  for (const frame of frames) {
    const line = typeof frame === "string" ? frame : `${JSON.stringify(frame)}\n`;
    recordingOfParts(protocol).append("stdout", line);
  }
}

/** Records what a part of a host is given, as if a client had sent it. */
export function recordClientLine(line: string): void {
  recordingOfParts("pi").append("stdin", `${line.replaceAll("\n", " ")}\n`);
}
