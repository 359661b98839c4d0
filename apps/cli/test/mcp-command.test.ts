import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { HttpFixture } from "../../../packages/mcp/src/__fixtures__/http-server.ts";
import { makePlace } from "./support/place.ts";
import { runCommand } from "./support/run-command.ts";

const server = fileURLToPath(
  new URL("../../../packages/mcp/src/__fixtures__/stdio-server.ts", import.meta.url),
);
const behaviour = JSON.stringify({ tools: [{ name: "echo", inputSchema: { type: "object" } }] });

let place: ReturnType<typeof makePlace>;
let cwd: string;
let agentDirectory: string;
beforeEach(async () => {
  place = makePlace();
  onTestFinished(place.remove);
  cwd = place.cwd;
  agentDirectory = join(place.folder, "agent");
  await mkdir(agentDirectory);
});

const tau = (...words: string[]) => runCommand(place, words);
const add = (...words: string[]) => tau("mcp", "add", ...words, "--", "node", server, behaviour);

// e2e/mcp.test.ts covers the built program.
describe("tau mcp", () => {
  it("exits with 1 when a server is down or an entry is invalid", async () => {
    await tau("mcp", "add", "down", "--", "no-such-program");
    const listed = await tau("mcp", "list");
    expect(listed.code).toBe(1);
    expect(listed.stdout).toContain("the program no-such-program was not found");
    await writeFile(join(agentDirectory, "mcp.json"), '{"mcpServers":{"bad":{}}}');
    expect(await tau("mcp", "list")).toMatchObject({ code: 1 });
  });

  it("writes to the project's file with -l", async () => {
    await add("-l", "one");
    expect(existsSync(join(cwd, ".pi", "mcp.json"))).toBe(true);
    expect(existsSync(join(agentDirectory, "mcp.json"))).toBe(false);
    // The project is not trusted, so nothing is started and the reason is given.
    const listed = await tau("mcp", "list");
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining("--approve") });
    const tested = await tau("mcp", "test", "one");
    expect(tested).toMatchObject({ code: 1, stderr: expect.stringContaining("is not trusted") });
    expect(await tau("mcp", "remove", "-l", "one")).toMatchObject({ code: 0 });
  });

  it.each([
    [["mcp", "remove", "nothing"], /There is no MCP server nothing/],
    [["mcp", "test", "nothing"], /There is no MCP server nothing/],
    [["mcp", "login", "nothing"], /There is no MCP server nothing/],
    [["mcp", "add"], /name of the server is missing: tau mcp add <name> -- <program>/],
    [["mcp", "frobnicate"], /Invalid option frobnicate: expected add, list, /],
    [["mcp", "add", "x"], /a program behind -- or --url is missing/],
    [["mcp", "add", "x", "--url", "gopher://x"], /Invalid MCP server x: url/],
    [["mcp", "add", "x", "--env", "secret", "--", "y"], /expected NAME=VALUE/],
    [["mcp", "list", "--jsn"], /Invalid option --jsn: .*nearest is --json/],
    [["mcp", "add", "x", "y", "--", "z"], /Invalid option y: .*behind --/],
  ])("refuses %j", async (words, text) => {
    const { code, stdout, stderr } = await tau(...words);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^tau: error: /);
    expect(stderr).toMatch(text);
    expect(stderr.trim().split("\n").length).toBeLessThanOrEqual(4);
  });

  it("suggests the nearest server, and names the file that defines it", async () => {
    await add("everything");
    for (const action of ["test", "login", "remove"]) {
      const { code, stderr } = await tau("mcp", action, "everythin");
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringContaining("no MCP server everythin; the nearest is everything."),
      });
    }
    const { stderr } = await tau("mcp", "remove", "-l", "everything");
    const file = join(agentDirectory, "mcp.json");
    expect(stderr).toContain(`${file} has one: leave out -l`);
  });

  it("explains why a login is not possible and what to do instead", async () => {
    const web = await HttpFixture.start();
    onTestFinished(() => web.stop());
    await add("program");
    await tau("mcp", "add", "web", "--url", web.url);
    await tau("mcp", "add", "page", "--url", `${web.origin}/page`);
    const login = async (name: string) => (await tau("mcp", "login", name)).stderr;
    expect(await login("program")).toBe(
      "tau: error: The login of the MCP server program failed: it is a program and has no login\n",
    );
    web.registers = false;
    expect(await login("web")).toMatch(/registers no clients.*oauth\.clientId.*need no login/);
    expect((await tau("mcp", "test", "page")).stdout).toMatch(
      /^page: down \(http, user\)\n {2}HTTP 404 from http:\S+\/page: Error POSTing to endpoint: HTTP 404 and a web page; is the url right\?/m,
    );
  });
});
