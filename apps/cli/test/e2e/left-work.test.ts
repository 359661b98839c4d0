import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Turn } from "@tau-agent/ai/testing";
import { RpcClient } from "@tau-agent/rpc-client";
import { expect, it, onTestFinished } from "vitest";
import { call, repositoryPlace } from "../support/repository-place.ts";
import { binPath } from "../support/start-host.ts";

const stores = new URL("../../../../packages/coding-agent/dist/session-store.js", import.meta.url);
/** Settings and attributes of the subagent's tree must have no effect outside the tree. */
const hostile = [
  'git config filter.own.clean "touch $RAN; cat"',
  'git config core.fsmonitor "touch $RAN"',
  "echo '* filter=own' > .gitattributes",
].join("; ");
const never = call("bash", { command: "until [ -e never ]; do sleep 0.1; done" });

/** The model's steps for a message, one after each tool result. */
const steps = (text: string, ...contents: Turn["content"][]): Turn[] =>
  contents.map((content, index) => ({
    when: { lastUserIncludes: text, hasToolResults: index > 0 },
    content,
  }));

it.each(["files", "a store"])(
  "an isolated subagent continues the work of killed hosts, in %s",
  async (home) => {
    const place = repositoryPlace(
      [
        ...steps("begin", call("task", { tasks: [{ id: "a", task: "<a>" }], isolated: true })),
        ...steps(
          "<a>",
          call("write", { path: "new.txt", content: "one\n" }),
          call("bash", { command: hostile }),
          never,
        ),
        ...steps(
          "second",
          call("bash", { command: "echo two >> new.txt; rm .gitattributes" }),
          never,
        ),
        ...steps("third", call("bash", { command: "cat new.txt > more.txt" }), "done"),
      ],
      { "session.leaseMs": 1_000 },
    );
    onTestFinished(() => place.remove());
    const kept = join(place.folder, "kept");
    const ran = join(place.folder, "ran");
    const temporary = join(place.folder, "tmp");
    mkdirSync(temporary);
    const store = join(place.folder, "store.mjs");
    writeFileSync(
      store,
      `import { FileSessionStore } from ${JSON.stringify(stores.href)};
     export default () => new FileSessionStore({ directory: ${JSON.stringify(kept)} });`,
    );
    let session =
      home === "files" ? [] : ["--store", store, "--session-id", "s", "--project-key", "p"];
    const open = async () => {
      const client = new RpcClient({
        command: [process.execPath, binPath],
        args: [...place.arguments, ...session],
        cwd: place.cwd,
        env: { ...place.variables, TMPDIR: temporary, RAN: ran },
      });
      onTestFinished(async () => void (await client.stop()));
      // The lease of the killed host has to expire first.
      await expect.poll(() => client.start().then(() => "started", String)).toBe("started");
      const { sessionFile } = await client.getState();
      if (home === "files" && sessionFile !== undefined) session = ["--session", sessionFile];
      return client;
    };
    const kill = async (client: RpcClient, count: number): Promise<void> => {
      const results = async () =>
        (await client.getSubagentMessages("a")).messages.filter(
          ({ role }) => role === "toolResult",
        );
      await expect
        .poll(() =>
          results().then(
            (all) => all.length,
            () => 0,
          ),
        )
        .toBe(count);
      process.kill(client.pid ?? 0, "SIGKILL");
      await client.stop().catch(() => undefined);
    };
    const first = await open();
    await first.prompt("begin");
    await kill(first, 2);
    const second = await open();
    await second.resumeSubagent("a", "second");
    // One of the calls is the one that was interrupted.
    await kill(second, 4);
    const third = await open();
    const status = async () => (await third.listSubagents()).subagents.map((one) => one.status);
    expect(await status()).toEqual(["interrupted"]);
    await third.resumeSubagent("a", "third");
    await expect.poll(status).toEqual(["completed"]);
    expect(readFileSync(join(place.cwd, "more.txt"), "utf8")).toBe("one\ntwo\n");
    expect(readFileSync(join(place.cwd, "new.txt"), "utf8")).toBe("one\ntwo\n");
    expect(existsSync(join(place.cwd, ".gitattributes"))).toBe(false);
    expect(existsSync(ran)).toBe(false);
  },
);
