import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../create/__fixtures__/test-session.ts";
import { loadRules } from "./load-rules.ts";
import { coversFiles } from "./rule-scope.ts";

/** Loads the rules in the folders of a home and a project, from a subfolder of the project. */
async function load(files: Record<string, string>) {
  const homeDirectory = temporaryFolder();
  mkdirSync(join(homeDirectory, "project/.git"), { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    const path = join(homeDirectory, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  const dirs = {
    homeDirectory,
    agentDirectory: join(homeDirectory, ".pi/agent"),
    cwd: join(homeDirectory, "project/sub"),
  };
  return { ...(await loadRules(dirs)), homeDirectory };
}

const rule = (trigger: string, more = "") => `---\nttsr_trigger: ${trigger}\n${more}---\nText`;

describe("stream rules", () => {
  it("are found in the folders of the user, the project and its parents", async () => {
    const { rules, diagnostics } = await load({
      ".pi/agent/rules/a.md": rule("a"),
      ".omp/agent/rules/b.md": rule("b"),
      ".agents/rules/c.md": rule("c"),
      "project/.agents/rules/d.md": rule("d"),
      "project/sub/.pi/rules/e.md": rule("e"),
      "project/sub/.pi/agent/rules/f.mdc": rule("f"),
      "project/sub/.omp/rules/g.md": rule("g"),
      "project/sub/.pi/rules/deeper/not.md": rule("not"),
      "project/sub/.pi/rules/.hidden.md": rule("not"),
      "project/.pi/rules/not.md": rule("not"),
    });
    expect(rules.map(({ name }) => name).sort()).toEqual(["a", "b", "c", "d", "e", "f", "g"]);
    expect(diagnostics).toEqual([]);
  });

  it("hide the user's rule of the same name if they are the project's, with a diagnostic", async () => {
    const { rules, diagnostics, homeDirectory } = await load({
      ".pi/agent/rules/mine.md": rule("user", "name: same\n"),
      "project/sub/.pi/rules/same.md": rule("project"),
    });
    expect(rules.map(({ patterns }) => patterns[0]?.source)).toEqual(["project"]);
    const path = join(homeDirectory, ".pi/agent/rules/mine.md");
    expect(diagnostics).toMatchObject([{ path, message: expect.stringContaining("is hidden by") }]);
  });

  it("accept one or several patterns, under each of the known attribute names", async () => {
    const { rules } = await load({
      ".pi/agent/rules/a.md": rule("['x', '(?i)y']", "description: About x\n"),
      ".pi/agent/rules/b.md": "---\ncondition: z\ndescription: Only this\n---\n",
      ".pi/agent/rules/c.md": "---\nttsrTrigger: 42\nglobs: '*.ts, *.js'\n---\r\nText\r\n",
    });
    expect(rules).toMatchObject([
      {
        name: "a",
        description: "About x",
        content: "Text",
        patterns: [{ source: "x" }, { source: "y", flags: "i" }],
      },
      { name: "b", content: "Only this", patterns: [{ source: "z" }] },
      { name: "c", patterns: [{ source: "42" }], scope: { globs: ["*.ts", "*.js"] } },
    ]);
  });

  it("have the form documented on their page", async () => {
    const example = new URL("../../../../../docs/examples/rules/no-console.md", import.meta.url);
    const { rules } = await load({
      ".pi/agent/rules/no-console.md": readFileSync(example, "utf8"),
    });
    const [rule] = rules;
    if (rule === undefined) throw new TypeError("no rule");
    expect(rule.patterns[0]).toMatchObject({ isLineBound: true });
    expect(coversFiles(rule.scope, "write", ["src/deep/a.ts"])).toBe(true);
    expect(coversFiles(rule.scope, "write", ["test/a.ts"])).toBe(false);
    expect(coversFiles(rule.scope, "bash", ["src/a.ts"])).toBe(false);
  });

  it("need a pattern to be stream rules, and a text to be valid", async () => {
    const { rules, diagnostics } = await load({
      ".pi/agent/rules/plain.md": "Be kind.",
      ".pi/agent/rules/always.md": "---\nalwaysApply: true\n---\nBe kind.",
      ".pi/agent/rules/empty.md": rule("x").replace("Text", ""),
    });
    expect(rules).toEqual([]);
    expect(diagnostics).toMatchObject([{ message: expect.stringContaining("it has no text") }]);
  });

  it("are left out with a short diagnostic if they are too long or have no pattern", async () => {
    const { rules, diagnostics } = await load({
      ".pi/agent/rules/a.md": rule("x").replace("Text", "long ".repeat(100_000)),
      ".pi/agent/rules/b.md": rule("{ on: x }"),
      ".pi/agent/rules/c.md": rule(`'(${"x".repeat(5000)}'`),
      ".pi/agent/rules/d.md": rule("fine"),
    });
    expect(rules).toMatchObject([{ name: "d" }]);
    expect(diagnostics).toMatchObject([
      { message: expect.stringContaining("a.md is left out: it is longer than 262144 characters") },
      {
        message: expect.stringContaining("b.md is left out: its ttsr_trigger is neither a string"),
      },
      { message: expect.stringContaining("Unterminated group") },
    ]);
    expect(diagnostics.at(-1)?.message.length).toBeLessThan(500);
  });
});
