import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { helloScenario } from "./hello-scenario.ts";

it("the built-in scenario is the one in the documentation", () => {
  const shown = new URL("../../../../../docs/examples/scenarios/hello.json", import.meta.url);
  expect(helloScenario).toEqual(JSON.parse(readFileSync(shown, "utf8")));
});
