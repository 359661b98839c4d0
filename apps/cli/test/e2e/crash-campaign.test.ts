import { afterAll, beforeAll, expect, it } from "vitest";
import { type CampaignServer, startCampaignServer } from "../campaign/campaign-server.ts";
import { playRound } from "../campaign/crew.ts";

let server: CampaignServer;
beforeAll(async () => {
  server = await startCampaignServer();
});
afterAll(() => server[Symbol.asyncDispose]());

// The rounds that detect each disabled mechanism; the campaign plays them among all others.
const seenBy = {
  intent: "lost-result",
  epoch: "late-writer",
  adoption: "running-command",
  restore: "written-file",
  folder: "unclaimed-command",
};
/** A machine that stalls for a whole lease may miss the step once. */
const tries = 2;

it.each(Object.entries(seenBy))("detects that %s is disabled", async (mutant, scenario) => {
  for (let seed = 1; seed <= tries; seed += 1) {
    const { broken } = await playRound(seed, server, { mutant, scenario });
    if (broken.length > 0) return;
  }
  expect.unreachable(`${scenario} has not noticed that ${mutant} is missing`);
});

// Each of the last rounds has found a bug.
const directed = [
  ...Object.values(seenBy),
  ...["job-beside-call", "open-approval", "open-question", "merged-work", "subagent-at-work"],
  ...["late-restore", "late-merge"],
];
it("violates no guarantee while the disk is full", async () => {
  for (const seed of [1, 2, 3, 4]) {
    expect(await playRound(seed, server, { scenario: "full-disk" })).toMatchObject({ broken: [] });
  }
});

it.each(directed)("violates no guarantee in %s", async (scenario) => {
  const { broken, crashes } = await playRound(1, server, { scenario });
  expect(broken).toEqual([]);
  expect(crashes).toBeGreaterThan(0);
});
