import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { FAMILY_VERSION, VERSION } from "./version.ts";

it("the version is the package's", () => {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  expect(VERSION).toBe(manifest.version);
});

it("the command that clients of the family start is as new as they ask for", async () => {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  const released = new URL(import.meta.resolve("@earendil-works/pi-coding-agent"));
  const { version } = JSON.parse(readFileSync(new URL("../package.json", released), "utf8"));
  expect(FAMILY_VERSION.split(".").map(Number)).toEqual(version.split(".").map(Number));
  expect(manifest.bin).toEqual({ tau: "./bin/tau.js", pi: "./bin/pi.js" });
});
