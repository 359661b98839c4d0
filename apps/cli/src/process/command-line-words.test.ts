import { ProtocolError } from "@tau-agent/rpc-protocol";
import { expect, it } from "vitest";
import { commandLineText, hintFor } from "./command-line-words.ts";

it("names the flags of options that the library knows under other names", () => {
  const text = (option: string) =>
    commandLineText(new ProtocolError("invalid_option", { option, reason: "no" }));
  expect(text("provider")).toBe("Invalid option --provider: no");
  expect(text("session.id")).toBe("Invalid option --session-id: no");
  expect(text("--mode")).toBe("Invalid option --mode: no");
  const untrusted = new Error("Not trusted.", { cause: { isFatal: "untrusted" } });
  expect(commandLineText(untrusted)).toContain("--approve");
  expect(hintFor("toString")).toBe("");
});

it("says what to do about a session that cannot be written", () => {
  const error = new ProtocolError("session_write_failed", { path: "/x", reason: "it is full" });
  expect(commandLineText(error)).toMatch(
    /was not announced\. Choose .*--session-dir.*--no-session/,
  );
});
