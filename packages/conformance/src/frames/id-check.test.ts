import { describe, expect, it } from "vitest";
import { IdCheck } from "./id-check.ts";

const answer = { type: "response", command: "abort", success: true, id: "1" };

describe("IdCheck", () => {
  it("finds a command that is answered twice, and allows one answer for each command", () => {
    const ids = new IdCheck();
    for (const line of ['{"id":"1","type":"abort"}', "no JSON", '{"id":"1","type":"abort"}'])
      ids.sent(line);
    const answers = [answer, answer, answer].map((frame) => ids.problem("pi-rust", frame));
    expect(answers).toEqual([undefined, undefined, "the command was answered before"]);
    const failure = { ...answer, success: false, error: "no" };
    expect(ids.problem("pisces", failure)).toBeUndefined();
  });

  it("finds a wrong id on an event of each document, and allows the documented ones", () => {
    const ids = new IdCheck();
    const wrong = (dialect: string, type: string) => ids.problem(dialect, { type, id: "1" });
    for (const dialect of ["pi", "pisces", "oh-my-pi", "co-mono", "pi-rust"]) {
      expect(wrong(dialect, "agent_start")).toContain("id");
    }
    expect(wrong("pisces", "subagent_start")).toBeUndefined();
    expect(wrong("pi", "extension_ui_request")).toBeUndefined();
    expect(wrong("pi", "prompt_result")).toBeUndefined();
    expect(ids.problem("pi", { type: "agent_start" })).toBeUndefined();
  });
});
