import { describe, expect, it } from "vitest";
import { startHost } from "../support/start-host.ts";

const waiting = ["pisces", "oh-my-pi-18"] as const;

describe("a client that waits for ready before it sends anything", () => {
  it.each(waiting)("gets it from %s if the environment chooses the dialect", async (dialect) => {
    const host = startHost({ dialect });
    expect(await host.frames.next()).toMatchObject({ type: "ready" });
  });

  it.each(waiting)("gets it from %s if the flag chooses the dialect", async (dialect) => {
    const host = startHost({ arguments: ["--protocol", dialect] });
    expect(await host.frames.next()).toMatchObject({ type: "ready" });
  });

  it.each(waiting)("does not get it if initialize chooses %s", async (protocol) => {
    const host = startHost();
    host.send({ type: "initialize", protocol });
    expect(await host.frames.next()).toMatchObject({ command: "initialize", success: true });
    host.send({ type: "get_capabilities" });
    expect(await host.frames.next()).toMatchObject({ command: "get_capabilities" });
  });

  it("does not get it from the default dialect", async () => {
    const host = startHost();
    host.send({ type: "get_capabilities" });
    expect(await host.frames.next()).toMatchObject({ command: "get_capabilities" });
  });
});
