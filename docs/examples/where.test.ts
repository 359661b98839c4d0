import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { RpcClient } from "@tau-agent/rpc-client";
import { expect, it, onTestFinished } from "vitest";
import { commandFolder } from "./run-program.ts";

const page = readFileSync(new URL("../where.md", import.meta.url), "utf8");

/** The folders that a row of the page's table names in the columns of the project and the user. */
function placesOf(row: string): string[] {
  const line = page.split("\n").find((text) => text.startsWith(`| **${row}**`)) ?? "";
  const [, , , project = "", own = ""] = line.split(" | ".trim());
  const paths = [...`${project} ${own}`.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path);
  return paths.filter((path) => path.includes("/"));
}

/** A folder with a file for each place of two rows, and a client of a host in it. */
async function hostWithEverything() {
  const root = mkdtempSync(join(tmpdir(), "tau-where-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [home, cwd] = [join(root, "home"), join(root, "home", "project")];
  const folderOf = (place: string) => {
    if (place.startsWith("~")) return join(home, place.slice(1));
    return place.startsWith(".") ? join(cwd, place) : join(home, ".pi", "agent", place);
  };
  const put = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  const names: string[] = [];
  for (const [index, place] of placesOf("Skills").entries()) {
    names.push(`skill:s${index}`);
    put(join(folderOf(place), `s${index}`, "SKILL.md"), `---\ndescription: ${place}\n---\nText`);
  }
  for (const [index, place] of placesOf("Prompt templates").entries()) {
    names.push(`t${index}`);
    put(join(folderOf(place), `t${index}.md`), "Text");
  }
  const client = new RpcClient({
    command: [join(commandFolder, "tau")],
    cwd,
    env: { HOME: home, PI_CODING_AGENT_DIR: undefined },
    args: ["--no-session", "--provider", "scripted"],
  });
  await client.start();
  onTestFinished(async () => void (await client.stop()));
  return { client, names };
}

it("names folders in which a host finds skills and templates", async () => {
  const { client, names } = await hostWithEverything();
  expect(names.length).toBe(8);
  const { commands } = await client.getCommands();
  expect(commands.map(({ name }) => name).toSorted()).toEqual(expect.arrayContaining(names));
});
