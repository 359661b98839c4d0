import type { WorkspaceSearchRequest } from "@tau-agent/rpc-protocol/workspace";
import { type Bench, type Check, rejects, same } from "./bench.ts";

async function search(
  bench: Bench,
  request: Partial<WorkspaceSearchRequest> & Pick<WorkspaceSearchRequest, "kind" | "pattern">,
): Promise<{ readonly rows: readonly string[]; readonly truncated: boolean } | undefined> {
  const whole = { path: bench.folder, limit: 100, ...request };
  const found = await bench.workspace.search?.(whole);
  if (found === undefined) return undefined;
  const rows = found.matches.map(({ path, line, text }) =>
    [path.slice(bench.folder.length + 1), line, text?.replace(/\n$/u, "")]
      .filter((part) => part !== undefined)
      .join(":"),
  );
  return { rows: rows.toSorted(), truncated: found.truncated };
}

/** Checks for workspaces that have their own search. */
export const searchChecks: readonly Check[] = [
  {
    name: "search() for text gives path, line and text",
    run: async (bench) => {
      await bench.write("a.txt", "one\ntwo a.b\nthree\n");
      await bench.write("folder/b.md", "Two axb\n");
      const grep = async (pattern: string, more: Partial<WorkspaceSearchRequest> = {}) =>
        (await search(bench, { kind: "grep", pattern, ...more }))?.rows;
      const all = await grep("t[wh]");
      if (all === undefined) return;
      same(all, ["a.txt:2:two a.b", "a.txt:3:three"], "a regular expression");
      same(
        await grep("two", { ignoreCase: true }),
        ["a.txt:2:two a.b", "folder/b.md:1:Two axb"],
        "ignoreCase",
      );
      same(await grep("a.b"), ["a.txt:2:two a.b", "folder/b.md:1:Two axb"], "a dot");
      same(await grep("a.b", { literal: true }), ["a.txt:2:two a.b"], "literal");
      same(await grep("a.b", { glob: "*.md" }), ["folder/b.md:1:Two axb"], "glob");
    },
  },
  {
    name: "search() keeps to its limit, and says so",
    run: async (bench) => {
      await bench.write("file", "same\n".repeat(20));
      const few = await search(bench, { kind: "grep", pattern: "same", limit: 5 });
      if (few === undefined) return;
      same([few.rows.length, few.truncated], [5, true], "matches and truncated");
      const all = await search(bench, { kind: "grep", pattern: "same" });
      same([all?.rows.length, all?.truncated], [20, false], "matches and truncated");
    },
  },
  {
    name: "search() for names takes a glob",
    run: async (bench) => {
      for (const name of ["a.ts", "folder/b.ts", "c.md"]) await bench.write(name);
      const found = await search(bench, { kind: "find", pattern: "*.ts" });
      if (found !== undefined) same(found.rows, ["a.ts", "folder/b.ts"], "names");
    },
  },
  {
    name: "search() outside of within is not_allowed",
    run: async (bench) => {
      await bench.write("inside/file");
      if (bench.workspace.search === undefined) return;
      const within = { allow: [bench.at("inside")], deny: [] };
      await rejects(
        "not_allowed",
        () => search(bench, { kind: "grep", pattern: "x", within }),
        "search()",
      );
    },
  },
];
