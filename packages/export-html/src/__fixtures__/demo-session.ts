import { crc32, deflateSync } from "node:zlib";
import type { ExportSource } from "../export-html.ts";
import { call, SessionBuilder } from "./session-builder.ts";

const parserSource = `import { readFileSync } from "node:fs";

export interface Duration {
  readonly unit: "s" | "m" | "h";
  readonly amount: number;
}

/** Reads "90s", "15m" or "2h". */
export function parseDuration(text: string): Duration {
  const match = /^(\\d+)([smh])$/.exec(text);
  if (!match) throw new RangeError(\`Not a duration: \${text}\`);
  return { amount: Number(match[1]), unit: match[2] as Duration["unit"] };
}

export const defaults = JSON.parse(readFileSync("defaults.json", "utf8"));
`;

const editDiff = `  9  export function parseDuration(text: string): Duration {
-10    const match = /^(\\d+)([smh])$/.exec(text);
+10    const match = /^(\\d+(?:\\.\\d+)?)\\s*([smh])$/i.exec(text.trim());
 11    if (!match) throw new RangeError(\`Not a duration: \${text}\`);
-12    return { amount: Number(match[1]), unit: match[2] as Duration["unit"] };
+12    const unit = match[2].toLowerCase() as Duration["unit"];
+13    return { amount: Number(match[1]), unit };
 14  }`;

const finalAnswer = `\`parseDuration\` now accepts **fractions**, spaces and capital units, and still refuses anything else.

| Input | Before | Now |
|---|---|---|
| \`90s\` | 90 s | 90 s |
| \`1.5 H\` | error | 1.5 h |
| \`soon\` | error | error |

What changed:

1. The pattern takes an optional fraction and white space.
2. The unit is lower-cased before it is returned.

\`\`\`ts
parseDuration("1.5 H"); // { amount: 1.5, unit: "h" }
\`\`\`

All 14 tests pass. The grammar is described in [RFC 3339, appendix A](https://www.rfc-editor.org/rfc/rfc3339#appendix-A).`;

/** A session with a bit of everything, similar to real ones. */
export function demoSession(): ExportSource {
  const session = new SessionBuilder();
  session.add("model_change", { provider: "anthropic", modelId: "claude-sonnet-5" });
  session.add("thinking_level_change", { thinkingLevel: "medium" });
  const first = session.user(
    "`parseDuration` in src/duration.ts throws on `1.5h`. Make it accept fractions, and spaces before the unit. Keep the tests green.",
  );
  session.assistant([
    {
      type: "thinking",
      thinking:
        "Let me look at the parser and at its tests first. The regular expression is probably anchored to digits only.",
    },
    { type: "text", text: "I'll look at the parser and its tests." },
    call("c1", "read", { path: "src/duration.ts" }),
    call("c2", "grep", { pattern: "parseDuration\\(", path: "src" }),
  ]);
  session.result("c1", "read", { text: parserSource });
  session.result("c2", "grep", {
    text: 'src/duration.test.ts:8:  expect(parseDuration("90s"))\nsrc/timer.ts:21:  const wait = parseDuration(setting);',
  });
  session.assistant([
    call("c3", "edit", { path: "src/duration.ts", oldText: "…", newText: "…" }),
    call("c4", "bash", { command: "npx vitest run src/duration.test.ts" }),
  ]);
  session.result("c3", "edit", {
    text: "Successfully replaced text in src/duration.ts.",
    details: { diff: editDiff, firstChangedLine: 10 },
  });
  session.result("c4", "bash", {
    text: " \u001b[32m✓\u001b[39m src/duration.test.ts (14 tests) 6ms\n\n Test Files  1 passed (1)\n      Tests  14 passed (14)",
  });
  const answer = session.assistant(finalAnswer);
  addOtherBranch(session, first);
  session.leafId = answer;
  session.add("label", { targetId: answer, label: "works" });
  addSecondPart(session);
  return session.source({
    name: "Fractions in durations",
    systemPrompt: "You are a coding agent.\nWork in small steps and run the tests.",
    tools: [{ name: "read", description: "Read a file.", parameters: { type: "object" } }],
  });
}

function addOtherBranch(session: SessionBuilder, from: string): void {
  session.leafId = from;
  session.assistant("Shall I replace the parser with a library such as `ms`? It is smaller.");
  session.user("No, please keep our own parser.");
  session.assistant("Then I will extend the pattern instead: the libraryless way.");
}

function addSecondPart(session: SessionBuilder): void {
  session.add("branch_summary", {
    fromId: "id10",
    summary: "Using a library was proposed and **rejected**.",
  });
  session.add("message", {
    message: {
      role: "bashExecution",
      command: "git diff --stat",
      output: " src/duration.ts | 5 +++--\n 1 file changed, 3 insertions(+), 2 deletions(-)",
      exitCode: 0,
      cancelled: false,
      truncated: false,
    },
  });
  session.user([
    { type: "text", text: "Good. And what does this picture from the design show?" },
    { type: "image", mimeType: "image/png", data: gradientImage() },
  ]);
  session.add("compaction", {
    summary: "## Goal\nDurations with fractions.\n\n## Done\n- Parser extended\n- Tests green",
    firstKeptEntryId: "id2",
    tokensBefore: 81_400,
  });
  session.assistant([call("c5", "deploy_preview", { target: "staging", dryRun: true })]);
  session.result("c5", "deploy_preview", { text: "no such target: staging", isError: true });
  session.add("custom_message", {
    customType: "review-bot",
    content: "One reviewer approved the change.",
    display: true,
  });
  session.add("weather_report", { temperature: 21, note: "an entry of an unknown type" });
  session.assistant("It shows a gradient from blue to sand: the new theme of the timer page.");
}

/** A small PNG, generated here so that no binary file is needed. */
function gradientImage(): string {
  const [width, height] = [240, 60];
  const pixels = Buffer.alloc((width * 3 + 1) * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const at = y * (width * 3 + 1) + 1 + x * 3;
      const share = x / width;
      pixels.set([40 + 190 * share, 95 + 110 * share, 150 + 10 * share], at);
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    const check = Buffer.alloc(4);
    check.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, check]);
  };
  const parts = [chunk("IHDR", head), chunk("IDAT", deflateSync(pixels)), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), ...parts]).toString("base64");
}
