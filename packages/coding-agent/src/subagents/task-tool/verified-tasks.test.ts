import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toolCall, turn } from "@tau-agent/ai/testing";
import { describe, expect, it } from "vitest";
import type { LocalOptions } from "../../create/__fixtures__/test-session.ts";
import { git, lifecycle, project, run, types, verified, write } from "./__fixtures__/task-call.ts";

describe("verified tasks", () => {
  const check = { name: "has it", command: "grep -q right a.txt || { echo wrong; exit 4; }" };

  it("return their checks, with events in the documented order", async () => {
    const { results, events, places } = await run(
      { task: "<a>", isolated: true, verify: { commands: [check] } },
      { a: (step) => (step === 0 ? write("a.txt", "right\n") : "done") },
      { settings: verified },
    );
    const [result] = results;
    expect(result).toMatchObject({ exitCode: 0, patch: { status: "applied" } });
    expect(result?.verification).toMatchObject({
      requested: true,
      mode: "command",
      status: "passed",
      retriesUsed: 0,
      onFailure: "return_failure",
      attempts: [
        { attempt: 1, status: "passed", commandResults: [{ name: "has it", exitCode: 0 }] },
      ],
    });
    expect(types(events)).toEqual([
      "subagent_start",
      "subagent_verification_start",
      "subagent_verification_command_start",
      "subagent_verification_command_end",
      "subagent_verification_end",
      "subagent_end",
    ]);
    expect(lifecycle(events).at(-1)).toMatchObject({ verification: { status: "passed" } });
    expect(readFileSync(join(places.cwd, "a.txt"), "utf8")).toBe("right\n");
  });

  it("keep the patch on return_failure and drop it on discard_patch, and apply neither", async () => {
    const children = { a: (step: number) => (step === 0 ? write("a.txt", "bad\n") : "done") };
    for (const [onFailure, status] of [
      ["return_failure", "kept"],
      ["discard_patch", "discarded"],
    ]) {
      const { results, places, text } = await run(
        { task: "<a>", isolated: true, verify: { commands: [check], onFailure } },
        children,
        { settings: verified },
      );
      expect(results[0]).toMatchObject({
        exitCode: 1,
        patch: { status },
        verification: { status: "failed" },
      });
      expect(existsSync(results[0]?.patch?.path ?? "")).toBe(onFailure === "return_failure");
      expect(readFileSync(join(places.cwd, "a.txt"), "utf8")).toBe("one\n");
      expect(text).toContain("exit code 4\nwrong");
    }
  });

  it("are repaired by the same subagent, as often as the settings allow", async () => {
    const children = {
      a: (step: number) => {
        if (step === 0) return write("a.txt", "bad\n");
        return step === 2 ? write("a.txt", "right\n") : `step ${step}`;
      },
    };
    const call = {
      task: "<a>",
      isolated: true,
      verify: { commands: [check], onFailure: "retry_once" },
    };
    const { results, events } = await run(call, children, { settings: verified });
    expect(results[0]).toMatchObject({
      exitCode: 0,
      output: "step 3",
      verification: {
        status: "passed",
        retriesUsed: 1,
        attempts: [{ status: "failed" }, { status: "passed" }],
      },
    });
    expect(new Set(lifecycle(events).map((event) => Reflect.get(event, "id")))).toEqual(
      new Set(["call"]),
    );
    expect(readFileSync(results[0]?.sessionFile ?? "", "utf8")).toContain("exit code 4");
    const none = { ...verified, "task.verification.maxRetries": 0 };
    const unrepaired = await run(call, children, { settings: none });
    expect(unrepaired.results[0]?.verification).toMatchObject({ status: "failed", retriesUsed: 0 });
  });

  it("return work without the files that failing checks left, even after a repair", async () => {
    const command = "echo built > a.log.txt; rm -f new.txt; mkdir d; mv b.txt d; grep right a.txt";
    const { results, places } = await run(
      {
        task: "<a>",
        isolated: true,
        verify: { commands: [{ name: "build", command }], onFailure: "retry_once" },
      },
      {
        a: (step) => {
          if (step === 0) return turn([toolCall("write", { path: "new.txt", content: "new\n" })]);
          return step === 2 ? write("a.txt", "right\n") : `step ${step}`;
        },
      },
      { settings: verified, places: project({ "b.txt": "b\n" }) },
    );
    expect(results[0]?.verification).toMatchObject({ status: "passed", retriesUsed: 1 });
    expect(results[0]?.patch).toMatchObject({ status: "applied", files: ["a.txt", "new.txt"] });
    expect(git(String(places.cwd), "status", "--porcelain")).toBe(" M a.txt\n?? new.txt\n");
  });

  it("return the answer of the repair, which must also fit the schema", async () => {
    const { results } = await run(
      {
        task: "<a>",
        isolated: true,
        outputSchema: { type: "object" },
        verify: { commands: [check], onFailure: "retry_once" },
      },
      {
        a: (step) => {
          if (step === 0) return write("a.txt", "bad\n");
          if (step === 2) return write("a.txt", "right\n");
          return ["", '{"is":"bad"}', "", "repaired", '{"is":"right"}'][step] ?? "";
        },
      },
      { settings: verified },
    );
    expect(results[0]).toMatchObject({
      output: '{"is":"right"}',
      answer: { value: { is: "right" }, attempts: 2 },
      verification: { status: "passed", retriesUsed: 1 },
    });
  });

  it("keep the checked work when the subagent dies during a repair", async () => {
    const places: LocalOptions = {
      ...project(),
      startSubagentHost: async ({ cwd }) => {
        let prompts = 0;
        return {
          sessionFile: undefined,
          prompt: async () => {
            prompts += 1;
            if (prompts > 1) throw new TypeError("it was killed");
            writeFileSync(join(cwd, "a.txt"), "bad\n");
            return { status: "completed", text: "did it" };
          },
          setBudget: async () => undefined,
          setEventLevel: async () => undefined,
          stop: async () => undefined,
        };
      },
    };
    const verify = { commands: [check], onFailure: "retry_once" };
    const call = { task: "x", isolated: true, verify };
    const { results, text } = await run(call, {}, { settings: verified, places });
    expect(results[0]?.verification).toMatchObject({ status: "failed", retriesUsed: 1 });
    const attempts = results[0]?.verification?.attempts;
    expect(attempts).toMatchObject([{ attempt: 1, error: "The repair failed: it was killed" }]);
    expect(results[0]?.patch).toMatchObject({ status: "kept", files: ["a.txt"] });
    expect(text).toContain("it was killed");
  });

  it("are recorded as skipped when the subagent failed", async () => {
    const { results, events } = await run(
      { task: "<a>", isolated: true, verify: { commands: [check] } },
      { a: () => turn("x", { fault: { kind: "status", status: 400 } }) },
      { settings: verified },
    );
    expect(results[0]).toMatchObject({
      exitCode: 1,
      verification: { requested: true, status: "skipped", attempts: [] },
    });
    expect(types(events)).toEqual(["subagent_start", "subagent_end"]);
  });
});
