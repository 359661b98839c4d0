import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { makePlace } from "../support/place.ts";
import { refusingProxy } from "../support/refusing-proxy.ts";
import { startHost } from "../support/start-host.ts";

const project = fileURLToPath(new URL("../..", import.meta.url));

it("bundles contain no path of the machine that built them", () => {
  const root = join(project, "../..");
  const folders = [
    project,
    ...readdirSync(join(root, "packages")).map((name) => join(root, "packages", name)),
  ];
  const naming = folders
    .map((folder) => join(folder, "dist"))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
    )
    .filter((path) => /\.(?:[cm]?js|d\.ts|json|html|txt)$/.test(path))
    .filter((path) => readFileSync(path, "utf8").includes(root.replace(/\/$/, "")));
  expect(naming).toEqual([]);
});

// A bundled CommonJS package that loads modules on demand may lose its export names or its access to built-in modules.
describe("packages that the built command bundles", () => {
  it("write the log", async () => {
    const files = { "agent/settings.json": '{"unheardOf": 1}' };
    const place = makePlace({ files });
    const log = join(place.folder, "logs/host.log");
    const withLog = { ...place, arguments: [...place.arguments, "--log-file", log] };
    const host = startHost({}, { place: withLog });
    host.child.stdin.end();
    await host.ended;
    expect(host.stderr).toBe("");
    const [line = ""] = readFileSync(log, "utf8").split("\n");
    expect(JSON.parse(line)).toMatchObject({ level: 40, msg: expect.stringMatching(/unheardOf/) });
  });

  it("renew a Google login", async () => {
    const { url, asked } = await refusingProxy();
    const login = {
      type: "authorized_user",
      client_id: "client",
      client_secret: "secret",
      refresh_token: "token",
    };
    const place = makePlace({ files: { "google.json": JSON.stringify(login) } });
    const variables = {
      ...place.variables,
      HTTPS_PROXY: url,
      GOOGLE_APPLICATION_CREDENTIALS: join(place.folder, "google.json"),
      GOOGLE_CLOUD_PROJECT: "project",
      GOOGLE_CLOUD_LOCATION: "global",
    };
    const words = ["--mode", "rpc", "--provider", "google-vertex"];
    const host = startHost({}, { place: { ...place, variables, arguments: words } });
    host.send({ type: "set_auto_retry", enabled: false });
    host.send({ type: "prompt", message: "hi" });
    const { error } = await host.until({ "...": true, type: "prompt_result", status: "error" });
    expect(error).toMatch(/^Google's application default credentials cannot be used: /);
    expect(new Set(asked)).toEqual(new Set(["oauth2.googleapis.com:443"]));
    await host.finish();
  });
});

describe("packages that the built library bundles", () => {
  it("read the front matter of a skill, and comments in settings", () => {
    const skill = "---\nname: deploy\ndescription: Deploys it.\n---\nRun it.\n";
    const files = {
      "agent/skills/deploy/SKILL.md": skill,
      "agent/settings.json": '// Mine.\n{"defaultThinkingLevel": "low"}',
    };
    const place = makePlace({ files });
    onTestFinished(place.remove);
    const program = `import { createAgentSession } from "@tau-agent/coding-agent";
      const session = await createAgentSession({
        cwd: ${JSON.stringify(place.cwd)},
        agentDirectory: ${JSON.stringify(join(place.folder, "agent"))},
        session: { kind: "memory" },
        provider: "scripted",
      });
      console.log(JSON.stringify([await session.listCommands(), session.diagnostics]));
      await session.dispose();`;
    const words = ["--input-type=module", "--eval", program];
    const output = execFileSync(process.execPath, words, { cwd: project, encoding: "utf8" });
    expect(output).toMatch(/"Deploys it\."/);
    expect(output).toMatch(/\[\]\]$/m);
  });
});
