import { expect, it } from "vitest";
import type { CommandContext, ExtensionContext } from "../api/context.ts";
import { type AnyHandler, Extension } from "../load/registration.ts";
import type { SessionPort } from "../port/session-port.ts";
import { EventObserver } from "./event-observer.ts";
import { ExtensionRunner } from "./runner.ts";

/** An observer of an empty session, and the compaction reasons that an extension received. */
function observed() {
  const reasons: string[] = [];
  const extension = new Extension({ path: "/x.ts", realPath: "/x.ts", scope: "user" });
  const handler = (event: { reason: string }) => reasons.push(event.reason);
  extension.addHandler("session_compact_failed", handler as unknown as AnyHandler);
  const runner = new ExtensionRunner({
    isAsking: () => false,
    extensions: [extension],
    context: {} as ExtensionContext,
    commandContext: {} as CommandContext,
    onFailure: () => {},
  });
  const port = { log: { tree: { entries: [] } }, thinkingLevel: "off" } as unknown as SessionPort;
  const observer = new EventObserver(() => runner, port);
  return { observer, reasons };
}

it("reports the reason of a compaction at its end", async () => {
  const { observer, reasons } = observed();
  const end = { result: null, aborted: false, willRetry: false };
  for (const reason of ["overflow", "threshold"] as const) {
    await observer.observe({ type: "auto_compaction_start", reason });
    await observer.observe({ type: "auto_compaction_end", reason, ...end });
  }
  await observer.observe({ type: "compaction_start", reason: "manual" });
  await observer.observe({ type: "compaction_end", reason: "manual", ...end });
  expect(reasons).toEqual(["overflow", "threshold", "manual"]);
});
