import { randomBytes } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeLine } from "@tau-agent/rpc-protocol/plain";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sliceSize } from "../../../scripts/testing/slice.ts";
import { hostileTexts } from "../../markup/src/__fixtures__/hostile-texts.ts";
import { codeSession } from "./__fixtures__/code-session.ts";
import { demoSession } from "./__fixtures__/demo-session.ts";
import { longSession } from "./__fixtures__/long-session.ts";
import { call, SessionBuilder } from "./__fixtures__/session-builder.ts";
import { failedLog, workSession } from "./__fixtures__/work-session.ts";
import { defaultExportName, exportHtml, exportHtmlToFile } from "./export-html.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tau-export-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** The part of the page that is shown without a script. */
const bodyOf = (page: string) => page.slice(page.indexOf("<main"), page.indexOf("<template"));

describe("the page", () => {
  it("shows the current branch without a script, and keeps the others in a template", async () => {
    const page = await exportHtml(demoSession());
    expect(bodyOf(page)).toContain("still refuses anything else");
    expect(bodyOf(page)).not.toContain("Shall I replace the parser");
    expect(page.slice(page.indexOf("<template"))).toContain("Shall I replace the parser");
  });

  it("shows the change of an edit, coloured code, and output without terminal codes", async () => {
    const body = bodyOf(await exportHtml(demoSession()));
    expect(body).toContain("<del>-10    const match");
    expect(body).toContain("<ins>+13    return { amount");
    expect(body).toContain('<i class="k">interface</i>');
    expect(body).toContain(" ✓ src/duration.test.ts (14 tests) 6ms");
    expect(body).not.toContain("[32m");
  });

  it("shows tokens and cost of each reply and in total", async () => {
    const body = bodyOf(await exportHtml(demoSession()));
    expect(body).toContain("9.4k in · 310 out · 8.2k cached · $0.011");
    expect(body).toContain("<dt>Cost</dt><dd>$0.077</dd>");
    const totals = { tokens: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 }, cost: 12.5 };
    expect(await exportHtml({ ...demoSession(), totals })).toContain("<dd>$12.50</dd>");
  });

  it("shows every kind of entry, including unknown ones", async () => {
    const body = bodyOf(await exportHtml(demoSession()));
    for (const text of [
      "anthropic/claude-sonnet-5",
      "<code>medium</code>",
      "Context compacted at 81.4k tokens",
      "Summary of another branch",
      "One reviewer approved the change.",
      "an entry of an unknown type",
      '<span class="label">works</span>',
      "no such target: staging",
      "You are a coding agent.",
    ]) {
      expect(body).toContain(text);
    }
  });

  it("derives a change from the arguments when the result lacks it", async () => {
    const session = new SessionBuilder();
    session.user("go");
    const edits = [{ oldText: "a\nb", newText: "a\nc" }];
    session.assistant([call("1", "edit", { path: "x", edits })]);
    const body = bodyOf(await exportHtml(session.source()));
    expect(body).toContain("<code> a<del>-b</del><ins>+c</ins></code>");
    expect(body).toContain("No result");
  });

  it("shows an SVG as text and a broken image as a word", async () => {
    const session = new SessionBuilder();
    const data = Buffer.from("<svg onload=alert(1)>").toString("base64");
    session.user([
      { type: "image", mimeType: "image/svg+xml", data },
      { type: "image", mimeType: "image/png", data: '"onerror=' },
    ]);
    const body = bodyOf(await exportHtml(session.source()));
    expect(body).toContain("&lt;svg onload=alert(1)&gt;");
    expect(body).toContain("Image that cannot be shown");
    expect(body).not.toContain("<img");
  });

  it("allows its own script and style by their hashes and nothing else", async () => {
    const page = await exportHtml(demoSession());
    const [, policy = ""] = /Content-Security-Policy" content="([^"]*)"/.exec(page) ?? [];
    expect(policy.replaceAll("&#39;", "'")).toMatch(
      /^default-src 'none'; script-src 'sha256-[\w+/=]+'; style-src 'sha256-[\w+/=]+'; img-src data:; base-uri 'none'; form-action 'none'; trusted-types 'none'; require-trusted-types-for 'script'$/,
    );
    expect(page).not.toMatch(/ (?:style|on\w+)="/);
    expect(page).not.toMatch(/(?:src|href)="(?!#|data:image\/|https:\/\/www\.rfc-editor\.org)/);
  });
});

describe("longer work", () => {
  let body: string;
  beforeEach(async () => {
    body = bodyOf(await exportHtml(workSession(directory)));
  });

  it("shows todos as checklists: the latest state above all, earlier ones as one line", () => {
    const latest = /<section class="latest" id="todos">.*?<\/section>/s.exec(body)?.[0] ?? "";
    expect(latest).toContain("2 of 4 done");
    expect(
      [
        ...latest.matchAll(
          /<li class="(\w+)"><span class="box" role="img" aria-label="([\w ]+)">/g,
        ),
      ].map(([, ...found]) => found),
    ).toEqual([
      ["completed", "Done"],
      ["completed", "Done"],
      ["in_progress", "In progress"],
      ["abandoned", "Dropped"],
    ]);
    const states = [...body.matchAll(/<details class="fold todo"( open)?><summary>([^<]*)/g)];
    expect(states.map(([, open, title]) => [open !== undefined, title?.trim()])).toEqual([
      [false, "0 of 4 done"],
      [true, "2 of 4 done"],
    ]);
  });

  it("shows a task with its patch, its checks with logs, and its cost", () => {
    const task = /<section class="task">.*?<\/section>/s.exec(body)?.[0] ?? "";
    expect(task).toContain("2 min 3 s");
    expect(task).toContain("113k in · 2.1k out · 91.0k cached · $0.123");
    expect(task).toContain("<code>src/ledger.ts</code>");
    expect(task).toContain("<del>-  return Math.floor(amount);</del><ins>+  // Half a cent");
    expect(task).toContain("<del>--- a line of SQL</del>");
    expect(task).toContain("<code>CHANGES.md</code> · new");
    expect(task).toContain('<span class="status failed">✗ tests</span> <code>node --test</code>');
    expect(task).toContain("<summary>14 earlier lines</summary>");
    expect(task).toContain(failedLog.split("\n").at(-1));
    expect(task).not.toContain("only the end");
  });

  it("shows what is known about a task whose files are gone", async () => {
    rmSync(join(directory, "work"), { recursive: true });
    const session = { ...workSession(directory), path: join(directory, "moved.jsonl") };
    const page = bodyOf(await exportHtml(session));
    expect(page).toContain("The patch is not beside the session: ");
    expect(page).toContain("<li><code>src/ledger.ts</code></li>");
    expect(page).toContain("only the end");
  });

  it("shows how long things took, and a date or a model only where it changes", () => {
    expect(body).toContain('<span class="took">12 s</span>');
    expect(body).toContain('<span class="took">42 s</span>');
    expect(body).toContain('<span class="took">2 min 3 s</span>');
    expect(body.match(/>2026-11-20 09:12/g)).toHaveLength(2);
    expect(body.match(/<time [^>]*>2026-11-21 10:15</g)).toHaveLength(1);
    expect(body.match(/class="model"[^>]*>[^<]*/g)?.map((model) => model.split(">")[1])).toEqual([
      "claude-sonnet-5",
      "claude-opus-5",
    ]);
  });

  it("folds output after ten lines, and aligns numbers to the right", () => {
    expect(body).toContain("<summary>38 more lines</summary>");
    expect(body).toContain('<td align="right">1 204 551</td>');
  });
});

/** A session in which every text in every kind of entry is `text`. */
function sessionFullOf(text: string) {
  const session = new SessionBuilder();
  session.user(text, { attachments: [{ fileName: text, extractedText: text }] });
  session.user([{ type: text }, { type: "image", mimeType: text, data: text }]);
  const blocks = [
    { type: "text", text },
    { type: "thinking", thinking: text },
    call(text, text, { [text]: text }),
    ...["read", "bash", "edit", "write", "grep"].map((name) =>
      call(`${name}${text}`, name, {
        path: text,
        command: text,
        content: text,
        oldText: text,
        newText: text,
        pattern: text,
      }),
    ),
  ];
  session.assistant(blocks, { model: text, provider: text, errorMessage: text });
  session.result(text, text, { text, details: { diff: text, patch: text } });
  session.result(`edit${text}`, "edit", { text, details: { diff: text } });
  session.result(`bash${text}`, "bash", { text, isError: true });
  session.add("message", { message: { role: text, content: text } });
  session.add("message", {
    message: { role: "bashExecution", command: text, output: text, fullOutputPath: text },
  });
  session.add("custom_message", { customType: text, content: text, display: true });
  session.add("custom", { customType: text, data: text });
  session.add("compaction", { summary: text });
  session.add("branch_summary", { summary: text });
  session.add("model_change", { provider: text, modelId: text });
  session.add("thinking_level_change", { thinkingLevel: text });
  session.add("session_info", { name: text });
  session.add("label", { targetId: "id0", label: text });
  session.add(text, { [text]: text, timestamp: text });
  const source = session.source({
    name: text,
    systemPrompt: text,
    tools: [{ name: text, description: text, parameters: text }],
  });
  return { ...source, header: { ...source.header, cwd: text, timestamp: text } };
}

/** The tags of a page, which a browser would turn into elements. */
const tagsOf = (page: string) =>
  page.slice(page.indexOf("<body>"), page.lastIndexOf("<script>")).match(/<[^>]*>?/g) ?? [];

describe("hostile sessions", () => {
  it.each(hostileTexts)("add neither elements nor attributes anywhere: %j", async (text) => {
    const page = await exportHtml(sessionFullOf(text));
    expect(page.match(/<script/g)).toHaveLength(3);
    expect(page.match(/<\/script/g)).toHaveLength(3);
    expect(page.match(/<template/g)).toHaveLength(1);
    for (const tag of tagsOf(page)) {
      expect(tag).not.toMatch(/^<(?:iframe|object|embed|base|form|svg|math|link|meta|style)\b/i);
      const attributes = tag.replace(/="[^"]*"/g, "");
      expect(attributes).toMatch(/^<[!/]?[\w-]+(?: [a-z][a-z-]*)*>$/);
      expect(attributes).not.toMatch(/ on|style|srcdoc/);
    }
  });

  it("export an entry with any fields, without losing other entries", async () => {
    const value = fc.oneof(
      fc.anything({ maxDepth: 3 }).filter((found) => typeof found !== "bigint"),
      fc.constantFrom("assistant", "user", "toolResult", "toolCall", null, [], [null], {
        toString: null,
      }),
    );
    const keys = fc.constantFrom(
      "role",
      "content",
      "usage",
      "toolCallId",
      "details",
      "model",
      "command",
    );
    const message = fc.dictionary(keys, value);
    const block = fc.dictionary(
      fc.constantFrom("type", "id", "arguments", "text", "source"),
      value,
    );
    const type = fc.constantFrom("message", "custom", "compaction", "label", "custom_message", "x");
    const entry = fc.record({ type, message, content: value, summary: value, data: value });
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { maxLength: 6 }),
        fc.array(block),
        async (found, blocks) => {
          const session = new SessionBuilder();
          for (const { type: name, ...fields } of found) session.add(name, fields);
          session.assistant(blocks);
          session.user("the last word");
          expect(await exportHtml(session.source())).toContain("the last word");
        },
      ),
      { numRuns: 150 },
    );
  });

  it("export data that is nested too deeply to be printed", async () => {
    const session = new SessionBuilder();
    session.add("custom", {
      customType: "deep",
      data: JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`),
    });
    session.user("after it");
    expect(await exportHtml(session.source())).toContain("after it");
  });
});

/** The CPU time of this process so far, in ms. */
function busyMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

describe("long sessions", () => {
  it("take time linear in their size, and let other work run meanwhile", async () => {
    await exportHtml(longSession(100));
    const measure = async (entries: number) => {
      const source = longSession(entries);
      // Measured in CPU time of this process, so that other work on the machine does not count.
      const start = busyMs();
      let longest = 0;
      let last = start;
      const timer = setInterval(() => {
        longest = Math.max(longest, busyMs() - last);
        last = busyMs();
      }, 1);
      const page = await exportHtml(source);
      clearInterval(timer);
      return { spent: busyMs() - start, longest, megabytes: page.length / 1e6 };
    };
    const small = await measure(1250);
    const large = await measure(5000);
    expect(large.spent / large.megabytes).toBeLessThan((small.spent / small.megabytes) * 2.5);
    expect(large.spent).toBeLessThan(2000 + 1500 * large.megabytes);
    expect(large.longest).toBeLessThan(250);
  });

  it.each([
    ["output", longSession, 2000],
    ["code", codeSession, sliceSize(500, 2000)],
    ["data", dataSession, sliceSize(500, 2000)],
    ["images", imageSession, 2000],
  ])(
    "of %s make pages of less than twice their size, with the session in them",
    async (_, build, entries) => {
      const source = build(entries);
      const size = [source.header, ...source.entries].map(encodeLine).join("").length;
      const page = await exportHtml(source);
      expect(page).toMatch(/id="jsonl"[^>]*>[\w+/]{10000}/);
      expect(Buffer.byteLength(page) / size).toBeLessThan(1.9);
    },
  );

  it.each([
    ["emphasis that begins everywhere", "_a_".repeat(33_000)],
    ["emphasis of two kinds", "_*a".repeat(33_000)],
    ["code that the highlighter backtracks on", `\`\`\`markdown\n${"[a](".repeat(7_000)}\n\`\`\``],
    ["a long name in code", `\`\`\`java\n${"$".repeat(28_000)}\n\`\`\``],
  ])("show %s as plain text instead of parsing it for minutes", async (_, text) => {
    const session = new SessionBuilder();
    session.user(text);
    session.assistant("*done*");
    const page = await exportHtml(session.source());
    expect(page).toContain(text.split("\n").at(text.includes("\n") ? 1 : 0));
    if (text.startsWith("```")) expect(page).toContain('<pre class="code"><code>');
    expect(page).toContain("<em>done</em>");
  });

  it.each([
    ["commands to a terminal that do not end", "\u001b]".repeat(200_000)],
    ["empty lines before a word", "\n".repeat(400_000)],
  ])("show output with %s", async (_, text) => {
    const session = new SessionBuilder();
    session.user("go");
    session.assistant([call("c1", "bash", { command: "run" })]);
    session.result("c1", "bash", { text: `${text}\nlast word` });
    expect(await exportHtml(session.source())).toContain("last word");
  });

  it("stop when asked to", async () => {
    await expect(exportHtml(longSession(500), { signal: AbortSignal.abort() })).rejects.toThrow(
      "aborted",
    );
  });
});

/** A session that reads files consisting only of short strings and numbers. */
function dataSession(size: number) {
  const session = new SessionBuilder();
  for (let turn = 0; session.entries.length < size; turn += 1) {
    session.user(`Read ${turn}`);
    session.assistant([call(`r${turn}`, "read", { path: "data.json" })]);
    const rows = Array.from({ length: 60 }, (_, row) => ({
      id: turn * 60 + row,
      ok: true,
      "<a>": row % 7,
    }));
    session.result(`r${turn}`, "read", { text: JSON.stringify(rows, null, 1) });
  }
  return session.source();
}

/** A session with screenshots, which compression does not make smaller. */
function imageSession(size: number) {
  const session = new SessionBuilder();
  while (session.entries.length < size) {
    const data = randomBytes(6_000).toString("base64");
    session.user([{ type: "image", mimeType: "image/png", data }]);
    session.assistant("I see.");
  }
  return session.source();
}

describe("exportHtmlToFile", () => {
  it("writes the same page, readable by its owner only, and creates missing directories", async () => {
    const path = join(directory, "a/b/page.html");
    await exportHtmlToFile(demoSession(), path);
    expect(readFileSync(path, "utf8")).toBe(await exportHtml(demoSession()));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(directory, "a/b"))).toEqual(["page.html"]);
  });

  it("reports why it cannot write, and leaves nothing behind", async () => {
    mkdirSync(join(directory, "taken"));
    const path = join(directory, "taken");
    await expect(exportHtmlToFile(demoSession(), path)).rejects.toMatchObject({
      name: "SessionError",
      code: "export_failed",
      message: expect.stringContaining(`Could not write the page to ${path}: `),
    });
    await expect(exportHtmlToFile(demoSession(), "/dev/null/x.html")).rejects.toMatchObject({
      code: "export_failed",
    });
    expect(readdirSync(directory)).toEqual(["taken"]);
  });

  it("replaces neither a session nor a device, and follows links", async () => {
    const header = '{"type":"session","version":3,"id":"a"}\n';
    writeFileSync(join(directory, "session"), header);
    symlinkSync(join(directory, "session"), join(directory, "link"));
    writeFileSync(join(directory, "old.html"), "old");
    symlinkSync(join(directory, "old.html"), join(directory, "new.html"));
    for (const path of [join(directory, "session"), join(directory, "link"), "/dev/null"]) {
      const refused = { code: "export_failed", message: expect.stringContaining(path) };
      await expect(exportHtmlToFile(demoSession(), path)).rejects.toMatchObject(refused);
    }
    expect(readFileSync(join(directory, "session"), "utf8")).toBe(header);
    expect(statSync("/dev/null").isFile()).toBe(false);
    await exportHtmlToFile(demoSession(), join(directory, "new.html"));
    expect(readFileSync(join(directory, "old.html"), "utf8")).toContain("<!doctype html>");
  });

  it("does not follow links in a folder that commands can change", async () => {
    const [project, outside] = [join(directory, "project"), join(directory, "outside")];
    for (const folder of [project, outside]) mkdirSync(folder);
    writeFileSync(join(outside, "page.html"), "untouched");
    symlinkSync(join(outside, "page.html"), join(project, "page.html"));
    symlinkSync(outside, join(project, "folder"));
    const options = { changeable: project };
    await exportHtmlToFile(demoSession(), join(project, "page.html"), options);
    expect(lstatSync(join(project, "page.html")).isFile()).toBe(true);
    for (const name of ["folder/page.html", "folder/new/page.html"]) {
      await expect(
        exportHtmlToFile(demoSession(), join(project, name), options),
      ).rejects.toMatchObject({
        code: "export_failed",
        message: expect.stringMatching(/symbolic link/),
      });
    }
    await exportHtmlToFile(demoSession(), join(project, "a/b/page.html"), options);
    expect(readdirSync(project).sort()).toEqual(["a", "folder", "page.html"]);
    expect(readFileSync(join(project, "a/b/page.html"), "utf8")).toContain("<!doctype html>");
    expect(readdirSync(outside)).toEqual(["page.html"]);
    expect(readFileSync(join(outside, "page.html"), "utf8")).toBe("untouched");
  });

  it("refuses a session without a conversation", async () => {
    const session = new SessionBuilder();
    session.add("model_change", { provider: "a", modelId: "b" });
    const path = join(directory, "page.html");
    await expect(exportHtmlToFile(session.source(), path)).rejects.toMatchObject({
      code: "nothing_to_export",
      message: "Nothing to export yet - start a conversation first",
    });
    expect(readdirSync(directory)).toEqual([]);
  });
});

it.each([
  [
    "/home/a/.pi/sessions/--x--/2026-11-20T09-12-00-000Z_0d9f.jsonl",
    "tau-session-2026-11-20T09-12-00-000Z_0d9f.html",
  ],
  ["C:\\sessions\\one two.jsonl", "tau-session-one-two.html"],
  ["0d9f7c2e-5b1a", "tau-session-0d9f7c2e-5b1a.html"],
  ["", "tau-session-export.html"],
])("names the page of %s", (session, name) => {
  expect(defaultExportName(session)).toBe(name);
});
