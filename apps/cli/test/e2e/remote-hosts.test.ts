import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execPath } from "node:process";
import { toolCall } from "@tau-agent/ai/testing";
import { RpcClient } from "@tau-agent/rpc-client";
import { expect, it, onTestFinished } from "vitest";
import { describeWith } from "../../../../scripts/testing/describe-with.ts";
import { makePlace } from "../support/place.ts";
import { call, hostsOf, repositoryPlace, worker } from "../support/repository-place.ts";
import { sshIsMissing, startSshServer } from "../support/ssh-server.ts";
import { binPath, startHost } from "../support/start-host.ts";

/** The remote end of a command: the host's folder and environment. */
function remoteCommand(cwd: string, variables: Readonly<Record<string, string | undefined>>) {
  const words = ["HOME", "PI_CODING_AGENT_DIR"].flatMap((name) => {
    const value = variables[name];
    return value === undefined ? [] : [`${name}='${value}'`];
  });
  return `cd '${cwd}' && exec env ${words.join(" ")} '${execPath}' '${binPath}'`;
}

describeWith(sshIsMissing)("a host over ssh", () => {
  it("works in the other machine's folder and passes arguments unchanged", async () => {
    const ssh = await startSshServer();
    const place = makePlace({
      scenario: [{ content: [toolCall("bash", { command: "pwd -P; echo 'ü'" })] }, "done"] as never,
    });
    const client = new RpcClient({
      command: [...ssh, remoteCommand(place.cwd, place.variables)],
      args: [...place.arguments.slice(2), "--name", "two  words; 'quoted' $HOME"],
    });
    onTestFinished(async () => {
      await client.stop();
      place.remove();
    });
    await client.start();
    const { text, messages } = await client.promptAndWait("go");
    expect(text).toBe("done");
    expect(JSON.stringify(messages)).toMatch(/project\\nü\\n/);
    expect(await client.getState()).toMatchObject({ sessionName: "two  words; 'quoted' $HOME" });
    const job = client.bash("sleep 661");
    await client.abortBash();
    expect(await job).toMatchObject({ cancelled: true });
  });

  it("runs a subagent, and ends with the connection", async () => {
    const ssh = await startSshServer();
    const scenario = [
      ...worker("start", call("task", { tasks: [{ id: "one", task: "<one>" }] })),
      ...worker("<one>", call("bash", { command: "echo $SSH_CONNECTION > where.txt" })),
    ];
    const place = repositoryPlace(scenario);
    const command = [...ssh, remoteCommand(place.cwd, place.variables)];
    const settings = JSON.stringify({ "task.command": command });
    writeFileSync(join(place.folder, "agent", "settings.json"), settings);
    const host = startHost({}, { place });
    host.send({ type: "prompt", message: "start" });
    await host.until({ "...": true, type: "subagent_end", exitCode: 0 });
    await host.until({ "...": true, type: "prompt_result", status: "completed" });
    expect(readFileSync(join(place.cwd, "where.txt"), "utf8")).toContain("127.0.0.1");
    await host.finish();
    await expect.poll(() => hostsOf(place)).toEqual([]);
  });
});
