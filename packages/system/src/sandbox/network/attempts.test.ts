import { afterAll, describe, expect, it } from "vitest";
import { slice } from "../../../../../scripts/testing/slice.ts";
import { attempts } from "./__fixtures__/attempts.ts";
import { mutantWithout, removeMutants } from "./__fixtures__/mutant.ts";
import { relayed } from "./__fixtures__/relayed-proxy.ts";
import { realModules, SecretProxy, VALUE } from "./__fixtures__/secret-proxy.ts";

afterAll(removeMutants);

describe("the value of a secret", () => {
  it("is attacked in at least 60 ways", () => {
    expect(attempts.length).toBeGreaterThanOrEqual(60);
    expect(new Set(attempts.map(({ title }) => title)).size).toBe(attempts.length);
  });

  it.each(attempts)("cannot be obtained by $title", async (attempt) => {
    expect(await attempt.run(await SecretProxy.start(attempt))).not.toContain(VALUE);
  });

  it.each(attempts)("could be obtained, without the rule, by $title", async (attempt) => {
    const proxy = await SecretProxy.start(attempt, await mutantWithout(attempt.rule));
    expect(await attempt.run(proxy)).toContain(VALUE);
  });
});

describe("the value of a secret, with the commands behind an exec server", () => {
  it.each(attempts)("cannot be obtained by $title", async (attempt) => {
    const frames: string[] = [];
    const proxy = await SecretProxy.start(attempt, relayed(realModules, frames));
    expect(await attempt.run(proxy)).not.toContain(VALUE);
    expect(frames.length).toBeGreaterThan(2);
    expect(frames.join("\n")).not.toContain(VALUE);
  });

  it.each(slice(attempts, 20))(
    "could be obtained, without the rule, by $title",
    async (attempt) => {
      const modules = relayed(await mutantWithout(attempt.rule));
      expect(await attempt.run(await SecretProxy.start(attempt, modules))).toContain(VALUE);
    },
  );
});
