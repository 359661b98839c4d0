import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "vitest";

const entry = { id: "a", parentId: null, timestamp: "2026-01-01T00:00:00.000Z" };

it("writes an entry without its message", () => {
  const folder = mkdtempSync(join(tmpdir(), "tau-entry-"));
  const file = openSync(join(folder, "session.jsonl"), "a");
  const line = `${JSON.stringify({ type: "message", ...entry })}\n`;
  writeSync(file, line.slice(0, 10));
  writeSync(file, Buffer.from(`..${line.slice(10)}`), 2);
  closeSync(file);
  rmSync(folder, { recursive: true });
});
