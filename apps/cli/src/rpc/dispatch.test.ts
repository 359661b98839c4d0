import {
  type CommandName,
  command,
  commands,
  decodeClientFrame,
  type ResponseFrame,
} from "@tau-agent/rpc-protocol";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { type DispatchOptions, dispatch } from "./dispatch.ts";
import type { SessionContext } from "./handlers/contexts.ts";
import { handlers } from "./handlers/index.ts";

/** Adds a command as an author would: its definition in the table, its handler next to the others. */
function addCommand(
  traits: Partial<Record<"awaitsSessionChange" | "beginsWork" | "answersAtOnce", true>>,
  run: () => unknown,
): void {
  const definition = command({
    summary: "Does what the test says.",
    params: () => z.object({}),
    result: () => z.object({ done: z.boolean() }),
    ...traits,
  });
  Object.assign(commands, { invented: definition });
  Object.assign(handlers, { invented: run });
}

afterEach(() => {
  Reflect.deleteProperty(commands, "invented");
  Reflect.deleteProperty(handlers, "invented");
});

/** A host whose session may be about to change. */
function hostWith(
  session: { underWay?: Promise<void>; isClosed?: boolean; stored?: Promise<void> },
  isDraining = false,
) {
  const answers: ResponseFrame[] = [];
  const { underWay, isClosed = false, stored } = session;
  const context = {
    session: { navigation: { underWay }, isClosed, stored },
    connection: { respond: (response: ResponseFrame) => answers.push(response) },
  };
  const options: DispatchOptions = {
    context: context as unknown as SessionContext,
    waiting: new Set(),
    onUiResponse: () => expect.fail("is not a dialog's answer"),
    onHostAnswer: () => expect.fail("is not an answer"),
    onInternalError: (error) => expect.fail(String(error)),
    isDraining: () => isDraining,
  };
  const send = (type: CommandName | "invented") =>
    dispatch(decodeClientFrame(JSON.stringify({ id: "1", type })), options);
  return { context, answers, send };
}

describe("a command added to the table", () => {
  it("is answered with the result of its handler", async () => {
    addCommand({}, () => ({ done: true }));
    const { answers, send } = hostWith({});
    await send("invented");
    const answer = { id: "1", type: "response", command: "invented", success: true };
    expect(answers).toEqual([{ ...answer, data: { done: true } }]);
  });

  it("waits for a session change if its definition says so", async () => {
    const change = Promise.withResolvers<void>();
    const seen: string[] = [];
    addCommand({ awaitsSessionChange: true }, () => void seen.push("invented"));
    const { context, send } = hostWith({ underWay: change.promise });
    const done = send("invented");
    expect(seen).toEqual([]);
    context.session.navigation.underWay = undefined;
    seen.push("changed");
    change.resolve();
    await done;
    expect(seen).toEqual(["changed", "invented"]);
  });

  it("runs during a session change otherwise", () => {
    const seen: string[] = [];
    addCommand({}, () => void seen.push("invented"));
    void hostWith({ underWay: new Promise(() => {}) }).send("invented");
    expect(seen).toEqual(["invented"]);
  });

  it("is refused if the session that it waits for is closed", () => {
    addCommand({ awaitsSessionChange: true }, () => expect.fail("runs in a closed session"));
    const { answers, send } = hostWith({ isClosed: true });
    void send("invented");
    expect(answers).toMatchObject([{ success: false, code: "disposed" }]);
  });

  it("is refused by a draining host if its definition says that it begins work", () => {
    addCommand({ beginsWork: true }, () => expect.fail("begins work"));
    const { answers, send } = hostWith({}, true);
    void send("invented");
    expect(answers).toMatchObject([{ success: false, code: "draining" }]);
  });

  it("is answered by a draining host otherwise", () => {
    addCommand({}, () => ({ done: true }));
    const { answers, send } = hostWith({}, true);
    void send("invented");
    expect(answers).toMatchObject([{ success: true }]);
  });

  it("is answered before the session is stored only if its definition says so", async () => {
    const store = Promise.withResolvers<void>();
    addCommand({ answersAtOnce: true }, () => ({ done: "at once" }));
    const { answers, send } = hostWith({ stored: store.promise });
    await send("invented");
    addCommand({}, () => ({ done: "later" }));
    const sent = send("invented");
    expect(answers).toMatchObject([{ data: { done: "at once" } }]);
    store.resolve();
    await sent;
    expect(answers).toMatchObject([{}, { data: { done: "later" } }]);
  });
});
