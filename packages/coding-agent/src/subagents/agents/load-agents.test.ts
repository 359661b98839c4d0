import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../create/__fixtures__/test-session.ts";
import { maySpawn } from "./agent-definition.ts";
import { loadAgents, outlineAgents } from "./load-agents.ts";

function folders(files: Record<string, string>) {
  const root = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(root, name, ".."), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return { agentDirectory: join(root, "agent"), cwd: join(root, "project") };
}

describe("loadAgents", () => {
  it("has four built-in agents, three of which cannot change files", async () => {
    const { agents } = await loadAgents(folders({}));
    expect([...agents.keys()]).toEqual(["task", "explore", "plan", "reviewer"]);
    for (const name of ["explore", "plan", "reviewer"]) {
      expect(agents.get(name)?.tools).not.toContain("edit");
      expect(agents.get(name)?.tools).not.toContain("write");
    }
  });

  it("reads files of the user and the project, the project's first", async () => {
    const head = "---\nname: explore\ndescription: Mine\n";
    const { agents } = await loadAgents(
      folders({
        "agent/agents/explore.md": `${head}tools: read, bash\n---\nuser's`,
        "agent/agents/other.md": "no frontmatter",
        "project/.pi/agents/explore.md": `${head}tools:\n  - read\nmodel: a/b\nthinkingLevel: low\nspawns: "*"\n---\nproject's`,
      }),
    );
    expect(agents.get("explore")).toEqual({
      name: "explore",
      description: "Mine",
      tools: ["read"],
      model: "a/b",
      thinkingLevel: "low",
      spawns: ["*"],
      systemPrompt: "project's",
      source: "project",
    });
    expect(agents.get("other")?.systemPrompt).toBe("no frontmatter");
  });

  it("accepts the capitalised tool names of other hosts", async () => {
    const file = "---\ntools: Read, grep\n---\n";
    const { agents } = await loadAgents(folders({ "agent/agents/a.md": file }));
    expect(agents.get("a")?.tools).toEqual(["Read", "read", "grep"]);
  });

  it("outlines the same agents without a parser", async () => {
    const dirs = folders({
      "agent/agents/plain.md": "no frontmatter",
      "project/.pi/agents/x.md":
        '---\r\nname: "quoted"\r\ndescription:  What it does \r\n---\r\nbody',
    });
    const { agents } = await loadAgents(dirs);
    const full = [...agents].map(([name, { description }]) => [name, description]);
    expect([...outlineAgents(dirs)]).toEqual(full);
    expect(full).toContainEqual(["quoted", "What it does"]);
  });

  it("skips and reports unreadable files", async () => {
    const { agents, diagnostics } = await loadAgents(
      folders({
        "agent/agents/bad.md": "---\n[\n---\n",
        "agent/agents/worse.md": "---\nthinkingLevel: hard\n---\n",
      }),
    );
    expect(agents.size).toBe(4);
    expect(diagnostics.map(({ message }) => message)).toEqual([
      expect.stringContaining("not valid YAML"),
      expect.stringContaining("thinkingLevel"),
    ]);
  });
});

it("an agent may start the agents that its definition names", () => {
  expect(maySpawn(undefined, "a")).toBe(true);
  expect(maySpawn(["*"], "a")).toBe(true);
  expect(maySpawn(["b"], "a")).toBe(false);
  expect(maySpawn([], "a")).toBe(false);
});
