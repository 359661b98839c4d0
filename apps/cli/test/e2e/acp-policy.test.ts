import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { RequestPermissionRequest } from "@agentclientprotocol/sdk";
import type { ManagedPolicy } from "@tau-agent/rpc-protocol";
import { describe, expect, it } from "vitest";
import { Editor, type EditorSetup, makeEditorPlace } from "../support/acp-editor.ts";

const policy: ManagedPolicy = {
  permissions: { mode: "ask" },
  tools: { deny: ["write"] },
  models: ["scripted/*"],
  mcpServers: ["company-*"],
};
const call = { type: "toolCall" as const, name: "bash", arguments: { command: "touch made.txt" } };
/** A model that runs a command for each prompt, then answers. */
const scenario = [
  { repeat: true, when: { hasToolResults: false }, content: [call] },
  { repeat: true, when: { hasToolResults: true }, content: "Done." },
];
const loose = JSON.stringify({
  permissions: { mode: "all", rules: [{ tool: "*", action: "allow" }] },
  defaultTools: ["bash", "write"],
});
const files = { "agent/settings.json": loose, "project/.pi/settings.json": loose };
const managed = ["--approve", "--policy", JSON.stringify(policy)];

/** An editor whose user picks an option, whether it was offered or not; records the requests. */
async function start(optionId: string, setup: EditorSetup = {}) {
  const asked: RequestPermissionRequest[] = [];
  const editor = await Editor.start({
    scenario,
    files,
    arguments: managed,
    answers: (app) =>
      app.onRequest("session/request_permission", ({ params }) => {
        asked.push(params);
        return { outcome: { outcome: "selected", optionId } };
      }),
    ...setup,
  });
  const hasRun = () => existsSync(join(editor.place.cwd, "made.txt"));
  return { editor, asked, hasRun };
}

const denied = (member: string) =>
  expect.objectContaining({
    message: expect.stringContaining(`${member} is not allowed here`),
    data: { code: "policy_denied" },
  });

describe("an editor under a policy", () => {
  it("asks even if settings and project allow the call, and offers no permanent answer", async () => {
    const free = await start("reject_once", { arguments: ["--approve"] });
    const { sessionId: other } = await free.editor.open();
    await free.editor.prompt(other, "go");
    expect([free.asked.length, free.hasRun()]).toEqual([0, true]);

    const { editor, asked, hasRun } = await start("allow_always");
    const { sessionId } = await editor.open();
    for (const at of [1, 2]) {
      await editor.prompt(sessionId, "go");
      expect(asked).toHaveLength(at);
      expect(asked.at(-1)?.options.map(({ kind }) => kind)).not.toContain("allow_always");
      expect(hasRun()).toBe(false);
    }
    const stored = readFileSync(join(editor.place.folder, "agent/settings.json"), "utf8");
    expect(stored).toBe(loose);
  });

  it("cannot switch to a forbidden mode or model, and the session continues", async () => {
    const { editor, asked, hasRun } = await start("reject_once");
    const { sessionId, modes } = await editor.open();
    expect(modes?.currentModeId).toBe("ask");
    expect(modes?.availableModes.map(({ id }) => id)).toEqual(["ask", "readOnly"]);
    for (const modeId of ["all", "acceptEdits"]) {
      const setting = editor.agent.request("session/set_mode", { sessionId, modeId });
      await expect(setting).rejects.toEqual(denied("permissions.mode"));
    }
    const value = "anthropic/claude-sonnet-5";
    const choosing = editor.agent.request("session/set_config_option", {
      ...{ sessionId, configId: "model", value },
    });
    await expect(choosing).rejects.toMatchObject({ code: -32602 });
    await editor.prompt(sessionId, "go");
    expect([asked.length, hasRun()]).toEqual([1, false]);
    await editor.agent.request("session/set_mode", { sessionId, modeId: "readOnly" });
  });

  it("starts no MCP server that the policy does not name", async () => {
    const { editor } = await start("reject_once");
    const { cwd } = editor.place;
    const server = (name: string) => ({
      ...{ name, command: process.execPath, env: [] },
      args: ["-e", `require("fs").writeFileSync(${JSON.stringify(join(cwd, name))}, "")`],
    });
    const mcpServers = [server("mine")];
    const opening = editor.agent.request("session/new", { cwd, mcpServers });
    await expect(opening).rejects.toEqual(denied("mcpServers"));
    const { sessionId } = await editor.open();
    const loading = editor.agent.request("session/load", { sessionId, cwd, mcpServers });
    await expect(loading).rejects.toEqual(denied("mcpServers"));
    const own = { cwd, mcpServers: [server("company-one")] };
    await editor.agent.request("session/new", own);
    await editor.until(() => existsSync(join(cwd, "company-one")));
    expect(existsSync(join(cwd, "mine"))).toBe(false);
  });

  it("applies the policy's mode to a session that was less restricted before", async () => {
    const place = makeEditorPlace({ scenario, files, arguments: ["--approve"] });
    const first = await start("reject_once", { place });
    const { sessionId } = await first.editor.open();
    await first.editor.agent.request("session/set_mode", { sessionId, modeId: "acceptEdits" });
    await first.editor.agent.request("session/set_mode", { sessionId, modeId: "all" });
    await first.editor.prompt(sessionId, "hello");
    await first.editor.leave();
    const [folder = ""] = readdirSync(join(place.folder, "agent/sessions"));
    expect(folder).not.toBe("");
    const words = [...place.arguments.filter((word) => word !== "--approve"), ...managed];
    const held = await start("reject_once", { place: { ...place, arguments: words } });
    const { cwd } = place;
    const opened = await held.editor.agent.request("session/load", {
      ...{ sessionId, cwd, mcpServers: [] },
    });
    expect(opened.modes?.currentModeId).toBe("ask");
    await held.editor.prompt(sessionId, "go");
    expect(held.asked).toHaveLength(1);
  });
});
