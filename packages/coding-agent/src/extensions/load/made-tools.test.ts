import { expect, it } from "vitest";
import { madeTools } from "./made-tools.ts";

it("calls a tool returned by a factory with its arguments in their older order", async () => {
  const heard: unknown[] = [];
  const tool = {
    name: "think",
    greeting: "hm",
    async execute(...given: unknown[]) {
      heard.push(this.greeting, ...given);
      return { content: [] };
    },
  };
  const [made] = madeTools([tool, undefined, { name: "no tool" }]);
  await made?.execute("id", { a: 1 }, "signal" as never, "update" as never, "context" as never);
  expect(heard).toEqual(["hm", "id", { a: 1 }, "update", "context", "signal"]);
  expect(madeTools(tool)).toHaveLength(1);
  expect(madeTools(undefined)).toEqual([]);
});
