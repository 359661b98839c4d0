import { describe, expect, it } from "vitest";
import { outputInTerminal } from "../support/in-terminal.ts";
import type { PlaceSetup } from "../support/place.ts";
import { runHost } from "../support/start-host.ts";

/** Clears the screen, sets the title, writes to the clipboard, and turns text around. */
const hostile = "\u001b[2J\u001b]0;title\u0007\u009b31m\u001b]52;c;aGk=\u0007\u202ecod.exe\rend";
const shown = "\\u001b[2J\\u001b]0;title\\u0007";
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const raw = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202e]|\r(?![\r\n])/;

const models = [{ id: `m${hostile}`, contextWindow: 8000, maxTokens: 1000 }];
const local = { baseUrl: "http://127.0.0.1:9", apiKey: "k", api: "openai-completions", models };

const cases: readonly (readonly [string, PlaceSetup])[] = [
  ["a reply", { scenario: [hostile], arguments: ["-p", "go"] }],
  [
    "a model's error",
    {
      scenario: [{ content: "", fault: { kind: "status", status: 401, message: hostile } }],
      arguments: ["-p", "go"],
    },
  ],
  [
    "the list of models",
    {
      files: { "agent/models.json": JSON.stringify({ providers: { local } }) },
      arguments: ["-p", "--list-models"],
    },
  ],
  ["the name of a file", { arguments: ["-p", `@${hostile}`] }],
  ["an unknown option", { arguments: ["-p", `--${hostile}`] }],
  [
    "an extension's log",
    {
      scenario: ["ok"],
      files: {
        "agent/extensions/log.js": `export default () => console.log(${JSON.stringify(hostile)});`,
      },
      arguments: ["-p", "go"],
    },
  ],
  ["events", { scenario: [hostile], arguments: ["--mode", "json", "go"] }],
];

describe("in a terminal", () => {
  it.each(cases)("shows the control characters of %s", async (_, setup) => {
    const output = await outputInTerminal(setup);
    expect(output).toContain(shown);
    expect(output).not.toMatch(raw);
  });
});

it("passes a reply on to a pipe as it is", async () => {
  const result = await runHost({ scenario: [hostile], arguments: ["-p", "go"] });
  expect(result.stdout).toBe(`${hostile}\n`);
});
