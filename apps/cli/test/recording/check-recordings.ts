import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { decodeClientFrame, LineDecoder } from "@tau-agent/rpc-protocol";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { isAllowed, schemaViolation } from "../support/published-schema.ts";
import { entryViolation, SchemaCheck } from "../support/schema-check.ts";
import {
  type Channel,
  type NotedRefusal,
  OWNER_FILE,
  type RecordingOwner,
  takeNotedRefusals,
  UNRECORDED_FILE,
  type UnrecordedHost,
} from "./recording.ts";

/** A violation of the schema. */
export interface Violation {
  readonly test: string;
  /** The source of the value. */
  readonly from: string;
  readonly problem: string;
}

/** The results for all recordings of a run. */
export interface Outcome {
  readonly violations: readonly Violation[];
  readonly unrecorded: readonly UnrecordedHost[];
  /** Requests that loopback servers refused after the test that started them had ended. */
  readonly refusals: readonly NotedRefusal[];
  /** The number of lines by kind. */
  readonly counts: ReadonlyMap<string, number>;
  /** The tests that recorded frames of a host. */
  readonly tests: ReadonlySet<string>;
}

/** Validates everything recorded in a folder against the published schema. */
export function checkRecordings(root: string): Outcome {
  const violations: Violation[] = [];
  const counts = new Map<string, number>();
  const tests = new Set<string>();
  const count = (kind: string) => counts.set(kind, (counts.get(kind) ?? 0) + 1);
  for (const name of readdirSync(root)) {
    if (!name.startsWith("recording-")) continue;
    const folder = join(root, name);
    const owner: RecordingOwner = JSON.parse(readFileSync(join(folder, OWNER_FILE), "utf8"));
    const report = { violations, count };
    if (checkHost(folder, owner, report) > 0) tests.add(owner.test);
    checkSessions(folder, owner, report);
  }
  const path = join(root, UNRECORDED_FILE);
  const unrecorded = existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n") : [];
  return {
    violations,
    unrecorded: unrecorded.map((line) => JSON.parse(line)),
    refusals: takeNotedRefusals(root),
    counts,
    tests,
  };
}

interface Report {
  readonly violations: Violation[];
  count(kind: string): void;
}

/** @returns the number of frames that the host has sent */
function checkHost(folder: string, owner: RecordingOwner, report: Report): number {
  const { argv, test, protocol } = owner;
  const mode = modeOf(argv);
  if (mode === undefined) return 0;
  const check = new SchemaCheck({ arguments: argv, variables: { PI_RPC_PROTOCOL: protocol } });
  let sent = 0;
  for (const line of linesOf(folder, "stdout")) {
    const frame = parsed(line);
    const problem = frame === undefined ? `no frame: ${line}` : check.violation(frame);
    report.count(mode === "json" ? "lines of the mode json" : `host frames of ${check.dialect}`);
    sent += 1;
    if (problem === undefined) continue;
    report.violations.push({ test, from: `from a host: ${argv.join(" ")}`, problem });
  }
  if (mode === "rpc") checkClient(folder, { test, dialect: check.dialect }, report);
  return sent;
}

/** Checks that the host accepts a line if and only if the schema does. */
function checkClient(
  folder: string,
  { test, dialect }: { test: string; dialect: string },
  { violations, count }: Report,
): void {
  for (const line of linesOf(folder, "stdin")) {
    const frame = parsed(line);
    if (frame === undefined) continue;
    const meant = withoutNulls(frame);
    const decoded = decodeClientFrame(line);
    const isRefused = decoded.kind === "error";
    count(isRefused ? "client frames that are refused" : `client frames in ${dialect}`);
    if (isAllowed("ClientFrame", meant) !== isRefused) continue;
    const problem = isRefused
      ? `is allowed, but refused: ${decoded.error}\n${line}`
      : schemaViolation("ClientFrame", meant);
    violations.push({ test, from: "from a client", problem: problem ?? "" });
  }
}

/** Like the host: many clients send null for an absent member. */
function withoutNulls(frame: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(frame).filter(([, member]) => member !== null));
}

function checkSessions(folder: string, owner: RecordingOwner, { violations, count }: Report): void {
  for (const record of linesOf(folder, "sessions")) {
    const [test = "", path = ""] = record.split("\t", 2);
    const line = record.slice(test.length + path.length + 2);
    const entry = parsed(line);
    const problem = entry === undefined ? `no entry: ${line}` : entryViolation(entry);
    count("session entries");
    if (problem !== undefined) {
      violations.push({ test: test || owner.test, from: `session file ${path}`, problem });
    }
  }
}

/** The mode, if its lines are frames. */
function modeOf(argv: readonly string[]): "rpc" | "json" | undefined {
  if (argv.some((word) => /^--(export|list-models|version|help)$/.test(word))) return undefined;
  const at = argv.lastIndexOf("--mode");
  const mode = at === -1 ? argv.find((word) => word.startsWith("--mode="))?.slice(7) : argv[at + 1];
  return mode === "rpc" || mode === "json" ? mode : undefined;
}

/** One read buffer for thousands of recordings. */
const part = Buffer.alloc(1024 * 1024);

/** The recorded lines, without an incomplete last line of a killed host. */
export function* linesOf(folder: string, channel: Channel): Generator<string> {
  const decoder = new LineDecoder();
  const parts = readdirSync(folder).filter((found) => found.startsWith(channel));
  for (const name of parts.toSorted()) {
    const file = openSync(join(folder, name), "r");
    for (let size = readSync(file, part); size > 0; size = readSync(file, part)) {
      // The decoder keeps the given bytes until the end of the line.
      yield* textsOf(decoder.push(Uint8Array.prototype.slice.call(part, 0, size)));
    }
    closeSync(file);
  }
  if (channel === "stdin") yield* textsOf(decoder.end());
}

function* textsOf(
  lines: Iterable<{ text: string } | { oversizedBytes: number }>,
): Generator<string> {
  for (const line of lines) if ("text" in line) yield line.text;
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
