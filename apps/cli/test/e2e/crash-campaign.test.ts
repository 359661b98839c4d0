import { afterAll, beforeAll, expect, it } from "vitest";
import { type CampaignServer, startCampaignServer } from "../campaign/campaign-server.ts";
import { playRound } from "../campaign/crew.ts";

let server: CampaignServer;
beforeAll(async () => {
  server = await startCampaignServer();
});
afterAll(() => server[Symbol.asyncDispose]());

// Which rounds see that a mechanism is missing; the campaign plays them beside all others.
const seenBy = {
  intent: "lost-result",
  epoch: "late-writer",
  adoption: "running-command",
  restore: "written-file",
  folder: "unclaimed-command",
};
/** A machine that stands still for a lease may miss the moment once. */
const tries = 2;

it.each(Object.entries(seenBy))(
  "notices that %s is missing",
  async (mutant, scenario) => {
    for (let seed = 1; seed <= tries; seed += 1) {
      const { broken } = await playRound(seed, server, { mutant, scenario });
      if (broken.length > 0) return;
    }
    expect.unreachable(`${scenario} has not noticed that ${mutant} is missing`);
  },
  180_000,
);

// The last ones have each found a fault.
const directed = [
  ...Object.values(seenBy),
  ...["job-beside-call", "open-approval", "open-question", "merged-work", "subagent-at-work"],
  ...["late-restore", "late-merge"],
];
it("breaks no promise while the disk is full", async () => {
  for (const seed of [1, 2, 3, 4]) {
    expect(await playRound(seed, server, { scenario: "full-disk" })).toMatchObject({ broken: [] });
  }
}, 240_000);

it.each(directed)(
  "breaks no promise in %s",
  async (scenario) => {
    const { broken, crashes } = await playRound(1, server, { scenario });
    expect(broken).toEqual([]);
    expect(crashes).toBeGreaterThan(0);
  },
  120_000,
);
