import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toolCall, turn } from "@tau-agent/ai/testing";
import { onTestFinished } from "vitest";

/** An image of one pixel. */
const dot =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A local folder that represents another machine. */
export function elsewhere(): string {
  const folder = mkdtempSync(join(tmpdir(), "tau-elsewhere-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const put = (name: string, content: string | Uint8Array) =>
    writeFileSync(join(folder, name), content);
  mkdirSync(join(folder, "sub/deep"), { recursive: true });
  put("a.txt", "one\n");
  put("AGENTS.md", "Rules of the other place.\n");
  put(".gitignore", "*.log\n");
  put("long.txt", Array.from({ length: 3000 }, (_, at) => `line ${at}\r\n`).join(""));
  put("sub/deep/caf\u00e9 [1].ts", "const one = 1;\nconst two = 2;\n");
  put("sub/build.log", "one ignored\n");
  put("bytes.bin", Uint8Array.of(0, 1, 2, 255));
  put("dot.png", Buffer.from(dot, "base64"));
  // Has the name of an image but is not one.
  put("broken.png", Buffer.from(dot, "base64").subarray(0, 20));
  symlinkSync("a.txt", join(folder, "link"));
  symlinkSync("nowhere", join(folder, "dangling"));
  return folder;
}

const each = (...calls: (readonly [string, Record<string, unknown>])[]) =>
  turn(calls.map(([name, args]) => toolCall(name, args)));

/** Calls of all tools that act in a workspace, including errors; the results must be the same in each place. */
export const toolSuite = [
  each(
    ["read", { path: "a.txt" }],
    ["read", { path: "link" }],
    ["read", { path: "long.txt", offset: 2990 }],
    ["read", { path: "long.txt" }],
    ["read", { path: "bytes.bin" }],
    ["read", { path: "dot.png" }],
    ["read", { path: "broken.png" }],
    ["read", { path: "none.txt" }],
    ["read", { path: "sub" }],
    ["read", { path: "dangling" }],
    ["read", { path: "a.txt/x" }],
  ),
  each(
    ["ls", {}],
    ["ls", { path: "sub" }],
    ["ls", { path: "none" }],
    ["find", { pattern: "**/*.ts" }],
    ["find", { pattern: "*.log" }],
    ["grep", { pattern: "one" }],
    ["grep", { pattern: "ONE = ", ignoreCase: true, context: 1 }],
    ["grep", { pattern: "(", literal: true }],
  ),
  each(["edit", { path: "a.txt", edits: [{ oldText: "one", newText: "two" }] }]),
  each(
    ["edit", { path: "a.txt", edits: [{ oldText: "absent", newText: "x" }] }],
    ["edit", { path: "none.txt", edits: [{ oldText: "a", newText: "b" }] }],
    ["write", { path: "new/b.txt", content: "b" }],
    ["write", { path: "sub", content: "b" }],
    ["write", { path: "a.txt/x", content: "b" }],
  ),
  each(
    ["bash", { command: "pwd; cat a.txt; exit 3" }],
    ["bash", { command: "printf 'out\\n'; kill -KILL $$" }],
    ["bash", { command: "printf '\\377x\\n'; cat" }],
    ["bash", { command: "sleep 60", timeout: 0.3 }],
  ),
  turn("Done."),
];
