import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createFolder } from "../__fixtures__/folders.ts";
import { openStore } from "./open-store.ts";

it("gives hosts that open a folder at the same time the same complete store", async () => {
  const { environment, folder, directory } = createFolder("plain");
  const opened = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const { store } = await openStore(environment, { folder, directory });
      return readdirSync(join(store.place.gitDir, "objects")).sort();
    }),
  );
  expect(opened).toEqual(opened.map(() => ["info", "pack"]));
  expect(readdirSync(join(directory, "stores"))).toHaveLength(1);
  expect(readdirSync(join(directory, "tmp"))).toEqual([]);
});
