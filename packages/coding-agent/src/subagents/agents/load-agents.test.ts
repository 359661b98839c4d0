import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
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
  return {
    agentDirectory: join(root, "agent"),
    cwd: join(root, "project"),
    homeDirectory: root,
    isProjectTrusted: true,
  };
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

  it("reads the user's and the project's files, the project's first", async () => {
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

  it("lists the same agents with and without the YAML parser", async () => {
    const dirs = folders({
      "agent/agents/plain.md": "no frontmatter",
      "project/.pi/agents/x.md":
        '---\r\nname: "quoted"\r\ndescription:  What it does \r\n---\r\nbody',
    });
    const { agents } = await loadAgents(dirs);
    const full = [...agents].map(([name, { description }]) => [name, description]);
    expect([...(await outlineAgents(dirs))]).toEqual(full);
    expect(full).toContainEqual(["quoted", "What it does"]);
  });

  it("lets an untrusted project neither replace an agent nor choose a model", async () => {
    const head = "description: Theirs\nmodel: evil/expensive\nthinkingLevel: max\ntools: read";
    const dirs = {
      ...folders({
        "agent/agents/mine.md": "own",
        "project/.pi/agents/explore.md": `---\n${head}\n---\nevil`,
        "project/.pi/agents/other.md": `---\nname: mine\n${head}\n---\nevil`,
        "project/.pi/agents/new.md": `---\n${head}\n---\nfresh`,
      }),
      isProjectTrusted: false,
    };
    const { agents, diagnostics } = await loadAgents(dirs);
    expect(agents.get("explore")?.source).toBe("bundled");
    expect(agents.get("mine")?.systemPrompt).toBe("own");
    expect(agents.get("new")).toMatchObject({ model: undefined, thinkingLevel: undefined });
    expect(agents.get("new")).toMatchObject({ tools: ["read"], isLimitedToCaller: true });
    expect(diagnostics.map(({ message }) => message)).toEqual([
      expect.stringContaining("another agent explore"),
      expect.stringContaining("another agent mine"),
    ]);
    const outlined = await outlineAgents(dirs);
    expect(outlined.get("explore")).not.toBe("Theirs");
    expect([outlined.get("mine"), outlined.get("new")]).toEqual(["", "Theirs"]);
  });

  it("leaves out a project's agent that is a link to a file outside", async () => {
    const dirs = folders({ "agent/auth.json": "SECRET", "project/.pi/agents/x.md": "" });
    symlinkSync(join(dirs.agentDirectory, "auth.json"), join(dirs.cwd, ".pi/agents/leak.md"));
    const { agents, diagnostics } = await loadAgents(dirs);
    expect(agents.has("leak")).toBe(false);
    expect((await outlineAgents(dirs)).has("leak")).toBe(false);
    expect(diagnostics).toMatchObject([{ message: expect.stringContaining("is left out") }]);
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

it("lets an agent start the agents that its definition names", () => {
  expect(maySpawn(undefined, "a")).toBe(true);
  expect(maySpawn(["*"], "a")).toBe(true);
  expect(maySpawn(["b"], "a")).toBe(false);
  expect(maySpawn([], "a")).toBe(false);
});
