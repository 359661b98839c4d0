import { ProtocolError } from "@tau-agent/rpc-protocol";
import { expect, it } from "vitest";
import { commandLineText, hintFor } from "./command-line-words.ts";

it("names the flags for options that the library calls by other names", () => {
  const text = (option: string) =>
    commandLineText(new ProtocolError("invalid_option", { option, reason: "no" }));
  expect(text("provider")).toBe("Invalid option --provider: no");
  expect(text("session.id")).toBe("Invalid option --session-id: no");
  expect(text("--mode")).toBe("Invalid option --mode: no");
  const untrusted = new Error("Not trusted.", { cause: { isFatal: "untrusted" } });
  expect(commandLineText(untrusted)).toContain("--approve");
  expect(hintFor("toString")).toBe("");
});

it("suggests options for a session that cannot be written", () => {
  const error = new ProtocolError("session_write_failed", { path: "/x", reason: "it is full" });
  expect(commandLineText(error)).toMatch(
    /was not announced\. Choose .*--session-dir.*--no-session/,
  );
});
