import { expect, it } from "vitest";
import type { SettingValues } from "../../../../system/src/settings/schema.ts";
import type { ToolSelection } from "../../tools/tool-selection.ts";
import { project, run } from "./__fixtures__/task-call.ts";

/** The tools that a subagent's host must exclude. */
async function excluded(
  tools: ToolSelection,
  { agent, settings, depth }: { agent?: string; settings?: SettingValues; depth?: number } = {},
): Promise<string[]> {
  const found: string[] = [];
  const places = project({ ".pi/agents/theirs.md": "---\ntools: read, bash, write\n---\n" });
  await run(
    { task: "x", ...(agent === undefined ? {} : { agent }) },
    {},
    {
      ...(settings === undefined ? {} : { settings }),
      places: {
        ...places,
        tools,
        taskDepth: depth,
        startSubagentHost: async ({ args }) => {
          const at = args.indexOf("--exclude-tools");
          if (at !== -1) found.push(...String(args[at + 1]).split(","));
          throw new TypeError("enough");
        },
      },
    },
  );
  return found;
}

it("applies a list of tools to subagents", async () => {
  const found = await excluded({ only: ["read", "task"] });
  expect(found).toEqual(expect.arrayContaining(["bash", "edit", "write"]));
  expect(found).not.toContain("read");
});

it("applies a list of tools only to the session if the setting says so", async () => {
  const settings = { "task.narrowTools": false } as const;
  expect(await excluded({ only: ["read", "task"] }, { settings })).toEqual([]);
});

it("does not apply an agent's tools to the agents that it starts", async () => {
  expect(await excluded({ only: ["read", "task"] }, { depth: 1 })).toEqual(["task"]);
});

it("gives an agent of an untrusted project only tools that the session has", async () => {
  const settings = { "task.narrowTools": false, defaultTools: ["read", "task"] } as const;
  const found = await excluded({}, { agent: "theirs", settings });
  expect(found).toEqual(expect.arrayContaining(["bash", "edit", "write"]));
});
