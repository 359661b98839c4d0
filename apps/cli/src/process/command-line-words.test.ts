import { ProtocolError } from "@tau-agent/rpc-protocol";
import { expect, it } from "vitest";
import { commandLineText, hintFor } from "./command-line-words.ts";

it("names the flags of options that the library knows under other names", () => {
  const text = (message: string, cause?: unknown) => commandLineText(new Error(message, { cause }));
  expect(text("Invalid option provider: there is none")).toBe(
    "Invalid option --provider: there is none",
  );
  expect(text("Invalid option session.id: no")).toBe("Invalid option --session-id: no");
  expect(text("Invalid option --mode: no")).toBe("Invalid option --mode: no");
  expect(text("Not trusted.", { isFatal: "untrusted" })).toContain("--approve");
  expect(hintFor("toString")).toBe("");
});

it("says what to do about a session that cannot be written", () => {
  const error = new ProtocolError("session_write_failed", { path: "/x", reason: "it is full" });
  expect(commandLineText(error)).toMatch(
    /was not announced\. Choose .*--session-dir.*--no-session/,
  );
});
