import type { HostUriRequest, HostUriResult } from "@tau-agent/rpc-protocol";
import { expect, it } from "vitest";
import { HostUriRunner, type UriScheme } from "./host-uris.ts";

const request = (url: string, content?: string): HostUriRequest => ({
  ...{ type: "host_uri_request", id: url, url, operation: "read" },
  ...(content !== undefined && { operation: "write", content }),
});
const register = (runner: HostUriRunner, schemes: readonly UriScheme[]) =>
  runner.register(schemes, async (given) => ({ schemes: given.map(({ scheme }) => scheme) }));

async function start(...schemes: readonly UriScheme[]) {
  const sent: HostUriResult[] = [];
  const runner = new HostUriRunner((frame) => sent.push(frame));
  await register(runner, schemes);
  return { sent, runner };
}

it("URIs are read and written according to their scheme, and failures are reported", async () => {
  const written: string[][] = [];
  const { sent, runner } = await start(
    {
      scheme: "DB",
      read: (url) => {
        if (url.endsWith("bad")) throw new Error("no such row");
        return url.endsWith("note") ? { content: "A", notes: ["old"] } : "A row.";
      },
      write: (url, content) => void written.push([url, content]),
    },
    { scheme: "notes", read: async () => "A note." },
  );
  expect(runner.definitions).toEqual([
    { scheme: "DB", writable: true },
    { scheme: "notes", writable: false },
  ]);
  await runner.run(request("db://1"));
  await runner.run(request("Db://note"));
  await runner.run(request("db://2", "new"));
  await runner.run(request("db://bad"));
  await runner.run(request("notes://1"));
  await runner.run(request("notes://1", "new"));
  await runner.run(request("none://1"));
  const type = "host_uri_result";
  expect(sent).toEqual([
    { type, id: "db://1", content: "A row." },
    { type, id: "Db://note", content: "A", notes: ["old"] },
    { type, id: "db://2" },
    { type, id: "db://bad", isError: true, error: "no such row" },
    { type, id: "notes://1", content: "A note." },
    { type, id: "notes://1", isError: true, error: "it is served for reading only" },
    { type, id: "none://1", isError: true, error: "this client does not serve none://" },
  ]);
  expect(written).toEqual([["db://2", "new"]]);
});

it("a refused set leaves the earlier schemes in place", async () => {
  const { sent, runner } = await start({ scheme: "db", read: () => "A row." });
  const refused = runner.register([{ scheme: "file", read: () => "" }], async () => {
    throw new RangeError("no");
  });
  await expect(refused).rejects.toThrow("no");
  await runner.run(request("db://1"));
  expect(sent).toMatchObject([{ content: "A row." }]);
});

it("a cancelled request is aborted and gets no answer", async () => {
  const signals: AbortSignal[] = [];
  const finish = Promise.withResolvers<string>();
  const { sent, runner } = await start({
    scheme: "db",
    read: (_, { signal }) => {
      signals.push(signal);
      return finish.promise;
    },
  });
  const runs = [request("db://1"), request("db://1"), request("db://2")].map((each) =>
    runner.run(each),
  );
  // A repeated request runs only once.
  expect(signals).toHaveLength(2);
  runner.cancel({ type: "host_uri_cancel", id: "x", targetId: "db://1" });
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  runner.end();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  finish.resolve("late");
  await Promise.all(runs);
  expect(sent).toEqual([]);
});
