import { describe, expect, it } from "vitest";
import { outputInTerminal } from "../support/in-terminal.ts";
import type { PlaceSetup } from "../support/place.ts";
import { runHost } from "../support/start-host.ts";

/** Clears the screen, sets the title, writes to the clipboard, and reverses text. */
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
  it.each(cases)("escapes the control characters of %s", async (_, setup) => {
    const output = await outputInTerminal(setup);
    expect(output).toContain(shown);
    expect(output).not.toMatch(raw);
  });
});

describe("the prompts of tau auth in a terminal", () => {
  const id = `vendor${hostile}`;
  const files = { "agent/models.json": JSON.stringify({ providers: { [id]: local } }) };
  const key = "typed-secret";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: readline writes them at each question
  const controlsOfQuestion = /\u001b\[\d*[GJ]/g;

  it("ask for a provider and its key, and escape control characters in names", async () => {
    const answers = [["Provider: ", "local\r"]] as const;
    const setup = { files: { "agent/models.json": JSON.stringify({ providers: { local } }) } };
    const asked = await outputInTerminal(setup, {
      words: ["auth", "login"],
      answers: [...answers, ["Key of local: ", `${key}\r`]],
    });
    expect(asked).toContain("\u001b[1G\u001b[0JProvider: ");
    expect(asked).toContain("\u001b[1G\u001b[0JKey of local: ");
    expect(asked).toContain("Stored the key of local in");
    expect(asked).not.toContain(key);
    expect(asked).not.toContain("\\u001b");
  });

  it("escape the control characters of a provider's name", async () => {
    const question = "cod.exe\\u000dend: ";
    const words = ["auth", "login", id, "--method", "key"];
    const asked = await outputInTerminal({ files }, { words, answers: [[question, `${key}\r`]] });
    expect(asked).toContain(`\u001b[1G\u001b[0JKey of vendor${shown}`);
    expect(asked).toContain(`Stored the key of vendor${shown}`);
    expect(asked).not.toContain(key);
    expect(asked.replaceAll(controlsOfQuestion, "")).not.toMatch(raw);
  });
});

it("passes a reply to a pipe unchanged", async () => {
  const result = await runHost({ scenario: [hostile], arguments: ["-p", "go"] });
  expect(result.stdout).toBe(`${hostile}\n`);
});
