import { describe, expect, it } from "vitest";
import { hostCommand } from "./host-command.ts";

describe("hostCommand", () => {
  it("runs a given entry with this Node", () => {
    expect(hostCommand({ cliPath: "/x/tau.js", model: "m" })).toEqual([
      process.execPath,
      "/x/tau.js",
      "--mode",
      "rpc",
      "--model",
      "m",
    ]);
  });

  it("takes any argument vector as it is and adds the mode", () => {
    const command = ["docker", "exec", "-i", "box", "tau"];
    expect(hostCommand({ command, args: ["--no-session"] })).toEqual([
      ...command,
      "--mode",
      "rpc",
      "--no-session",
    ]);
  });

  it("never starts a shim of an installed host", () => {
    const [program, entry] = hostCommand({});
    if (program === "tau") expect(entry).toBe("--mode");
    else expect([program, entry]).toEqual([process.execPath, expect.stringMatching(/tau\.js$/)]);
  });
});
