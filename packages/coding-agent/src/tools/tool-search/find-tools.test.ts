import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findTools } from "./find-tools.ts";

const tools = [
  { name: "mcp__tracker__create_issue", description: "Creates an issue in a project." },
  { name: "mcp__tracker__list_issues", description: "Lists the issues of a project." },
  { name: "sendMail", description: "Sends a message to one or several people." },
  { name: "calendar", description: "Finds free time of people and books a meeting." },
  { name: "issue", description: "About something else entirely." },
  { name: "übersetzen", description: "翻訳する文章" },
];
const found = (query: string, limit = 10) => findTools(tools, query, limit).map(({ name }) => name);

describe("findTools", () => {
  it.each([
    ["calendar", ["calendar"]],
    ["ISSUE", ["issue"]],
    ["sendmail, calendar", ["sendMail", "calendar"]],
    ["calendar calendar", ["calendar"]],
  ])("returns exactly the tools that %j names", (query, names) => {
    expect(found(query)).toEqual(names);
  });

  it.each([
    ["mail", "sendMail"],
    ["create an issue", "mcp__tracker__create_issue"],
    ["list issue", "mcp__tracker__list_issues"],
    ["book a meeting", "calendar"],
    ["messages", "sendMail"],
    ["翻訳", "übersetzen"],
    ["ÜBERSETZEN bitte", "übersetzen"],
  ])("ranks the tool that %j means first", (query, name) => {
    expect(found(query)[0]).toBe(name);
  });

  it("finds nothing for words that occur in no tool", () => {
    for (const query of ["", " , ", "zzz", "__", "()[*"]) expect(found(query)).toEqual([]);
  });

  it("keeps the order of tools that match equally well, and the limit", () => {
    const same = Array.from({ length: 9 }, (_, index) => ({
      name: `tool_${index}`,
      description: "Does it.",
    }));
    const names = findTools(same, "does", 3).map(({ name }) => name);
    expect(names).toEqual(["tool_0", "tool_1", "tool_2"]);
  });

  it("finds every tool by its exact name, and only that tool, whatever the others are", () => {
    const tool = fc.record({
      name: fc.stringMatching(/^[a-z0-9_-]{1,12}$/),
      description: fc.string(),
    });
    fc.assert(
      fc.property(
        fc.uniqueArray(tool, { minLength: 1, selector: ({ name }) => name }),
        fc.nat(),
        (some, pick) => {
          const one = some[pick % some.length]!;
          expect(findTools(some, one.name, 5)).toEqual([one]);
        },
      ),
    );
  });
});
