import { describe, expect, it } from "vitest";
import { readJob } from "./prompt-job.ts";

const job = { sessionId: "s", message: "Hello" };

describe("readJob", () => {
  it("accepts an object as output schema", () => {
    expect(readJob({ ...job, outputSchema: { type: "object" } })).toMatchObject(job);
  });

  it.each([[null], [[]], ["{}"]])("refuses the output schema %o", (outputSchema) => {
    expect(() => readJob({ ...job, outputSchema })).toThrow("outputSchema must be an object");
  });

  it.each([[null], [[job]], ["text"]])("refuses the data %o", (data) => {
    expect(() => readJob(data)).toThrow("the data is not an object");
  });
});
