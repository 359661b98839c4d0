import { expect, it } from "vitest";
import { searchRank } from "./search-rank.ts";

it("ranks guides above lists and examples, and all of these above the API reference", () => {
  const order = [
    "/approvals.html#the-question",
    "/protocol-reference.html#prompt",
    "/api/@tau-agent/coding-agent/functions/createAgentSession.html#parameters",
  ];
  const ranks = order.map(searchRank);
  expect(ranks.toSorted((a, b) => b - a)).toEqual(ranks);
  expect(new Set(ranks).size).toBe(3);
  expect(searchRank("/example/web-chat-ts.html")).toBe(searchRank("/protocol-reference.html"));
  // Scores also depend on the words found, which must not lift an API entry above a guide.
  expect((ranks[0] ?? 0) / (ranks[2] ?? 1)).toBeGreaterThanOrEqual(1000);
});

it("works from its source text alone, as the site calls it", () => {
  const alone = new Function(`return (${searchRank})`)() as typeof searchRank;
  expect(alone("/api/index.html")).toBe(searchRank("/api/index.html"));
});
