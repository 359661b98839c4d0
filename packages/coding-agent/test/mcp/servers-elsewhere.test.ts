import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { WorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import { LocalWorkspace } from "@tau-agent/system";
import { expect, it } from "vitest";
import {
  callTool,
  fixtureEntry,
  fixtureTools,
  isAlive,
  textOf,
  workspaceForEach,
} from "./mcp-session.ts";

const places = workspaceForEach();

/** A workspace on this machine with its own variables, which the host treats as remote. */
function placeElsewhere(): LocalWorkspace {
  const { cwd, root } = places();
  const environment = { PATH: process.env.PATH, HOME: root, ROOM: root };
  const place = new LocalWorkspace({ cwd, environment, homeDirectory: root });
  return Object.defineProperty(place, "id", { value: "box" });
}

it("runs the project's servers in its workspace, with variables from there, and ends them with the session", async () => {
  const { cwd, root, agentDirectory } = places();
  const place = placeElsewhere();
  const started: unknown[] = [];
  const spawn = place.spawn.bind(place);
  place.spawn = (options) => {
    if (options.stdin === "open") started.push(options);
    return spawn(options);
  };
  mkdirSync(join(root, "home"));
  const ofUser = fixtureEntry({
    tools: fixtureTools("echo", "roots"),
    log: join(root, "user.log"),
  });
  await places().configure({ mine: { ...ofUser, exposure: "direct" } });
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of mcp.json
  const log = "${ROOM}/${NAME:-project}.log";
  const ofProject = fixtureEntry({ tools: fixtureTools("echo", "roots"), log });
  const more = { exposure: "direct", env: { SAID: "!echo from-$ROOM" }, cwd: "." };
  const mcpServers = { theirs: { ...ofProject, ...more } };
  writeFileSync(join(cwd, ".mcp.json"), JSON.stringify({ mcpServers }));

  const session = await places().openReady({
    workspace: place,
    trustProject: true,
    agentDirectory,
  });
  const { errors } = await session.mcp.connected();
  expect(errors).toEqual([]);
  expect(started).toMatchObject([{ cwd, environment: { SAID: `from-${root}` } }]);
  const { content } = await callTool(session, "mcp__theirs__echo");
  expect(content).toMatchObject([{ type: "text" }]);
  await callTool(session, "mcp__mine__echo");
  // The same path on this machine could be another folder.
  expect(textOf(await callTool(session, "mcp__theirs__roots"))).toContain(cwd);
  expect(textOf(await callTool(session, "mcp__mine__roots"))).not.toContain(cwd);
  expect(readFileSync(join(root, "user.log"), "utf8")).toContain("tools/call");

  const pid = Number(/start (\d+)/.exec(readFileSync(join(root, "project.log"), "utf8"))?.[1]);
  expect(isAlive(pid)).toBe(true);
  await session.dispose();
  await expect.poll(() => isAlive(pid), { timeout: 20_000 }).toBe(false);
});

it("reports a program that is missing in the workspace, and does not use this machine's", async () => {
  const { cwd, root } = places();
  const place = placeElsewhere();
  place.spawn = () => Promise.reject(new WorkspaceError("not_found", "nothing starts there"));
  const marker = join(root, "started");
  const mcpServers = { theirs: { command: "touch", args: [marker] } };
  writeFileSync(join(cwd, ".mcp.json"), JSON.stringify({ mcpServers }));
  const session = await places().open({ workspace: place, trustProject: true });
  const { servers } = await session.mcp.connected();
  expect(servers).toMatchObject([{ name: "theirs", error: expect.stringContaining("nothing") }]);
  expect(() => readFileSync(marker)).toThrow();
});
