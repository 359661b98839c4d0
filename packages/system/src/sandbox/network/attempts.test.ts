import { afterAll, describe, expect, it } from "vitest";
import { attempts } from "./__fixtures__/attempts.ts";
import { mutantWithout, removeMutants } from "./__fixtures__/mutant.ts";
import { SecretProxy, VALUE } from "./__fixtures__/secret-proxy.ts";

afterAll(removeMutants);

describe("the value of a secret", () => {
  it("is tried for in at least 60 ways", () => {
    expect(attempts.length).toBeGreaterThanOrEqual(60);
    expect(new Set(attempts.map(({ title }) => title)).size).toBe(attempts.length);
  });

  it.each(attempts)("is not to be had by $title", async (attempt) => {
    expect(await attempt.run(await SecretProxy.start(attempt))).not.toContain(VALUE);
  });

  it.each(attempts)("would be, without the rule, by $title", async (attempt) => {
    const proxy = await SecretProxy.start(attempt, await mutantWithout(attempt.rule));
    expect(await attempt.run(proxy)).toContain(VALUE);
  });
});
