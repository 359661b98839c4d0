import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { PI_VERSION, VERSION } from "./version.ts";

it("the version is the package's", () => {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  expect(VERSION).toBe(manifest.version);
});

it("`pi` reports a version that is recent enough for its clients", async () => {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  const released = new URL(import.meta.resolve("@earendil-works/pi-coding-agent"));
  const { version } = JSON.parse(readFileSync(new URL("../package.json", released), "utf8"));
  expect(PI_VERSION.split(".").map(Number)).toEqual(version.split(".").map(Number));
  expect(manifest.bin).toEqual({ tau: "./bin/tau.js", pi: "./bin/pi.js" });
});
