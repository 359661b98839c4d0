/**
 * Every provider of the catalogue against a server that stands in for its endpoint, and checks address, key or login,
 * and request rules. For each kind of model (as the catalogue describes its endpoint): a whole tool turn with and
 * without thinking, continued in another process, and conversations that began in other wire formats.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type LlmMessage,
  listProviders,
  loadModels,
  type Model,
  supportedThinkingLevels,
  type ThinkingLevel,
} from "@tau-agent/ai";
import { loopbackApis, type Vendor, vendors } from "@tau-agent/ai/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { slice } from "../../../scripts/testing/slice.ts";
import { takeRewrites } from "../../ai/test/stable-prefix.ts";
import { createUsers } from "./matrix/users.ts";
import { Visit } from "./matrix/visit.ts";

const root = mkdtempSync(join(tmpdir(), "tau-matrix-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const userOf = createUsers(root);

const modelsOf = (vendor: Vendor) => userOf(vendor).registry.models(vendor.provider);

function visit(vendor: Vendor, model: Model, level: ThinkingLevel): Visit {
  return new Visit(vendor, userOf(vendor), model, level);
}

/** Bedrock has about thirty kinds of models; a short run tests a few of them. */
const mostKinds = 8;

/** One model of each kind that an endpoint offers. */
async function kindsOf(vendor: Vendor): Promise<readonly Model[]> {
  const kinds = new Map<string, Model>();
  for (const model of await modelsOf(vendor)) {
    const { id, baseUrl, compat, reasoning, thinkingLevelMap } = model;
    const levels = Object.values(thinkingLevelMap ?? {}).length;
    // On Bedrock, models differ by maker, and the region prefix says where they run.
    const makers = vendor.provider === "amazon-bedrock" ? id.split(/[.-]/, 2) : [];
    const kind = JSON.stringify([baseUrl, compat, reasoning, levels, makers]);
    if (model.api === vendor.api && !kinds.has(kind)) kinds.set(kind, model);
  }
  return slice([...kinds.values()], mostKinds);
}

function levelsOf(model: Model): readonly ThinkingLevel[] {
  const supported = supportedThinkingLevels(model);
  const on = (["high", "medium", "low", "max"] as const).find((level) => supported.includes(level));
  return [...(supported.includes("off") ? (["off"] as const) : []), ...(on ? [on] : [])];
}

it("has a server for every endpoint of the catalogue", async () => {
  const served = new Set(vendors.map(({ provider, api }) => `${provider} ${api}`));
  for (const { id } of listProviders()) {
    for (const { api } of await loadModels(id)) expect(served).toContain(`${id} ${api}`);
  }
});

/** The conversation that each wire format's test produced. */
const histories = new Map<string, readonly LlmMessage[]>();

beforeAll(async () => {
  for (const vendor of vendors) {
    if (histories.has(vendor.api)) continue;
    const model = (await modelsOf(vendor)).find(
      ({ api, reasoning }) => api === vendor.api && reasoning,
    );
    if (model === undefined) throw new Error(`${vendor.provider} has no model that thinks`);
    const level = levelsOf(model).at(-1) ?? "off";
    histories.set(vendor.api, await visit(vendor, model, level).toolTurn());
  }
  expect([...histories.keys()].sort()).toEqual([...loopbackApis].sort());
});

const rows = vendors.map((vendor) => ({ vendor, ...vendor, by: vendor.setUp ?? "a key or login" }));

// One vendor has dozens of kinds of models.
describe.each(rows)("$provider in the format $api, with $by", ({ vendor }) => {
  it("completes a tool turn, with and without thinking, and after a restart", async () => {
    const kinds = await kindsOf(vendor);
    expect(kinds.length).toBeGreaterThan(0);
    for (const model of kinds) {
      for (const level of levelsOf(model)) await visit(vendor, model, level).toolTurn();
    }
  });

  it("continues conversations from every other format", async () => {
    const others = [...histories].filter(([api]) => api !== vendor.api);
    for (const model of await kindsOf(vendor)) {
      const level = levelsOf(model).at(-1) ?? "off";
      await visit(vendor, model, level).goOn(others.map(([, history]) => history));
    }
    // All of these conversations have the same prompt, so rewrites are expected.
    takeRewrites();
  });
});
