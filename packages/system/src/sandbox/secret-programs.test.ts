import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { describeWith } from "../../../../scripts/testing/describe-with.ts";
import { bubblewrapIsMissing } from "./__fixtures__/has-bubblewrap.ts";
import { SandboxedPlace } from "./__fixtures__/sandboxed-place.ts";
import { clients, has, hidingPlaces, shows, world } from "./__fixtures__/secret-programs.ts";
import { VALUE } from "./network/__fixtures__/secret-proxy.ts";

describeWith(bubblewrapIsMissing)("a program in the sandbox", () => {
  it.each(Object.entries(clients).filter(([, { needs }]) => has(needs)))(
    "uses a secret that it does not see: %s",
    async (_name, { line }) => {
      await using there = await world((place, policy) => place.enter(policy));
      const { place, address, seen } = there;
      const home = "export HOME=/tmp PYTHONDONTWRITEBYTECODE=1";
      const { output } = await place.run(`${home} AT=${address}; ${line}`, 120_000);
      const used = seen.filter((each) => each !== null);
      expect(used.length, output).toBeGreaterThan(0);
      for (const each of used) {
        const plain = each.startsWith("Basic ")
          ? Buffer.from(each.slice(6), "base64").toString()
          : each;
        expect(plain).toContain(VALUE);
      }
      expect(output).toContain("said");
      expect(shows(output)).toEqual([]);
    },
  );

  it.each(hidingPlaces)("finds no value in %s", async (_where, line) => {
    await using there = await world((place, policy) => place.enter(policy));
    const { place, address } = there;
    // Used once, so that the value is in the proxy's memory.
    await place.run(`curl -sS -H "Authorization: Bearer $TOKEN" ${address}/`);
    await expect.poll(() => there.seen).toEqual([`Bearer ${VALUE}`]);
    const { output } = await place.run(`export AT=${address}; ${line}`, 60_000);
    expect(shows(output)).toEqual([]);
    const left = readdirSync(place.project, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1"));
    expect(left.flatMap(shows)).toEqual([]);
  });

  it("removes the source variable of a value from the environment of all commands", async () => {
    const place = new SandboxedPlace();
    onTestFinished(() => place[Symbol.asyncDispose]());
    place.environment.REAL = VALUE;
    await place.enter({ secrets: [{ env: "TOKEN", value: "$REAL", hosts: ["localhost:1"] }] });
    const { output } = await place.run("echo $REAL $TOKEN; env");
    expect(shows(output)).toEqual([]);
    expect(output).toMatch(/^tau-secret-[0-9a-f]{32}\n/);
  });
});
