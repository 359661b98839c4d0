import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runHost, startHost } from "../support/start-host.ts";

const residentBytes = (pid: number | undefined): number => {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(line?.[1]) * 1024;
};

describe("a slow reader", () => {
  it("gets every delta, and commands still work, with bounded memory", async () => {
    const size = 600_000;
    const scenario = [{ content: "0123456789".repeat(size / 10), chunkSize: 50 }];
    const host = startHost({ scenario }, { reads: false });
    host.send({ type: "initialize", stream: "delta" });
    host.send({ type: "prompt", message: "go" });
    await new Promise((resolve) => setTimeout(resolve, 500));
    host.send({ type: "get_state", id: "meanwhile" });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    if (process.platform === "linux") {
      expect(residentBytes(host.child.pid)).toBeLessThan(250 * 1024 * 1024);
    }
    host.read();
    await host.until({ "...": true, id: "meanwhile", success: true });
    await host.until({ "...": true, type: "agent_settled" });
    const text = host.stdout
      .split("\n")
      .filter((line) => line.includes('"text_delta"'))
      .map((line) => JSON.parse(line).assistantMessageEvent.delta)
      .join("");
    expect(text.length).toBe(size);
    expect(text).toBe("0123456789".repeat(size / 10));
    expect((await host.finish()).code).toBe(0);
  });

  it("slows a streaming shell command down instead of filling the memory", async () => {
    const host = startHost({}, { reads: false });
    host.send({ type: "bash", command: "yes 0123456789 | head -c 150000000", stream: true });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    if (process.platform === "linux") {
      expect(residentBytes(host.child.pid)).toBeLessThan(250 * 1024 * 1024);
    }
    host.send({ type: "abort_bash" });
    host.read();
    await host.until({ "...": true, command: "bash", success: true });
    expect((await host.finish()).code).toBe(0);
  });
});

describe("a reader that disconnects", () => {
  it("ends the host quietly", async () => {
    const scenario = [{ content: "x".repeat(100_000), chunkSize: 20, delayMs: 1 }];
    const host = startHost({ scenario });
    host.send({ type: "prompt", message: "go" });
    await host.until({ "...": true, type: "message_update" });
    host.child.stdout.destroy();
    const { code } = await host.ended;
    expect(code).toBe(0);
    expect(host.stderr).toBe("");
  });

  it("ends json mode quietly", async () => {
    const scenario = [{ content: "x".repeat(100_000), chunkSize: 20, delayMs: 1 }];
    const host = startHost({ scenario, arguments: ["--mode", "json", "go"] });
    host.child.stdin.end();
    host.child.stdout.once("data", () => host.child.stdout.destroy());
    expect((await host.ended).code).toBe(0);
    expect(host.stderr).toBe("");
  });
});

describe("input", () => {
  it("that is invalid, oversized or split anywhere affects nothing else", async () => {
    const host = startHost();
    host.child.stdin.write(Buffer.from([0xff, 0xfe, 0x00, 0x0a]));
    host.child.stdin.write("\n\r\n   \n");
    await host.until({ "...": true, command: "parse", success: false });
    const piece = "x".repeat(1024 * 1024);
    host.child.stdin.write('{"id":"big","type":"prompt","message":"');
    for (let count = 0; count < 65; count++) host.child.stdin.write(piece);
    host.child.stdin.write('"}\n');
    const refusal = await host.until({ "...": true, command: "parse", success: false });
    expect(refusal.error).toMatch(/bytes, more than the limit/);
    const name = '{"id":"n","type":"set_session_name","name":"Grüße 😀 \u2028"}\r\n';
    for (const byte of Buffer.from(name)) host.child.stdin.write(Buffer.from([byte]));
    await host.until({ "...": true, id: "n", success: true });
    host.send({ type: "get_state" });
    const { data } = await host.until({ "...": true, command: "get_state" });
    expect((data as { sessionName: string }).sessionName).toBe("Grüße 😀 \u2028".trim());
    expect((await host.finish()).code).toBe(0);
  });

  it("with many commands in one chunk gets one answer to each [overview.lines]", async () => {
    const host = startHost();
    const ids = Array.from({ length: 500 }, (_, index) => `id-${index}`);
    const commands = ids.map((id) => JSON.stringify({ id, type: "get_state" }));
    host.child.stdin.write(`${commands.join("\n")}\n`);
    host.send({ id: "end", type: "get_messages" });
    await host.until({ "...": true, id: "end" });
    const answered = host.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).id);
    expect(answered).toEqual([...ids, "end"]);
  });
});

describe("stdout", () => {
  it("contains only frames: the output of modules goes to stderr", async () => {
    const files = {
      "noisy.mjs":
        'console.log("from console"); process.stdout.write("from stdout\\n"); export default ["fine"];',
    };
    const host = startHost({
      files,
      arguments: ["--provider", "scripted", "--model", "../noisy.mjs"],
    });
    host.send({ type: "prompt", message: "go" });
    await host.until({ "...": true, type: "agent_settled" });
    await host.finish();
    expect(host.stderr).toContain("from console");
    expect(host.stderr).toContain("from stdout");
    for (const line of host.stdout.trimEnd().split("\n"))
      expect(() => JSON.parse(line)).not.toThrow();
    expect(host.stdout).toContain("fine");
  });

  it("contains no line separator inside a frame", async () => {
    const { stdout } = await runHost({
      scenario: ["a\u2028b\u2029c \ud800"],
      arguments: ["--mode", "json", "go"],
    });
    expect(stdout).toContain("\\u2028");
    expect(stdout).not.toMatch(/[\u2028\u2029]/);
  });
});
