import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Deployment } from "kubernetes-models/apps/v1/Deployment";
import { Secret } from "kubernetes-models/v1/Secret";
import { expect, onTestFinished, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { RedisServer, redisIsMissing } from "../../../packages/store-redis/test/redis-server.ts";
import { describeWith } from "../../../scripts/testing/describe-with.ts";

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const worker = fileOf("../../../packages/worker/bin/tau-worker.js");

test("the manifest fits the schema of Kubernetes", () => {
  const documents = parseAllDocuments(readFileSync(fileOf("kubernetes.yaml"), "utf8"));
  const [secret, deployment, ...rest] = documents.map((document) => document.toJS());
  expect(rest).toEqual([]);
  new Secret(secret).validate();
  new Deployment(deployment).validate();
  expect(() => new Deployment({ ...deployment, spec: { replicas: "4" } }).validate()).toThrow();
});

test("options of the manifests are options of the worker", () => {
  const help = spawnSync(process.execPath, [worker, "--help"], { encoding: "utf8" }).stdout;
  const { services } = parse(readFileSync(fileOf("compose.yaml"), "utf8"));
  const [own] = String(services.worker.command).split(" -- ");
  for (const option of own?.match(/--[a-z-]+/g) ?? []) expect(help).toContain(`  ${option} `);
  expect(services.redis.command).toContain("noeviction");
});

describeWith(redisIsMissing)("a fleet", () => {
  test("the client approves, steers and gets the result", async () => {
    await using redis = await RedisServer.start();
    const folder = mkdtempSync(join(tmpdir(), "tau-fleet-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
    const scenario = [
      { content: [{ type: "toolCall", name: "bash", arguments: { command: "echo hi" } }] },
      { repeat: true, content: "It says hi." },
    ];
    const model = join(folder, "scenario.json");
    writeFileSync(model, JSON.stringify(scenario));
    const place = ["--redis", redis.url, "--queue", "prompts", "--store", redis.url];
    const host = ["--", "--permission-mode", "ask", "--provider", "scripted", "--model", model];
    const running = spawn(process.execPath, [worker, ...place, "--cwd", folder, ...host], {
      env: { ...process.env, HOME: folder, PI_CODING_AGENT_DIR: join(folder, "agent") },
      stdio: "ignore",
    });
    onTestFinished(() => void running.kill("SIGKILL"));
    const words = [fileOf("client.ts"), redis.url, "prompts", "What does it say?"];
    const client = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    client.stdout.on("data", (chunk: Buffer) => {
      said += String(chunk);
    });
    const [code] = await once(client, "exit");
    expect(code).toBe(0);
    expect(said).toContain("runs bash");
    expect(said).toContain("allows ");
    expect(said).toContain("completed: It says hi.");
    running.kill("SIGTERM");
    await once(running, "exit");
  });
});
