import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { bubblewrapIsMissing } from "../../../../packages/system/src/sandbox/__fixtures__/has-bubblewrap.ts";
import { describeWith } from "../../../../scripts/testing/describe-with.ts";
import { FrameClient } from "../support/frame-client.ts";
import { listeningHost } from "../support/listening-host.ts";
import { call, repositoryPlace, worker } from "../support/repository-place.ts";
import { startHost } from "../support/start-host.ts";

const settings = (sandbox: object) => ({
  "agent/settings.json": JSON.stringify({ sandbox }),
});

describeWith(bubblewrapIsMissing)("the sandbox of a host with many sessions", () => {
  it("is described to a client that has no session", async () => {
    const files = settings({ mode: "readOnly", network: ["example.com"] });
    const { unixUrl } = await listeningHost({ files });
    const client = await FrameClient.connect(unixUrl);
    const { data } = await client.ask({ type: "get_capabilities" });
    expect(data).toMatchObject({
      name: "tau",
      sandbox: {
        available: true,
        mechanism: "bubblewrap",
        mode: "readOnly",
        network: ["example.com"],
      },
    });
  });

  it("protects the port and token of the host from a session in its own process", async () => {
    const files = settings({ mode: "workspace", network: "all" });
    // In a folder that the sandbox's private temporary folder does not hide.
    const folder = mkdtempSync("/var/tmp/tau-token-");
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const words = ["--isolate", "process", "--token-file", join(folder, "token")];
    const { unixUrl, url, tokenFile } = await listeningHost({ files, arguments: words });
    const client = await FrameClient.connect(unixUrl);
    const sessionId = await client.open();
    const { port } = new URL(url);
    const run = async (command: string) => {
      const { data } = await client.ask({ type: "bash", command, sessionId });
      return (data as { output: string }).output;
    };
    expect(await run(`cat ${tokenFile}; echo read`)).toMatch(/denied|not permitted/i);
    const connect = `(exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null && echo reached || echo closed`;
    expect(await run(connect)).toBe("closed\n");
  });
});

describeWith(bubblewrapIsMissing)("an isolated subagent in the sandbox", () => {
  it("commits in its tree, but changes no settings or hooks there", async () => {
    // The tree reads the project's objects, which a private /tmp would hide.
    vi.stubEnv("TMPDIR", "/var/tmp");
    onTestFinished(() => void vi.unstubAllEnvs());
    const commit = "git -c user.name=T -c user.email=t@localhost commit -qm work";
    const command = [
      `echo work > new.txt && git add new.txt && ${commit} && echo committed > said.txt`,
      "git config core.fsmonitor evil || echo no settings >> said.txt",
      "mkdir -p $(git rev-parse --git-dir)/hooks/x || echo no hooks >> said.txt",
    ].join("; ");
    const place = repositoryPlace(
      [
        ...worker("<child>", call("bash", { command })),
        ...worker("start", call("task", { task: "<child>", isolated: true })),
      ],
      { sandbox: { mode: "workspace" } },
    );
    const host = startHost({}, { place });
    host.send({ type: "prompt", message: "start" });
    await host.until({ "...": true, type: "prompt_result", status: "completed" });
    const said = readFileSync(join(place.cwd, "said.txt"), "utf8");
    expect(said).toBe("committed\nno settings\nno hooks\n");
    expect(readFileSync(join(place.cwd, "new.txt"), "utf8")).toBe("work\n");
    expect((await host.finish()).code).toBe(0);
  });
});

describeWith(bubblewrapIsMissing)("a host started by task.command", () => {
  const delegating = (command: readonly string[]) =>
    repositoryPlace(
      [
        ...worker("<child>", call("bash", { command: "touch /var/tmp/tau-never; echo $?" })),
        ...worker("start", call("task", { task: "<child>" })),
      ],
      { "task.command": command, sandbox: { mode: "workspace" } },
    );
  const outcome = async (place: ReturnType<typeof delegating>) => {
    const host = startHost({}, { place });
    host.send({ type: "prompt", message: "start" });
    const end = await host.until({ "...": true, type: "tool_execution_end" });
    await host.until({ "...": true, type: "prompt_result" });
    return { isError: end.isError, text: JSON.stringify(end.result) };
  };
  const tau = join(import.meta.dirname, "../../bin/tau.js");

  it("gets no work if it does not confirm the sandbox", async () => {
    const place = delegating([
      ...["env", "-u", "TAU_SUBAGENT_SANDBOX", "PI_CODING_AGENT_DIR=/var/empty"],
      ...[process.execPath, tau],
    ]);
    const { isError, text } = await outcome(place);
    expect(isError).toBe(true);
    expect(text).toMatch(/sandbox mode \\"off\\".*\\"workspace\\".*TAU_SUBAGENT_SANDBOX/);
  });

  it("gets work if it confirms the sandbox", async () => {
    const { isError } = await outcome(delegating([process.execPath, tau]));
    expect(isError).toBe(false);
  });
});
