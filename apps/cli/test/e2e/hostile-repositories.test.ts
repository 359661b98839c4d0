import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { type ScenarioRequest, startLoopbackServer, toolCall } from "@tau-agent/ai/testing";
import { HostProcess } from "@tau-agent/conformance";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { beforeAll, expect, it } from "vitest";
import {
  type Plant,
  plantRepository,
  plants,
  secret,
} from "../../../../packages/coding-agent/src/create/__fixtures__/hostile-repositories.ts";
import { slice } from "../../../../scripts/testing/slice.ts";
import { makePlace } from "../support/place.ts";
import { git } from "../support/repository-place.ts";
import { binPath } from "../support/start-host.ts";

/** Keys in the host's environment. */
const keys = {
  ANTHROPIC_API_KEY: "sk-ant-CANARY-0123456789",
  OPENAI_API_KEY: "sk-CANARY-9876543210",
  LOOPBACK_KEY: "CANARY-loopback-31415926",
};

/** Kinds of repository whose isolated task is refused, with words that the error must contain. */
const filter = "goes through the git filter";
const refusals = new Map([
  ["a filter with its attributes", filter],
  ["a filter with attributes beside its configuration", filter],
]);

/** Git matches these patterns forever; the host still answers meanwhile, and an abort ends the matching. */
const endless = new Set(["patterns of ignore files that backtrack", "patterns that backtrack"]);
const alone = new Set([...endless, "programs named as those that the host runs"]);

/** The result of running a host in a repository. */
interface Outcome {
  readonly code: number | null;
  readonly status: unknown;
  readonly hasMarker: boolean;
  /** New files in the user's folder. */
  readonly made: readonly string[];
  /** Everything that left the host: requests, frames, stderr, session files. */
  readonly left: string;
  /** The longest response time of `get_state`, in ms. */
  readonly slowest: number;
}

/** Makes calls of every kind, including an isolated task whose subagent writes a file. */
function reply({ lastUserText, toolResults }: ScenarioRequest) {
  if (lastUserText.includes("<sub>")) {
    if (toolResults.length > 0) return "aaaaaaaaaaaaaaaaaaaaaaaa!";
    return { content: [toolCall("write", { path: "made.txt", content: "made\n" })] };
  }
  if (toolResults.length > 0) return `Done: ${toolResults.map(({ text }) => text).join("\n")}`;
  const content = [
    toolCall("bash", { command: "env" }),
    toolCall("ls", {}),
    toolCall("find", { pattern: "*.md" }),
    toolCall("grep", { pattern: "nothing-has-this" }),
    toolCall("task", { task: "<sub>", isolated: true }),
  ];
  return { content };
}

const settingsFile = ".pi/settings.json";

/** Settings of several kinds share one file: lists are concatenated, objects merged. */
function mergeInto(target: Record<string, unknown>, added: object): object {
  for (const [key, value] of Object.entries(added)) {
    const old = target[key];
    if (Array.isArray(old)) target[key] = [...old, ...value];
    else if (isJsonObject(old)) mergeInto(old, value);
    else target[key] = value;
  }
  return target;
}

async function open(kinds: readonly string[]): Promise<Outcome> {
  await using server = await startLoopbackServer({ scenario: reply });
  const api = "openai-completions";
  const loopback = {
    baseUrl: server.urls[api],
    api,
    apiKey: "$LOOPBACK_KEY",
    models: [{ id: "m" }],
  };
  const place = makePlace({
    arguments: ["--model", "loopback/m"],
    environment: keys,
    files: { "agent/models.json": JSON.stringify({ providers: { loopback } }) },
  });
  git(place.cwd, "init", "-q");
  const plant: Plant = (at) => {
    const settings = {};
    const put: typeof at.put = (path, text) => {
      const isShared = path === settingsFile && typeof text === "object";
      at.put(path, isShared ? mergeInto(settings, text) : text);
    };
    for (const kind of kinds) plants[kind]?.({ ...at, put });
  };
  const { marker } = plantRepository(place, plant, () => {
    git(place.cwd, "add", "-A", "-f");
    git(place.cwd, "commit", "-qm", "first");
  });
  const before = readdirSync(place.cwd);
  const host = new HostProcess([process.execPath, binPath, ...place.arguments], place);
  try {
    const { status, slowest } = await prompt(
      host,
      kinds.some((kind) => endless.has(kind)),
    );
    const { code } = await host.finish();
    const sessions = join(place.folder, "agent", "sessions");
    const left = [
      ...server.requests.map(({ body, path, headers }) =>
        // Only the key of the server itself may leave the host.
        JSON.stringify([path, body, { ...headers, authorization: "" }]),
      ),
      ...[host.stdout, host.stderr],
      ...readdirSync(sessions, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8")),
    ].join("\n");
    return {
      ...{ code, status, slowest, left },
      hasMarker: existsSync(marker) || existsSync(join(place.cwd, "marker")),
      made: readdirSync(place.cwd).filter((name) => !before.includes(name)),
    };
  } finally {
    host.child.kill("SIGKILL");
    await host.ended;
    place.remove();
  }
}

/** Prompts once and requests the state all the time; an endless task is aborted. */
async function prompt(host: HostProcess, isEndless: boolean) {
  host.send({ type: "prompt", message: "/leak this", id: "p" });
  let status: unknown;
  let slowest = 0;
  /** Counted since the task began. */
  let polls = Number.NaN;
  while (status === undefined) {
    const asked = performance.now();
    host.send({ type: "get_state", id: "s" });
    for (;;) {
      const frame = await host.frames.next();
      if (frame === undefined) return { status: "silence", slowest };
      if (frame.type === "tool_execution_start") polls = frame.toolName === "task" ? 0 : Number.NaN;
      if (frame.type === "prompt_result") status = frame.status;
      if (frame.id === "s") break;
    }
    polls += 1;
    if (isEndless && polls === 10) host.send({ type: "abort" });
    slowest = Math.max(slowest, performance.now() - asked);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { status, slowest };
}

const isGit = (path: string) => path.split("/").includes(".git");

/** The paths that this kind of repository needs. */
function pathsOf(plant: Plant): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), "tau-paths-"));
  const paths: string[] = [];
  plantRepository({ folder, cwd: join(folder, "project") }, (at) =>
    plant({
      ...at,
      put: (path, text) => {
        if (path !== settingsFile || typeof text === "string") paths.push(path);
        at.put(path, text);
      },
      link: (path, target) => {
        paths.push(path);
        at.link(path, target);
      },
    }),
  );
  rmSync(folder, { recursive: true, force: true });
  return paths;
}

const isWithin = (path: string, other: string) => path === other || path.startsWith(`${other}/`);

/** Kinds that do not interfere share a repository; each kind that concerns git has its own. */
function groups(): readonly (readonly string[])[] {
  const own: string[][] = [];
  const shared: { kinds: string[]; paths: string[] }[] = [];
  for (const [kind, plant] of Object.entries(plants)) {
    const paths = pathsOf(plant);
    if (paths.some(isGit) || alone.has(kind)) {
      own.push([kind]);
      continue;
    }
    const found = shared.find(
      ({ kinds, paths: taken }) =>
        kinds.length < 8 &&
        !paths.some((path) => taken.some((one) => isWithin(path, one) || isWithin(one, path))),
    );
    if (found === undefined) shared.push({ kinds: [kind], paths: [...paths] });
    else {
      found.kinds.push(kind);
      found.paths.push(...paths);
    }
  }
  return [...own, ...shared.map(({ kinds }) => kinds)];
}

const repositories = groups();
const tried = slice(repositories, 6);
const outcomes = new Map<readonly string[], Promise<Outcome>>();

/** Runs as many hosts at a time as there are processors. */
beforeAll(() => {
  const waiting = tried.map((kinds) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    outcomes.set(
      kinds,
      promise.then(() => open(kinds)),
    );
    return { kinds, start: resolve };
  });
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      next.start();
      await outcomes.get(next.kinds)?.catch(() => {});
    }
  };
  for (let each = 0; each < Math.max(2, availableParallelism()); each += 1) void work();
});

it("withstands every kind of hostile repository", () => {
  expect(repositories.flat().sort()).toEqual(Object.keys(plants).sort());
});

it.each(tried.map((kinds) => [kinds.join("; "), kinds] as const))(
  "the built host is safe in a repository with %s",
  async (_, kinds) => {
    const outcome = await outcomes.get(kinds);
    const [kind = ""] = kinds;
    const refused = refusals.get(kind);
    const status = endless.has(kind) ? "aborted" : "completed";
    expect(outcome).toMatchObject({ code: 0, status, hasMarker: false });
    const leaks = [...Object.values(keys), secret].filter((key) => outcome?.left.includes(key));
    expect(leaks).toEqual([]);
    const isMade = refused === undefined && !endless.has(kind);
    expect(outcome?.made).toEqual(isMade ? ["made.txt"] : []);
    expect(outcome?.left.includes(refused ?? "")).toBe(true);
    // A quiet machine takes 0.1 s, and a host that is kept busy minutes; other tests run at the same time.
    expect(outcome?.slowest).toBeLessThan(20_000);
  },
);
