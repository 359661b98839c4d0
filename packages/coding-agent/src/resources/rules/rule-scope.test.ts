import { describe, expect, it } from "vitest";
import { coversFiles, filesOf, interestIn, parseScope, splitList } from "./rule-scope.ts";

function scopeOf(tokens?: string[], globs?: string[]) {
  const scope = parseScope(tokens, globs);
  if ("unknown" in scope) throw new TypeError(scope.unknown);
  return scope;
}

describe("the scope of a rule", () => {
  it("includes text and all tools by default", () => {
    const scope = scopeOf();
    expect(scope).toMatchObject({ watchesText: true, watchesThinking: false });
    expect(interestIn(scope, "anything")).toBe("always");
  });

  it("may name tools, and files for each tool", () => {
    const scope = scopeOf(["thinking", "tool:edit(*.ts, src/**/*.{js,jsx})", "toolcall:bash"]);
    expect(scope).toMatchObject({ watchesText: false, watchesThinking: true });
    expect(["edit", "bash", "write"].map((name) => interestIn(scope, name))).toEqual([
      "file",
      "always",
      "never",
    ]);
    const covered = (path: string) => coversFiles(scope, "edit", [path]);
    expect(["deep/a.ts", "src/x/a.jsx", "a.jsx", "a.md"].map(covered)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(coversFiles(scope, "edit", [])).toBe(false);
  });

  it("is limited to calls about matching files if the rule has globs", () => {
    const scope = scopeOf(undefined, ["*.ts"]);
    expect(scope.watchesText).toBe(false);
    expect(interestIn(scope, "edit")).toBe("file");
    expect(coversFiles(scope, "edit", ["a.ts"])).toBe(true);
    const both = scopeOf(["tool:edit(src/*)"], ["*.ts"]);
    expect(coversFiles(both, "edit", ["src/a.md"])).toBe(false);
    expect(coversFiles(both, "edit", ["src/a.ts"])).toBe(true);
  });

  it.each(["everywhere", "text:a", "thinking(*.ts)", "tool(", ""])(
    "does not accept %j",
    (token) => {
      expect(parseScope([token], undefined)).toEqual({ unknown: token });
    },
  );

  it("is split at commas outside of brackets", () => {
    expect(splitList("text, tool:edit(*.ts,*.js) ,{a,b},")).toEqual([
      "text",
      "tool:edit(*.ts,*.js)",
      "{a,b}",
    ]);
  });
});

describe("the files of a call", () => {
  const call = (args: Record<string, unknown>) => ({
    type: "toolCall" as const,
    id: "1",
    name: "edit",
    arguments: args,
  });

  it("are known once their argument is complete", () => {
    expect(filesOf(call({ path: "src/a.t" }), false)).toBeUndefined();
    expect(filesOf(call({ path: "src/a.ts", content: "" }), false)).toEqual(["src/a.ts"]);
    expect(filesOf(call({ content: "", path: "a" }), true)).toEqual(["a"]);
    expect(filesOf(call({ paths: ["a", 1, "b"] }), true)).toEqual(["a", "b"]);
    expect(filesOf(call({ command: "ls" }), true)).toEqual([]);
  });
});
