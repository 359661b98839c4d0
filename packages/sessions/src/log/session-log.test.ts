import {
  appendFileSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { seed, sliceSize } from "../../../../scripts/testing/slice.ts";
import {
  assistant,
  linesOf,
  message,
  namesIn,
  temporaryFolder,
  user,
} from "./__fixtures__/session-files.ts";
import { SessionLog } from "./session-log.ts";

const cwd = "/project";

/** A closed session file with a few messages, and its path. */
function writtenSession(folder = temporaryFolder()): string {
  const log = SessionLog.create({ cwd, directory: folder });
  log.append({ type: "model_change", provider: "p", modelId: "m" });
  log.append(message(user("first \u2028 ünï")));
  log.append(message(assistant("answer 😀")));
  log.append(message(user("second")));
  log.close();
  return log.path ?? "";
}

const load = (path: string) => SessionLog.load(path, { cwd });
const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail("was not refused"),
    (error: { code?: string; message?: string }) => error,
  );

describe("a path without a readable file", () => {
  it("is reported as a folder if it is one", async () => {
    const path = temporaryFolder();
    const { code, message } = await refusal(load(path));
    expect(code).toBe("session_invalid");
    expect(message).toBe(`Not a session file: ${path} (it is a folder, not a file)`);
    expect(namesIn(dirname(path))).not.toContain(`${basename(path)}.lock`);
  });

  it("is not reported as another kind of file if it cannot be read", async () => {
    const path = join(temporaryFolder(), "loop.jsonl");
    symlinkSync(path, path);
    const { code, message } = await refusal(load(path));
    expect(code).toBe("session_unreadable");
    expect(message).toMatch(/^Could not read the session .*loop\.jsonl: [^']* \(ELOOP\)$/);
  });
});

describe("a file in use", () => {
  it("is written again with the next entry of any kind after it was deleted", async () => {
    const path = writtenSession();
    const before = linesOf(path);
    const { log } = await load(path);
    unlinkSync(path);
    log.append({ type: "session_info", name: "still here" });
    log.append(message(user("third")));
    expect(linesOf(path).slice(0, before.length)).toEqual(before);
    expect(linesOf(path).slice(before.length)).toMatchObject([
      { type: "session_info", name: "still here" },
      { type: "message", message: { content: "third" } },
    ]);
    log.close();
    expect(namesIn(dirname(path))).toEqual([basename(path)]);
  });

  it("is neither written to nor taken for the same if another file replaces it", async () => {
    const path = writtenSession();
    const { log } = await load(path);
    writeFileSync(`${path}.new`, readFileSync(path));
    renameSync(`${path}.new`, path);
    const bytes = readFileSync(path, "utf8");
    const changed = expect.objectContaining({ code: "session_changed" });
    expect(() => log.check()).toThrow(changed);
    for (const _ of [1, 2]) expect(() => log.append(message(user("x")))).toThrow(changed);
    expect(() => log.check()).toThrow(changed);
    expect(readFileSync(path, "utf8")).toBe(bytes);
    log.close();
  });
});

describe("a new session", () => {
  it("leaves no file before its first user message", () => {
    const directory = join(temporaryFolder(), "deep", "sessions");
    const log = SessionLog.create({ cwd, directory });
    log.append({ type: "session_info", name: "Named" });
    log.append({ type: "thinking_level_change", thinkingLevel: "high" });
    expect(() => statSync(directory)).toThrow();
    log.close();
  });

  it("begins its file with the header and all waiting entries, in one chain", () => {
    const directory = temporaryFolder();
    const log = SessionLog.create({ cwd, directory, id: "my-id", parentSession: "/old.jsonl" });
    log.append({ type: "session_info", name: "Named" });
    log.append({ type: "thinking_level_change", thinkingLevel: "high" });
    log.append(message(user("hi")));
    const [header, ...entries] = linesOf(log.path ?? "");
    expect(header).toEqual({
      type: "session",
      version: 3,
      id: "my-id",
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      cwd,
      parentSession: "/old.jsonl",
    });
    expect(entries.map(({ type }) => type)).toEqual([
      "session_info",
      "thinking_level_change",
      "message",
    ]);
    expect(entries.map(({ parentId }) => parentId)).toEqual([null, entries[0]?.id, entries[1]?.id]);
    for (const { id } of entries) expect(id).toMatch(/^[0-9a-f]{8}$/);
    expect(log.path).toMatch(/\/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z_my-id\.jsonl$/);
    log.close();
  });

  it("is readable only by its owner", () => {
    const directory = join(temporaryFolder(), "sessions");
    const log = SessionLog.create({ cwd, directory });
    log.append(message(user("secret")));
    expect(statSync(log.path ?? "").mode & 0o777).toBe(0o600);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    log.close();
  });

  it("does not create its file for a shell command of the client alone", () => {
    const directory = temporaryFolder();
    const log = SessionLog.create({ cwd, directory });
    const rest = { output: "", cancelled: false, truncated: false, timestamp: 1 };
    log.append(message({ role: "bashExecution", command: "ls", exitCode: 0, ...rest }));
    expect(namesIn(directory)).toEqual([]);
    log.append(message(user("hi")));
    expect(linesOf(log.path ?? "")).toHaveLength(3);
    log.close();
  });

  it("in memory keeps everything and writes nothing", () => {
    const log = SessionLog.create({ cwd });
    log.append(message(user("hi")));
    log.append(message(assistant("hello")));
    expect(log.path).toBeUndefined();
    expect(log.tree.branch()).toHaveLength(2);
    log.close();
  });

  it("refuses entries once it is closed, and creates no file", () => {
    const directory = temporaryFolder();
    const log = SessionLog.create({ cwd, directory });
    log.close();
    expect(() => log.append(message(user("late")))).toThrow("closed");
    expect(namesIn(directory)).toEqual([]);
    expect(log.tree.entries).toEqual([]);
  });

  it("releases its lease when it is closed", () => {
    const folder = temporaryFolder();
    const path = writtenSession(folder);
    expect(namesIn(folder)).toEqual([path.split("/").at(-1)]);
  });
});

describe("a loaded session", () => {
  it("has the written entries, and continues from the last one", async () => {
    const path = writtenSession();
    const { log, diagnostics } = await load(path);
    expect(diagnostics).toEqual([]);
    expect(log.tree.entries).toEqual(linesOf(path).slice(1));
    const last = log.tree.leafId;
    const added = log.append(message(assistant("more")));
    expect(added.parentId).toBe(last);
    expect(linesOf(path).at(-1)).toEqual(added);
    log.close();
  });

  it("counts messages, tokens and cost, including those of abandoned branches", async () => {
    const { log } = await load(writtenSession());
    log.tree.moveLeaf(null);
    log.append(message(assistant("other")));
    expect(log.totals).toMatchObject({
      userMessages: 2,
      assistantMessages: 2,
      totalMessages: 4,
      cost: 0.6,
    });
    expect(log.totals.tokens).toEqual({
      input: 20,
      output: 10,
      cacheRead: 4,
      cacheWrite: 2,
      total: 36,
    });
    log.close();
  });

  it("has the latest name; an empty name clears it", async () => {
    const path = writtenSession();
    const { log } = await load(path);
    log.append({ type: "session_info", name: "One" });
    log.append({ type: "session_info", name: "Two" });
    expect(log.name).toBe("Two");
    log.append({ type: "session_info", name: "" });
    log.close();
    const again = await load(path);
    expect(again.log.name).toBeUndefined();
    again.log.close();
  });

  it("begins a new session if the file is missing or empty", async () => {
    const folder = temporaryFolder();
    const missing = await load(join(folder, "a.jsonl"));
    missing.log.append(message(user("hi")));
    expect(linesOf(join(folder, "a.jsonl"))).toHaveLength(2);
    missing.log.close();
    writeFileSync(join(folder, "b.jsonl"), "");
    const empty = await load(join(folder, "b.jsonl"));
    empty.log.append(message(user("hi")));
    expect(linesOf(join(folder, "b.jsonl"))).toHaveLength(2);
    empty.log.close();
  });

  it("keeps unknown entries and fields byte for byte", async () => {
    const path = writtenSession();
    const odd = `{"type":"from_the_future","id":"ffff0001","parentId":null,"timestamp":"2030-01-01T00:00:00Z","n":1.0,"x":{"é":[]}}\n`;
    appendFileSync(path, odd);
    const before = readFileSync(path);
    const { log, diagnostics } = await load(path);
    expect(diagnostics).toEqual([]);
    expect(log.tree.get("ffff0001")).toMatchObject({ type: "from_the_future", x: { é: [] } });
    const added = log.append(message(user("go on")));
    expect(added.parentId).toBe("ffff0001");
    expect(readFileSync(path).subarray(0, before.length)).toEqual(before);
    log.close();
  });

  it("reports damaged lines with their numbers and keeps the conversation around them", async () => {
    const path = writtenSession();
    const lines = readFileSync(path, "utf8").split("\n");
    lines[2] = '{"type":"message","id":"dead';
    lines.splice(4, 0, '["no entry"]', "", '{"type":"message","id":"x","parentId":null}');
    writeFileSync(path, lines.join("\n"));
    const before = readFileSync(path, "utf8");
    const { log, diagnostics } = await load(path);
    expect(diagnostics.map(({ line }) => line)).toEqual([3, 5, 7]);
    expect(diagnostics[0]).toMatchObject({ severity: "warning", path });
    // The damaged line was the parent of the next entry, but the chain still reaches the root.
    expect(log.tree.branch().map(({ type }) => type)).toEqual([
      "model_change",
      "message",
      "message",
    ]);
    expect(readFileSync(path, "utf8")).toBe(before);
    log.close();
  });

  it.each([
    ["text", "just some notes\n", "session_invalid"],
    ["JSON without header", '{"name":"package"}\n', "session_invalid"],
    ["a broken header", '{"type":"session","version":3,"id":\n', "session_damaged"],
    ["a header without id", '{"type":"session","version":3}\n', "session_damaged"],
    ["bytes", Buffer.from([0, 255, 254, 10, 0]), "session_invalid"],
    ["blank lines", "\n\n", "session_invalid"],
  ])("is refused and left alone when the file holds %s", async (_, content, code) => {
    const folder = temporaryFolder();
    const path = join(folder, "notes.jsonl");
    writeFileSync(path, content);
    const before = readFileSync(path);
    expect(await refusal(load(path))).toMatchObject({ code });
    expect(readFileSync(path)).toEqual(before);
    expect(namesIn(folder)).toEqual(["notes.jsonl"]);
  });

  it("of a later version is refused and left unchanged", async () => {
    const path = join(temporaryFolder(), "later.jsonl");
    const text = `${JSON.stringify({ type: "session", version: 4, id: "a", timestamp: "", cwd: "/" })}\n`;
    writeFileSync(path, text);
    const error = await refusal(load(path));
    expect(error).toMatchObject({ code: "session_invalid" });
    expect(String(error)).toContain("version 4");
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  it("is refused with the path when it cannot be read", async () => {
    const folder = temporaryFolder();
    const error = await refusal(load(folder));
    expect(error).toMatchObject({ code: "session_invalid" });
    expect(error.message).toContain(folder);
  });

  it("loads a hundred thousand entries in time linear in their number", async () => {
    const folder = temporaryFolder();
    const timeMs = async (count: number): Promise<number> => {
      const path = join(folder, `${count}.jsonl`);
      const lines = [JSON.stringify({ type: "session", version: 3, id: "s", timestamp: "", cwd })];
      for (let index = 0; index < count; index++) {
        const parentId = index === 0 ? null : (index - 1).toString(16).padStart(8, "0");
        const id = index.toString(16).padStart(8, "0");
        lines.push(
          JSON.stringify({ ...message(user(`message ${index}`)), id, parentId, timestamp: "" }),
        );
      }
      writeFileSync(path, `${lines.join("\n")}\n`);
      const start = performance.now();
      const { log } = await load(path);
      expect(log.tree.branch()).toHaveLength(count);
      log.close();
      return performance.now() - start;
    };
    await timeMs(10_000);
    const small = await timeMs(10_000);
    const large = await timeMs(100_000);
    // Ten times the entries; quadratic work would take a hundred times as long.
    expect(large).toBeLessThan(40 * Math.max(small, 20));
  });
});

describe("a file that was cut off", () => {
  it("keeps everything before the cut and sets a torn record aside, at every byte", async () => {
    const path = writtenSession();
    const whole = readFileSync(path);
    const headerEnd = whole.indexOf(0x0a) + 1;
    const step = sliceSize(7, 1);
    for (let size = whole.length - 1 - (seed % step); size >= headerEnd; size -= step) {
      writeFileSync(path, whole);
      truncateSync(path, size);
      const { log, diagnostics } = await load(path);
      const cut = whole.subarray(0, size);
      const complete = cut.subarray(0, cut.lastIndexOf(0x0a) + 1);
      const isWhole = whole[size] === 0x0a;
      const kept = isWhole ? Buffer.concat([cut, Buffer.from("\n")]) : complete;
      expect(readFileSync(path).equals(kept)).toBe(true);
      const torn = size > complete.length && !isWhole;
      expect(diagnostics.some(({ message: text }) => text.includes("cut off"))).toBe(torn);
      log.append(message(user("goes on")));
      log.close();
      expect(linesOf(path).at(-1)).toMatchObject({ message: { content: "goes on" } });
    }
  });

  it("loses no byte of the torn record", async () => {
    const folder = temporaryFolder();
    const path = writtenSession(folder);
    const whole = readFileSync(path);
    truncateSync(path, whole.length - 10);
    const { log } = await load(path);
    log.close();
    const aside = namesIn(folder).find((name) => name.includes(".torn-")) ?? "";
    const rebuilt = Buffer.concat([readFileSync(path), readFileSync(join(folder, aside))]);
    expect(rebuilt).toEqual(whole.subarray(0, whole.length - 10));
    expect(statSync(join(folder, aside)).mode & 0o777).toBe(0o600);
  });
});

describe("older files", () => {
  const version1 = [
    { type: "session", id: "old", timestamp: "2025-01-01T00:00:00Z", cwd, provider: "p" },
    { type: "message", timestamp: "2025-01-01T00:00:01Z", message: user("one") },
    { type: "message", timestamp: "2025-01-01T00:00:02Z", message: assistant("two") },
    { type: "compaction", timestamp: "t", summary: "S", firstKeptEntryIndex: 2, tokensBefore: 9 },
    { type: "message", timestamp: "2025-01-01T00:00:03Z", message: user("three"), extra: 1 },
  ];
  const write = (path: string, lines: readonly unknown[]) =>
    writeFileSync(path, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);

  it("of version 1 become a chain of version 3", async () => {
    const path = join(temporaryFolder(), "v1.jsonl");
    write(path, version1);
    const { log } = await load(path);
    const branch = log.tree.branch();
    expect(branch).toHaveLength(4);
    expect(branch[2]).toMatchObject({ type: "compaction", firstKeptEntryId: branch[1]?.id });
    expect(branch[2]).not.toHaveProperty("firstKeptEntryIndex");
    expect(branch[3]).toMatchObject({ extra: 1, message: { content: "three" } });
    expect(linesOf(path)[0]).toMatchObject({ version: 3, id: "old", provider: "p" });
    log.append(message(user("four")));
    log.close();
    const again = await load(path);
    expect(again.log.tree.branch()).toHaveLength(5);
    again.log.close();
  });

  it("of version 2 have their hook messages renamed", async () => {
    const path = join(temporaryFolder(), "v2.jsonl");
    const hook = {
      role: "hookMessage",
      customType: "x",
      content: "hi",
      display: true,
      timestamp: 1,
    };
    const entry = { type: "message", id: "a", parentId: null, timestamp: "t", message: hook };
    write(path, [{ type: "session", version: 2, id: "s", timestamp: "t", cwd }, entry]);
    const { log } = await load(path);
    expect(log.tree.get("a")).toMatchObject({ message: { role: "custom", customType: "x" } });
    log.close();
    expect(linesOf(path)[1]).toMatchObject({ message: { role: "custom" } });
  });

  it("are kept as a copy when a line is dropped", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "v1.jsonl");
    write(path, version1);
    appendFileSync(path, "half a rec");
    const before = readFileSync(path);
    const { log, diagnostics } = await load(path);
    log.close();
    const aside = namesIn(folder).find((name) => name.includes(".v1-")) ?? "";
    expect(readFileSync(join(folder, aside))).toEqual(before);
    expect(diagnostics.at(-1)?.message).toContain(aside);
    expect(linesOf(path)).toHaveLength(5);
  });

  it("are not changed while another host holds them", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "v1.jsonl");
    write(path, version1);
    const first = await load(path);
    write(path, version1);
    const before = readFileSync(path);
    expect(await refusal(load(path))).toMatchObject({ code: "session_locked" });
    expect(readFileSync(path)).toEqual(before);
    first.log.close();
  });
});
