import { expect, it } from "vitest";
import { bubblewrapIsMissing } from "../../../../packages/system/src/sandbox/__fixtures__/has-bubblewrap.ts";
import { describeWith } from "../../../../scripts/testing/describe-with.ts";
import { FrameClient } from "../support/frame-client.ts";
import { listeningHost } from "../support/listening-host.ts";
import { runHost } from "../support/start-host.ts";

const VALUE = "ghp_a_real_value_0123456789";
const secret = { env: "TOKEN", value: "$REAL_TOKEN", hosts: ["localhost:9"] };
const settings = (sandbox: object) => ({ "agent/settings.json": JSON.stringify({ sandbox }) });

describeWith(bubblewrapIsMissing)("secrets of a host", () => {
  it.each([
    ["in the host", []],
    ["in a process of its own", ["--isolate", "process"]],
  ])("are separate for each session, %s", async (_where, more) => {
    const files = settings({ mode: "workspace", secrets: [secret] });
    const { unixUrl } = await listeningHost({
      ...{ files, arguments: more, environment: { REAL_TOKEN: VALUE, OTHER: VALUE } },
    });
    const client = await FrameClient.connect(unixUrl);
    const secrets = [{ ...secret, env: "SECOND", value: "$OTHER" }];
    const { data } = await client.ask({ type: "open_session", secrets });
    const { sessionId } = data as { sessionId: string };
    const command = "echo $TOKEN $SECOND; env";
    const { data: ran } = await client.ask({ type: "bash", command, sessionId });
    const { output } = ran as { output: string };
    expect(output).toMatch(/^tau-secret-[0-9a-f]{32} tau-secret-[0-9a-f]{32}\n/);
    expect(JSON.stringify(client.frames)).not.toContain(VALUE);
    const other = await client.open();
    const { data: again } = await client.ask({ type: "bash", command, sessionId: other });
    expect((again as { output: string }).output.slice(0, 43)).not.toBe(output.slice(0, 43));
  });

  it("are refused as literal values in frames and files", async () => {
    const { unixUrl } = await listeningHost({ files: settings({ mode: "workspace" }) });
    const client = await FrameClient.connect(unixUrl);
    await client.ask({ type: "initialize" });
    const secrets = [{ ...secret, value: VALUE }];
    const refused = await client.ask({ type: "open_session", secrets });
    expect(refused).toMatchObject({ success: false, code: "invalid_params" });
    expect(JSON.stringify(refused)).toContain("secrets[0].value");
    expect(JSON.stringify(refused)).not.toContain(VALUE);
    const files = settings({ mode: "workspace", secrets });
    const { code, stderr } = await runHost({ files, arguments: ["-p", "hi"] });
    expect(code).toBe(1);
    expect(stderr).toContain("sandbox.secrets[0].value");
    expect(stderr).not.toContain(VALUE);
  });

  it("are not used without a sandbox, which is reported", async () => {
    const files = settings({ mode: "off", secrets: [secret] });
    const { stderr } = await runHost({ files, arguments: ["-p", "hi"] });
    expect(stderr).toContain("The secrets for TOKEN are not used: sandbox.mode is off.");
    const { unixUrl } = await listeningHost();
    const client = await FrameClient.connect(unixUrl);
    await client.ask({ type: "initialize" });
    const refused = await client.ask({ type: "open_session", secrets: [secret] });
    expect(refused).toMatchObject({ success: false, code: "invalid_option" });
  });

  it("are not used if a project or a policy blocks the network", async () => {
    const files = settings({ mode: "workspace", secrets: [secret] });
    const policy = JSON.stringify({ sandbox: { network: "off" } });
    const held = await runHost({ files, arguments: ["-p", "hi", "--policy", policy] });
    expect(held.stderr).toContain("The secrets for TOKEN are not used");
    const own = { ...files, "project/.pi/settings.json": '{"sandbox":{"network":"off"}}' };
    const { stderr } = await runHost({ files: own, arguments: ["-p", "hi"] });
    expect(stderr).toContain("The secrets for TOKEN are not used");
  });
});
