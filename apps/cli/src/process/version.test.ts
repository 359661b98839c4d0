import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { PI_CLIENT_VERSION, PI_VERSION, VERSION } from "./version.ts";

const read = (url: URL) => JSON.parse(readFileSync(url, "utf8"));
const manifestOf = (name: string) => read(new URL("../package.json", import.meta.resolve(name)));
const own = read(new URL("../../package.json", import.meta.url));

it("the version is that of the package", () => {
  expect(VERSION).toBe(own.version);
});

it("extensions see the version of the newest tested release of pi", () => {
  expect(PI_VERSION).toBe(manifestOf("@earendil-works/pi-coding-agent").version);
});

it("clients see the version of the release that is tested on the default dialect", () => {
  expect(PI_CLIENT_VERSION).toBe(manifestOf("pi-coding-agent-0.87").version);
});

it("tau is the only command of the package, so that npx finds it", () => {
  expect(own.bin).toEqual({ tau: "bin/tau.js" });
});
