import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { tauHello } from "../comparison/contestants.ts";
import type { Contestant } from "../comparison/scenario.ts";
import { readBillData } from "./bill-data.ts";
import { costFiles } from "./cost-page.ts";
import { play } from "./play.ts";
import { trajectories } from "./trajectories/index.ts";
import { type Trajectory, workInPrompts } from "./trajectories/trajectory.ts";
import { vendorChoices } from "./vendors.ts";

/** Runs the host from its sources, so that the test needs no build. */
const fromSources: Contestant = {
  name: "tau",
  version: "",
  command: [
    process.execPath,
    ...["-C", "@tau-agent/source"],
    fileURLToPath(new URL("../../../cli/src/cli.ts", import.meta.url)),
  ],
  hello: tauHello,
};

/** Work, a pause, and more work. */
const shortWork: Trajectory = {
  name: "short",
  what: "Work with a pause",
  async play(session) {
    await workInPrompts(session, 10);
    await session.clock.pass(7);
    await workInPrompts(session, 10, 10);
  },
};

describe.each(vendorChoices)("with $vendor", (vendor) => {
  it("costs no more for a short question than docs/cost.md says", async () => {
    const question = trajectories.find(({ name }) => name === "question");
    if (question === undefined) throw new Error("no such trajectory");
    const { costUsd } = await play(question, fromSources, vendor);
    const kept = readBillData("bill").costs.question?.[vendor.vendor]?.tau ?? 0;
    // The prompt contains the system's name and the folder's path, so its length varies.
    expect(costUsd).toBeLessThan(kept * 1.02);
  });

  it("changes no block that was already sent, and pays for a pause", {
    timeout: 60_000,
  }, async () => {
    const { requests } = await play(shortWork, fromSources, vendor);
    expect(requests).toHaveLength(20);
    // After a pause longer than the cache lifetime, results may be cleared, because everything is sent again anyway.
    const changed = requests.filter(({ firstChangedBlock }) => firstChangedBlock !== undefined);
    expect(changed.every((request) => request === requests[10])).toBe(true);
    const shares = requests.map(({ cacheRead, cacheWrite, uncached }) => {
      return cacheRead / (cacheRead + cacheWrite + uncached);
    });
    expect(shares[9]).toBeGreaterThan(0.7);
    // Only Google keeps prompts for so long.
    expect((shares[10] ?? 0) > 0.7).toBe(vendor.vendor === "google");
    expect(shares[19]).toBeGreaterThan(0.7);
  });
});

const files = costFiles(readBillData("bill"), readBillData("bill-before"));

it.each([...files])(
  "%s matches the kept run (update with npx -y pnpm@12 bench:pages)",
  (name, text) => {
    const path = fileURLToPath(new URL(`../../../../docs/${name}`, import.meta.url));
    expect(readFileSync(path, "utf8")).toBe(text);
  },
);

it("has a value for every trajectory and vendor", () => {
  const { costs } = readBillData("bill");
  for (const { name, isOnlyTaus } of trajectories) {
    for (const { vendor } of vendorChoices) {
      expect(costs[name]?.[vendor]?.tau, name).toBeGreaterThan(0);
      expect(costs[name]?.[vendor]?.peer !== undefined, name).toBe(!isOnlyTaus);
    }
  }
});
