import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { listSessionPage } from "./list-session-page.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tau-page-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const header = (id: string, cwd = "/project") => ({
  type: "session",
  version: 3,
  id,
  cwd,
  timestamp: "2026-01-01T00:00:00.000Z",
});
const said = (role: string, text: string, second: number) => ({
  type: "message",
  id: `${second}`,
  parentId: null,
  timestamp: `2026-01-01T00:00:${String(second).padStart(2, "0")}.000Z`,
  message: { role, content: [{ type: "text", text }], timestamp: 1 },
});
const named = (name: string) => ({ type: "session_info", id: "n", parentId: null, name });

/** Writes a file dated to a second of the same day. */
const write = (name: string, second: number, lines: readonly object[], end = "\n") => {
  const path = join(folder, `${name}.jsonl`);
  writeFileSync(path, `${lines.map((line) => JSON.stringify(line)).join("\n")}${end}`);
  utimesSync(path, second, second);
  return path;
};
const filler = (count: number) =>
  Array.from({ length: count }, () => said("assistant", "x".repeat(1000), 30));

it("lists the latest sessions first, and says where the next page starts", async () => {
  for (const [second, name] of ["a", "b", "c", "d"].entries()) write(name, second, [header(name)]);
  write("not-a-session", 9, [{ type: "message" }]);
  write("elsewhere", 8, [header("elsewhere", "/other")]);
  const page = (start: number, limit: number) =>
    listSessionPage([folder], { cwd: "/project", start, limit });
  const first = await page(0, 3);
  expect(first.sessions.map(({ id }) => id)).toEqual(["d", "c", "b"]);
  const second = await page(first.next ?? 0, 3);
  expect(second.sessions.map(({ id }) => id)).toEqual(["a"]);
  expect(second.next).toBeUndefined();
  expect((await page(0, 4)).next).toBeUndefined();
  const all = await listSessionPage([folder, join(folder, "none")], { start: 0, limit: 9 });
  expect(all.sessions.map(({ id }) => id)).toEqual(["elsewhere", "d", "c", "b", "a"]);
});

it("takes prompt, name and time from the two ends of a long file without reading the rest", async () => {
  const path = write("long", 1, [
    header("long"),
    said("user", "Do it", 1),
    ...filler(4000),
    named("A name"),
    said("assistant", "Done", 59),
  ]);
  const handle = await open(path);
  const reads = vi.spyOn(Object.getPrototypeOf(handle), "read");
  await handle.close();
  const { sessions } = await listSessionPage([folder], { start: 0, limit: 1 });
  expect(sessions).toEqual([
    {
      path,
      id: "long",
      cwd: "/project",
      name: "A name",
      firstMessage: "Do it",
      modified: "2026-01-01T00:00:59.000Z",
    },
  ]);
  const bytes = reads.mock.calls.reduce((sum, [, , length]) => sum + Number(length), 0);
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThanOrEqual(128 * 1024);
  reads.mockRestore();
});

it("finds a first prompt after many other entries, and a line within both ends", async () => {
  write("late", 2, [header("late"), ...filler(200), said("user", "At last", 3)], "");
  const large = said("user", `Look ${"é".repeat(200_000)}`, 4);
  write("large", 1, [header("large"), large, named("Named")]);
  const { sessions } = await listSessionPage([folder], { start: 0, limit: 9 });
  expect(sessions).toMatchObject([
    { id: "late", firstMessage: "At last", modified: "2026-01-01T00:00:03.000Z" },
    { id: "large", firstMessage: expect.stringMatching(/^Look é+$/), name: "Named" },
  ]);
});

it("omits the prompt of a session without one, and skips empty files", async () => {
  write("silent", 1, [header("silent"), ...filler(2)]);
  write("empty", 2, [], "");
  const { sessions } = await listSessionPage([folder], { start: 0, limit: 9 });
  expect(sessions).toEqual([expect.not.objectContaining({ firstMessage: expect.anything() })]);
});
