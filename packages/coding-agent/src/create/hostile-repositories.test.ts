import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { slice } from "../../../../scripts/testing/slice.ts";
import {
  namedPackages,
  type Plant,
  plantRepository,
  plants,
  secret,
} from "./__fixtures__/hostile-repositories.ts";
import { createTestSession, placesIn, temporaryFolder } from "./__fixtures__/test-session.ts";

/** Opens the repository like a stranger's, sends one prompt, and returns everything that left the host. */
async function open(plant: Plant, named: readonly string[] = []) {
  const folder = temporaryFolder();
  const places = placesIn(folder);
  const at = plantRepository({ folder, cwd: places.cwd }, plant);
  const before = readdirSync(places.cwd).sort();
  const start = performance.now();
  const requests: string[] = [];
  const test = await createTestSession(
    (request) => {
      requests.push(JSON.stringify([request.messages, request.systemPrompt]));
      return "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!";
    },
    {
      ...places,
      environment: { PATH: process.env.PATH, OPENAI_API_KEY: secret },
      extensions: {
        paths: named,
        hostModules: async () => ({}),
      },
    },
  );
  const { session } = test;
  const commands = await session.listCommands();
  const opened = performance.now() - start;
  const ended = await session.prompt("/leak this");
  const task = session.tools.active.find(({ name }) => name === "task")?.description;
  await session.bash.run("true");
  const left = [requests, test.written(), test.events, commands, session.diagnostics, task];
  return { at, before, session, opened, ended, left: JSON.stringify(left) };
}

it("covers at least forty kinds of hostile repositories", () => {
  expect(Object.keys(plants).length).toBeGreaterThanOrEqual(40);
});

it.each(Object.entries(namedPackages))(
  "refuses to start without trust in a repository with %s",
  async (kind, name) => {
    const markers: string[] = [];
    const plant: Plant = (at) => {
      markers.push(at.marker);
      plants[kind]?.(at);
    };
    await expect(open(plant, [name])).rejects.toThrow(/which is not trusted\. Trust the project/);
    expect(markers.map((marker) => existsSync(marker))).toEqual([false]);
  },
);

it.each(slice(Object.entries(plants), 12))(
  "opens a repository safely with %s",
  async (_, plant) => {
    const { at, before, session, opened, ended, left } = await open(plant);
    expect(ended.status).toBe("completed");
    expect(existsSync(at.marker)).toBe(false);
    expect(left).not.toContain(secret);
    expect(session.isProjectTrusted).toBe(false);
    // An idle machine takes a tenth of a second; other tests may run at the same time.
    expect(opened).toBeLessThan(3000);
    expect(readdirSync(at.cwd).sort()).toEqual(before);
    expect(session.log.path?.startsWith(at.cwd)).toBe(false);
  },
);

it("reports once which project texts it left out", async () => {
  const folder = temporaryFolder();
  const at = plantRepository({ folder, cwd: placesIn(folder).cwd }, (repository) => {
    repository.link("AGENTS.md", repository.keys);
    repository.link(".pi/skills/leak/SKILL.md", repository.outside);
  });
  const { session } = await createTestSession(["One.", "Two."], placesIn(folder));
  await session.prompt("one");
  await session.prompt("two");
  for (const path of ["AGENTS.md", ".pi/skills/leak/SKILL.md"]) {
    const found = session.diagnostics.filter(({ message }) => message.includes(join(at.cwd, path)));
    expect(found).toHaveLength(1);
  }
});
