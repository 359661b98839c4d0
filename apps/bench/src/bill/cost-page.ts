import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { BillingVendor } from "@tau-agent/ai/testing";
import { markdownTable } from "../comparison/markdown-table.ts";
import { type PlotRow, plotSvg } from "../comparison/plot.ts";
import { type BillData, type Cost, ratioOf, readBillData } from "./bill-data.ts";
import { trajectories } from "./trajectories/index.ts";

const NOTE = `<!-- Written by \`npx -y pnpm@12 bench:pages\` from apps/bench/data/bill.json. -->`;

const titles: Readonly<Record<BillingVendor, string>> = {
  anthropic: "Anthropic",
  openai: "OpenAI",
  google: "Google",
};

/** Writes the page and pictures of the latest run; returns their paths. */
export function writeCostPage(): string[] {
  return [...costFiles(readBillData("bill"), readBillData("bill-before"))].map(([name, text]) => {
    const path = fileURLToPath(new URL(`../../../../docs/${name}`, import.meta.url));
    writeFileSync(path, text);
    return path;
  });
}

/** The page and pictures of a run, by path below `docs/`. */
export function costFiles(data: BillData, before: BillData): Map<string, string> {
  const pictures = data.vendors.map(({ vendor }): [string, string] => [
    pictureOf(vendor),
    plotSvg(`${titles[vendor]}, dollars`, "pi", plotRows(data, vendor)),
  ]);
  return new Map([["cost.md", page(data, before)], ...pictures]);
}

function page(data: BillData, before: BillData): string {
  const sections = data.vendors.map(({ vendor, model, other }) => {
    const alt = `Dollars with ${titles[vendor]}: bars of Tau and pi; the values are in the table below`;
    return `## ${titles[vendor]}

${model}; the model is switched to ${other}.

![${alt}](${pictureOf(vendor)})

${markdownTable(vendorCells(data, before, vendor), 1)}
`;
  });
  const failures = data.failures.length > 0 ? `\nNot measured: ${data.failures.join("; ")}.\n` : "";
  return `${NOTE}

# What sessions cost

This page compares what the vendor charges for the same work with Tau and with pi, in the cheapest release named below that can do it. Each host
does scripted work, as installed and with its default tools: the model says the same, and the tools do the same. A server on this machine answers like
the vendor and charges by its published rules for cached prompts and at the prices of the [catalogue](providers.md).

- Date: ${data.date}
- Hosts: ${data.tau}, ${data.peer}

Tau's dollars as a share of pi's. Where pi cannot do the work, marked with *, the share is of the dollars of Tau at ${before.tau}:

${markdownTable(ratioCells(data, before), 1)}
${failures}
## How it is measured

- \`createBillingServer\` of [\`@tau-agent/ai/testing\`](testing.md#what-requests-cost) names the source of each rule. Tokens are a quarter of the
  characters, pictures are counted by the vendor's rule, and a cached prompt is always found while it lives, which no vendor promises.
- OpenAI and Google publish ranges for how long they keep prompts; the measurement uses five minutes and an hour.
- Idle minutes are simulated: the clocks of the server and of the host are put ahead in steps of five seconds, and timers of the host run by
  that clock. Requests that a host sends meanwhile to keep a cache are charged, too. A slow command runs until seven minutes have passed on that clock.
- "80 turns" and "150 turns" have a window of 100 000 tokens.
- Like most clients, the client does not say which host requests it answers. Tau's requests therefore declare \`ask_user\`, about 90 tokens
  ([questions](questions.md)), which no peer has.
- To repeat it: \`npx -y pnpm@12 bench:bill\` ([how](../apps/bench/README.md#bill)).

${sections.join("\n")}`;
}

function ratioCells({ vendors, costs }: BillData, before: BillData): string[][] {
  const rows = trajectories.map(({ name, what }) => {
    const ratios = vendors.map(({ vendor }) => {
      const cost = costs[name]?.[vendor];
      const ratio = ratioOf(cost, before.costs[name]?.[vendor]);
      return `${ratio?.toFixed(2) ?? "–"}${cost?.peer === undefined ? "*" : ""}`;
    });
    return [what, ...ratios];
  });
  return [["", ...vendors.map(({ vendor }) => titles[vendor])], ...rows];
}

function vendorCells({ costs }: BillData, before: BillData, vendor: BillingVendor): string[][] {
  const rows = trajectories.map(({ name, what }) => {
    const cost = costs[name]?.[vendor];
    const values = [cost?.tau, cost?.peer, before.costs[name]?.[vendor]?.tau];
    return [what, ...values.map(dollars)];
  });
  return [["$", "Tau", "pi", `Tau at ${before.tau}`], ...rows];
}

function plotRows({ costs }: BillData, vendor: BillingVendor): PlotRow[] {
  return trajectories.flatMap(({ name, what }) => {
    const { tau, peer }: Cost = costs[name]?.[vendor] ?? {};
    if (tau === undefined || peer === undefined) return [];
    const value = (of: number) => ({ value: of, text: `$${dollars(of)}` });
    return [{ what: what.replaceAll("`", ""), tau: value(tau), peer: value(peer) }];
  });
}

function dollars(value: number | undefined): string {
  return value === undefined ? "–" : value.toFixed(4);
}

function pictureOf(vendor: BillingVendor): string {
  return `images/cost-${vendor}.svg`;
}
