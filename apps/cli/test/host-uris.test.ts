import { toolCall } from "@tau-agent/ai/testing";
import { describe, expect, it } from "vitest";
import { memoryHost } from "./support/hosts.ts";
import type { PlaceSetup } from "./support/place.ts";
import { type Frame, TestClient } from "./support/test-client.ts";

const db = { scheme: "db", writable: true };
const read = (path = "db://users/7", range: object = {}) => toolCall("read", { path, ...range });
const write = (path = "db://users/7", content = "Eve") => toolCall("write", { path, content });

async function start(
  call: ReturnType<typeof toolCall> = read(),
  setup: PlaceSetup = {},
  schemes: readonly object[] = [db],
) {
  const host = await memoryHost({
    title: "",
    requirements: [],
    scenario: [{ content: [call] }, { content: "done" }],
    dialect: "oh-my-pi-18",
    ...setup,
  });
  const client = new TestClient(host);
  await declare(client, schemes);
  client.send({ type: "prompt", message: "go" });
  return client;
}

async function declare(client: TestClient, schemes: readonly object[]): Promise<Frame> {
  client.send({ type: "set_host_uri_schemes", schemes });
  return client.until({ command: "set_host_uri_schemes" });
}

const asked = (client: TestClient): Promise<Frame> => client.until({ type: "host_uri_request" });
const ended = (client: TestClient): Promise<Frame> => client.until({ type: "tool_execution_end" });

async function textAtEnd(client: TestClient): Promise<string> {
  const { result } = await ended(client);
  return (result as { content: { text: string }[] }).content.map(({ text }) => text).join("\n");
}

describe("a client's URI", () => {
  it("is read with notes, and only the requested lines", async () => {
    await using client = await start(read("db://users/7", { offset: 2, limit: 1 }));
    const { id, ...frame } = await asked(client);
    expect(frame).toEqual({ type: "host_uri_request", operation: "read", url: "db://users/7" });
    client.send({ type: "get_pending_requests" });
    expect(await client.until({ command: "get_pending_requests" })).toMatchObject({
      data: { requests: [{ id, method: "host_uri", params: { url: "db://users/7" } }] },
    });
    const answer = { content: "one\ntwo\nthree", contentType: "text/markdown", notes: ["cached"] };
    client.send({ type: "host_uri_result", id, ...answer, immutable: true });
    const { isError, result } = await ended(client);
    expect(isError).toBe(false);
    const shown = "two\n\n[1 more lines in file. Use offset=3 to continue.]";
    expect(result).toMatchObject({
      content: [{ text: shown }, { text: "[cached]" }],
      details: { uri: { contentType: "text/markdown", notes: ["cached"], immutable: true } },
    });
    client.send({ type: "host_uri_result", id, content: "again" });
    const refusal = { id, command: "host_uri_result", success: false };
    expect(await client.until({ type: "response", command: "host_uri_result" })).toMatchObject(
      refusal,
    );
  });

  it("is written if its scheme allows it", async () => {
    await using client = await start(write());
    const { id, ...frame } = await asked(client);
    expect(frame).toMatchObject({ operation: "write", url: "db://users/7", content: "Eve" });
    client.send({ type: "host_uri_result", id });
    expect(await textAtEnd(client)).toBe("Successfully wrote 3 bytes to db://users/7");
  });

  it.each([
    [
      { isError: true, error: "no such row", content: "other" },
      "Cannot read db://users/7: no such row",
    ],
    [{ isError: true, content: "no such row" }, "Cannot read db://users/7: no such row"],
    [{ isError: true }, "Cannot read db://users/7: the client gave no reason"],
    [{}, "(empty file)"],
  ])("shows the model the client's answer: %j", async (answer, shown) => {
    await using client = await start();
    const { id } = await asked(client);
    client.send({ type: "host_uri_result", id, ...answer });
    expect(await textAtEnd(client)).toBe(shown);
  });

  it("stays open after a malformed answer, which is refused with the name of the member", async () => {
    await using client = await start();
    const { id } = await asked(client);
    client.send({ type: "host_uri_result", id, notes: ["a", 1] });
    const refusal = await client.until({ type: "response", command: "host_uri_result" });
    expect(refusal.error).toContain("notes");
    client.send({ type: "host_uri_result", id, content: "Ann" });
    expect(await textAtEnd(client)).toBe("Ann");
  });

  it("has its request cancelled by an abort", async () => {
    await using client = await start();
    const { id } = await asked(client);
    client.send({ type: "abort" });
    expect(await client.until({ type: "host_uri_cancel" })).toMatchObject({ targetId: id });
    expect(await ended(client)).toMatchObject({ isError: true });
  });

  it("is answered by the client that was asked, even if schemes are declared meanwhile", async () => {
    await using client = await start();
    const { id } = await asked(client);
    await declare(client, []);
    client.send({ type: "host_uri_result", id, content: "Ann" });
    expect(await textAtEnd(client)).toBe("Ann");
  });

  it.each([
    [
      toolCall("edit", { path: "db://a", oldText: "a", newText: "b" }),
      "Read it, and write it whole.",
    ],
    [toolCall("grep", { path: "db://a", pattern: "a" }), "Read it instead."],
    [write("notes://a"), "for reading"],
    [read("dbx://a"), "the client does not serve dbx://; it serves db://, notes://"],
    [write("dbx://a"), "the client does not serve dbx://"],
    [read("https://example.com/"), "the client does not serve https://"],
  ])("is refused with an explanation if it cannot be handled: %j", async (call, words) => {
    await using client = await start(call, {}, [db, { scheme: "notes" }]);
    expect(await textAtEnd(client)).toContain(words);
  });

  it("does not become a file when its scheme is removed", async () => {
    const scenario = [
      { content: [write()] },
      { content: [toolCall("ls", {})] },
      { content: "done" },
    ];
    const host = await memoryHost({ title: "", requirements: [], scenario });
    await using client = new TestClient(host);
    await declare(client, [db]);
    await declare(client, []);
    client.send({ type: "prompt", message: "go" });
    expect(await textAtEnd(client)).toContain("it serves no scheme now");
    expect(await textAtEnd(client)).not.toContain("db:");
  });

  it("is an ordinary path if the client declared no schemes", async () => {
    const scenario = [{ content: [read()] }, { content: "done" }];
    const host = await memoryHost({ title: "", requirements: [], scenario });
    await using client = new TestClient(host);
    client.send({ type: "prompt", message: "go" });
    expect(await textAtEnd(client)).toContain("File not found: db://users/7");
  });
});

describe("permissions", () => {
  const rules = (...list: object[]) => ({
    files: { "agent/settings.json": JSON.stringify({ permissions: { rules: list } }) },
  });
  const mode = (name: string, more: PlaceSetup = {}) => ({
    ...more,
    arguments: ["--permission-mode", name],
  });

  it("allow reading URIs in every mode, and writing only in modes that permit it", async () => {
    await using reader = await start(read(), mode("readOnly"));
    await asked(reader);
    await using writer = await start(write(), mode("readOnly"));
    expect(await textAtEnd(writer)).toContain("Denied");
  });

  it("ask before a URI is written in a mode that accepts file edits", async () => {
    await using client = await start(write(), mode("acceptEdits"));
    expect(await client.until({ type: "extension_ui_request" })).toMatchObject({
      title: expect.stringContaining("db://users/7"),
    });
  });

  it("match URIs with rules for URIs, not with rules for all files", async () => {
    const allow = (match: string) => rules({ tool: "write", match, action: "allow" });
    await using allowed = await start(write(), mode("ask", allow("db://users/*")));
    await asked(allowed);
    await using files = await start(write(), mode("ask", allow("**")));
    await files.until({ type: "extension_ui_request" });
    const deny = rules({ tool: "read", match: "db://**", action: "deny" });
    await using denied = await start(read(), mode("all", deny));
    expect(await textAtEnd(denied)).toContain("Denied");
  });
});

describe("set_host_uri_schemes", () => {
  it("returns the schemes in lower case and replaces all of them", async () => {
    await using client = await start(read("OTHER://a"), {}, [{ scheme: " DB " }]);
    expect(await textAtEnd(client)).toContain("it serves db://");
    const { data } = await declare(client, [{ scheme: "Notes", description: "mine" }, db]);
    expect(data).toEqual({ schemes: ["notes", "db"] });
  });

  it.each([
    [[db, { scheme: "file" }], "schemes[1].scheme"],
    [[{ scheme: "HTTPS" }], "https is reserved"],
    [[{ scheme: "mcp" }], "reserved"],
    [[{ scheme: "a b" }], "schemes[0].scheme"],
    [[{ scheme: "db://" }], "without ://"],
    [[{ scheme: "" }], "schemes[0].scheme"],
    [[db, { scheme: "DB" }], "schemes[1].scheme"],
    [[{ scheme: 5 }], "schemes[0].scheme"],
    [[{ scheme: "x", writable: "yes" }], "schemes[0].writable"],
    ["db", "schemes"],
  ])("changes nothing if one is invalid: %j", async (schemes, named) => {
    await using client = await start(read("other://a"));
    await ended(client);
    const refusal = await declare(client, schemes as never);
    expect(refusal).toMatchObject({ success: false, error: expect.stringContaining(named) });
  });
});
