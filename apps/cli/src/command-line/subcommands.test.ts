import { describe, expect, it } from "vitest";
import { parseArgs } from "./args.ts";
import { refuseSubcommand } from "./subcommands.ts";

const refusal = (...argv: string[]): string => {
  try {
    refuseSubcommand(parseArgs(argv));
    return "";
  } catch (error) {
    return (error as Error).message;
  }
};

const names = "install remove uninstall update list config auth models record completion".split(
  " ",
);

describe("the first word", () => {
  it.each(names)("%s is a command and never a prompt", (name) => {
    expect(refusal(name, "npm:thing")).toContain(`Invalid option ${name}: this command is not`);
    expect(refusal("--offline", name)).toContain(name);
    expect(refusal("-p", name)).toBe("");
    expect(refusal("--", name)).toBe("");
  });

  it.each(["acp", "conformance", "mcp", "rewind"])("%s is a command only there", (name) => {
    expect(refusal("--offline", name)).toContain("must be the first word");
    expect(refusal("-p", name)).toBe("");
  });

  it("is refused when it is nearly a command", () => {
    expect(refusal("instal", "npm:thing")).toContain("the nearest is install");
    expect(refusal("conifg")).toContain("the nearest is config");
  });

  it("is a prompt otherwise", () => {
    for (const word of ["hi", "test", "fix", "go", "explain this", "list the files", "map"]) {
      expect(refusal(word), word).toBe("");
    }
    expect(refusal("hello", "install")).toBe("");
    expect(refusal("--export", "s.jsonl", "list")).toBe("");
  });
});
