import { expect, it } from "vitest";
import { searchRank } from "./search-rank.ts";

it("puts guides before lists and examples, and all of them before entries of the API", () => {
  const order = [
    "/approvals.html#the-question",
    "/protocol-reference.html#prompt",
    "/api/@tau-agent/coding-agent/functions/createAgentSession.html#parameters",
  ];
  const ranks = order.map(searchRank);
  expect(ranks.toSorted((a, b) => b - a)).toEqual(ranks);
  expect(new Set(ranks).size).toBe(3);
  expect(searchRank("/example/web-chat-ts.html")).toBe(searchRank("/protocol-reference.html"));
  // A score is a matter of words; no entry of the API outweighs a guide by its words alone.
  expect((ranks[0] ?? 0) / (ranks[2] ?? 1)).toBeGreaterThanOrEqual(1000);
});

it("works from its source alone, as the site calls it", () => {
  const alone = new Function(`return (${searchRank})`)() as typeof searchRank;
  expect(alone("/api/index.html")).toBe(searchRank("/api/index.html"));
});
