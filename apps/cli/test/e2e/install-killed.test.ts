import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { binPath } from "../support/start-host.ts";

/** A registry with one package, whose archive is held back until the test releases it. */
async function startRegistry(folder: string) {
  const source = join(folder, "package");
  mkdirSync(join(source, "extensions"), { recursive: true });
  writeFileSync(join(source, "package.json"), '{ "name": "pi-thing", "version": "1.0.0" }');
  writeFileSync(join(source, "extensions/one.ts"), "export default () => {};");
  execFileSync("tar", ["-czf", join(folder, "thing.tgz"), "-C", folder, "package"]);
  const archive = readFileSync(join(folder, "thing.tgz"));
  const integrity = `sha512-${createHash("sha512").update(archive).digest("base64")}`;
  const waiting: ServerResponse[] = [];
  const registry = {
    isOpen: false,
    waiting,
    address: "",
    close: () => server.close(),
  };
  const server = createServer(({ url = "" }, response) => {
    const dist = { tarball: `${registry.address}/thing.tgz`, integrity };
    const versions = { "1.0.0": { name: "pi-thing", version: "1.0.0", dist } };
    const packument = { name: "pi-thing", "dist-tags": { latest: "1.0.0" }, versions };
    if (url === "/pi-thing") response.end(JSON.stringify(packument));
    else if (!url.endsWith(".tgz")) response.writeHead(404).end("{}");
    else if (registry.isOpen) response.end(archive);
    else waiting.push(response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  registry.address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return registry;
}

/** What `kill -9` hits: tau alone, or its whole process group, as when the machine goes down. */
it.each([
  { whom: "alone", sign: 1 },
  { whom: "with the npm that it has started", sign: -1 },
])(
  "tau install that is killed $whom lists nothing, and the next one installs",
  async ({ sign }) => {
    const folder = mkdtempSync(join(tmpdir(), "tau-install-killed-"));
    const registry = await startRegistry(folder);
    const agent = join(folder, "agent");
    const env = {
      ...process.env,
      HOME: folder,
      PI_CODING_AGENT_DIR: agent,
      npm_config_registry: registry.address,
      npm_config_cache: join(folder, "cache"),
    };
    const tau = (...words: string[]) => {
      const argv = [binPath, ...words];
      const child = spawn(process.execPath, argv, { cwd: folder, env, detached: true });
      let output = "";
      for (const stream of [child.stdout, child.stderr]) {
        stream.on("data", (text) => {
          output += text;
        });
      }
      const ended = once(child, "close").then(([code]) => ({ code, output }));
      return { child, ended, said: () => output };
    };
    onTestFinished(() => {
      registry.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const { child, ended, said } = tau("install", "npm:pi-thing");
    await expect.poll(() => registry.waiting.length).toBe(1);
    await expect.poll(said).toBe("tau: Installing npm:pi-thing …\n");
    process.kill(sign * (child.pid ?? Number.NaN), "SIGKILL");
    await once(child, "exit");
    // If npm continued, it would change the folder while the next npm uses it.
    const isOver = () => registry.waiting.every(({ destroyed }) => destroyed);
    await expect.poll(isOver, { timeout: 5_000 }).toBe(true);
    await ended;
    expect(existsSync(join(agent, "settings.json"))).toBe(false);
    const listed = await tau("list").ended;
    expect(listed.code).toBe(0);
    expect(listed.output).not.toContain("pi-thing");

    // The lock of a dead process is free at once.
    const locks = readdirSync(agent).filter((name) => name.endsWith(".lock"));
    expect(locks).toEqual(["packages.lock"]);
    registry.isOpen = true;
    const begun = performance.now();
    const again = await tau("install", "npm:pi-thing").ended;
    expect(again).toMatchObject({ code: 0 });
    expect(performance.now() - begun).toBeLessThan(20_000);
    const { packages } = JSON.parse(readFileSync(join(agent, "settings.json"), "utf8"));
    expect(packages).toEqual(["npm:pi-thing"]);
    expect(existsSync(join(agent, "npm/node_modules/pi-thing/extensions/one.ts"))).toBe(true);
    expect(readdirSync(agent).filter((name) => name.includes("lock"))).toEqual([]);
  },
);
