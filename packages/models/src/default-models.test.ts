import { listProviders, loadModels } from "@tau-agent/ai";
import { expect, it } from "vitest";
import { defaultModels } from "./default-models.ts";

it("names only models that the catalogue has", async () => {
  for (const [provider, wanted] of Object.entries(defaultModels)) {
    const ids = (await loadModels(provider)).map(({ id }) => id);
    expect({ provider, ids }).toMatchObject({ ids: expect.arrayContaining([...wanted]) });
  }
});

it("has a default for every provider of the catalogue", () => {
  const known = listProviders().map(({ id }) => id);
  expect(Object.keys(defaultModels).sort()).toEqual(known.sort());
});
