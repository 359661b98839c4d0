import { expect, it } from "vitest";
import type { AgentTool } from "./tool.ts";
import { Validators } from "./validate-arguments.ts";

const tool = (parameters: AgentTool["parameters"]) => ({ parameters }) as AgentTool;

it("makes one validator for each schema", async () => {
  const validators = new Validators();
  const [one, other] = [{ type: "object" }, { type: "object" }];
  const first = await validators.of(tool(one));
  expect(await validators.of(tool(one))).toBe(first);
  expect(await validators.of(tool(other))).not.toBe(first);
});
