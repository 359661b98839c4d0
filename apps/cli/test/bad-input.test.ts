import { commands } from "@tau-agent/rpc-protocol/commands";
import { describe, expect, it } from "vitest";
import { badCommands } from "./support/bad-commands.ts";
import { memoryHost } from "./support/hosts.ts";

const cases = badCommands();

/** Sends a line to a host and checks that it gets exactly one error, which names the field and changes nothing. */
async function checkAll(lines: readonly { line: string; field: string; title: string }[]) {
  await using host = await memoryHost({ title: "", requirements: [] });
  const state = async () => {
    host.send('{"id":"state","type":"get_state"}');
    return host.next();
  };
  const before = await state();
  for (const { line, field, title } of lines) {
    host.send(line);
    const answer = await host.next();
    expect(answer, title).toMatchObject({ type: "response", success: false });
    expect(answer?.error, title).toContain(`"${field}"`);
    expect(await state(), title).toEqual(before);
  }
}

describe("a command with a wrong field", () => {
  it.each(Object.keys(commands))(
    "%s: gets one error that names the field and changes nothing",
    async (name) => {
      const bad = cases.filter(({ command }) => command.type === name);
      expect(bad).not.toEqual([]);
      await checkAll(
        bad.map(({ command, ...rest }) => ({
          line: JSON.stringify({ id: "bad", ...command }),
          ...rest,
        })),
      );
    },
  );

  it("is tested for every field in the table of commands", () => {
    const fields = new Set(cases.map(({ command, field }) => `${command.type} ${field}`));
    expect([...fields]).toEqual(
      expect.arrayContaining([
        "prompt message",
        "prompt images[0]",
        "prompt streamingBehavior",
        "set_model modelId",
        "set_thinking_level level",
        "fork entryId",
        "initialize clientInfo.name",
        "initialize events[0]",
      ]),
    );
    expect(cases.length).toBeGreaterThan(200);
  });
});

describe("an answer to a dialog with an invalid field", () => {
  const answer = { type: "extension_ui_response", id: "uuid-1" };
  const wrong = [
    { id: 1 },
    { id: undefined },
    { value: 1 },
    { value: ["Allow"] },
    { confirmed: "yes" },
    { confirmed: 1 },
    { cancelled: "yes" },
    { cancelled: {} },
  ];

  it("is refused with one error that names the field", async () => {
    await checkAll(
      wrong.map((fields) => {
        const [field = ""] = Object.keys(fields);
        return { line: JSON.stringify({ ...answer, ...fields }), field, title: field };
      }),
    );
  });
});
