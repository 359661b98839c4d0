import { expect, it, vi } from "vitest";
import { createTool, toolRow } from "./tool-row.ts";

it("loads the code of a tool once, at its first call, and again if that failed", async () => {
  const run = async () => ({ content: [] });
  const load = vi.fn().mockRejectedValueOnce(new Error("no such file")).mockResolvedValue(run);
  const tool = createTool(
    toolRow({ name: "t", description: "", properties: {}, load }),
    {} as never,
  );
  expect(load).not.toHaveBeenCalled();
  const call = () => tool.execute({}, {} as never);
  await expect(call()).rejects.toThrow("no such file");
  for (let count = 0; count < 3; count++) expect(await call()).toEqual({ content: [] });
  expect(load).toHaveBeenCalledTimes(2);
});
