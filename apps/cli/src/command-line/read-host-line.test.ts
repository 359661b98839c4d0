import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { optionsHelp } from "./help.ts";
import { hostOptions } from "./host-options.ts";
import { readHostLine } from "./read-host-line.ts";
import { settleUnknown } from "./settle-unknown.ts";

const refused = (...argv: string[]): string => {
  try {
    readHostLine(argv);
    return "";
  } catch (error) {
    return `${(error as { code?: string }).code}: ${(error as Error).message}`;
  }
};

describe("readHostLine", () => {
  it("reads values after a space or an equals sign", () => {
    expect(readHostLine(["--mode", "rpc", "--model=a/b:high", "-n", "My name"])).toMatchObject({
      mode: "rpc",
      model: "a/b:high",
      name: "My name",
    });
    expect(readHostLine(["--name="])).toMatchObject({ name: "" });
  });

  it("takes the next word as a value even when it looks like a flag", () => {
    expect(readHostLine(["--api-key", "-secret-"]).apiKey).toBe("-secret-");
    expect(readHostLine(["--system-prompt", "--- be brief"]).systemPrompt).toBe("--- be brief");
    expect(readHostLine(["--tools", "-bash"]).tools).toBe("-bash");
  });

  it.each([
    ["--model", "--thinking", "high"],
    ["--model", "--thinking=high"],
    ["--append-system-prompt", "-p"],
    ["-n", "--continue"],
  ])("reports the missing value in %s %s", (option, next, ...rest) => {
    const told = `${option}: it needs a value, and ${next} is an option`;
    expect(refused(option, next, ...rest)).toContain(told);
  });

  it("accepts a value that looks like an option after an equals sign", () => {
    expect(readHostLine(["--name=--thinking"]).name).toBe("--thinking");
  });

  it.each(["--model", "--provider", "--store", "--session", "--session-dir", "-e"])(
    "rejects an empty value for %s",
    (option) => {
      expect(refused(option, "")).toContain(`${option}: it needs a value that is not empty`);
    },
  );

  it("treats a negative number as a prompt", () => {
    expect(readHostLine(["-p", "-1", "-.5"]).messages).toEqual(["-1", "-.5"]);
  });

  it("collects repeated flags, files and messages in order", () => {
    const { skill, files, messages } = readHostLine([
      "--skill",
      "a",
      "@one.ts",
      "first",
      "--skill=b",
      "@two.ts",
      "second",
    ]);
    expect({ skill, files, messages }).toEqual({
      skill: ["a", "b"],
      files: ["one.ts", "two.ts"],
      messages: ["first", "second"],
    });
  });

  it("accepts the old name of --extension", () => {
    expect(readHostLine(["--hook", "a.ts", "-e", "b.ts"]).extension).toEqual(["a.ts", "b.ts"]);
  });

  it("treats everything after -- as messages", () => {
    expect(readHostLine(["-p", "--", "--mode", "-x", "@file"])).toMatchObject({
      print: true,
      messages: ["--mode", "-x", "@file"],
      files: [],
    });
  });

  it("treats a prompt that begins with dashes as a prompt", () => {
    expect(readHostLine(["---\ntitle: x\n---\nDo it"]).messages).toEqual([
      "---\ntitle: x\n---\nDo it",
    ]);
    expect(readHostLine(["- one\n- two"]).messages).toEqual(["- one\n- two"]);
    expect(readHostLine(["-"]).messages).toEqual(["-"]);
  });

  it("keeps unknown long flags and their values for extensions", () => {
    const { unknown, messages } = readHostLine(["--plan", "deep", "--fast", "--level=3", "--end"]);
    expect([...unknown]).toEqual([
      ["plan", "deep"],
      ["fast", true],
      ["level", "3"],
      ["end", true],
    ]);
    expect(messages).toEqual([]);
  });

  it("restores words to their place in the prompt when a flag turns out to be a switch", () => {
    const line = ["one", "--plan", "two", "--level", "3", "three", "--fast", "false", "--plan"];
    const options = readHostLine(line);
    const level = ["level", "string"] as const;
    settleUnknown(options, new Map([level, ["plan", "string"], ["fast", "string"]]));
    expect(options.messages).toEqual(["one", "three"]);
    settleUnknown(options, new Map([level, ["plan", "boolean"], ["fast", "boolean"]]));
    settleUnknown(options, new Map([level, ["plan", "boolean"], ["fast", "boolean"]]));
    expect(options.messages).toEqual(["one", "two", "three"]);
    expect([...options.unknown]).toEqual([
      ["plan", true],
      ["level", "3"],
      ["fast", "false"],
    ]);
  });

  it("takes a search term after --list-models, but not a flag or a file", () => {
    expect(readHostLine(["--list-models", "sonnet"]).listModels).toBe("sonnet");
    expect(readHostLine(["--list-models", "--offline"])).toMatchObject({
      listModels: "",
      offline: true,
    });
    expect(readHostLine(["--list-models"]).listModels).toBe("");
  });

  it("names the flag when it rejects an invalid combination", () => {
    expect(refused("--mode")).toBe("invalid_option: Invalid option --mode: it needs a value");
    expect(refused("--mode", "tui")).toContain('"tui" is not one of text, json, rpc');
    expect(refused("--thinking", "hard")).toContain("--thinking");
    expect(refused("--protocol", "klingon")).toContain("--protocol");
    expect(refused("-q")).toContain("-q");
  });

  it("recognises no flag from the object prototype", () => {
    expect([...readHostLine(["--constructor", "--toString"]).unknown.keys()]).toEqual([
      "constructor",
      "toString",
    ]);
  });

  it("fails only with invalid_option and loses no word", () => {
    const word = fc.oneof(
      fc.string(),
      fc.constantFrom(
        ...Object.keys(hostOptions).map((name) => `--${name}`),
        "--",
        "-p",
        "@x",
        "rpc",
      ),
    );
    fc.assert(
      fc.property(fc.array(word), (argv) => {
        try {
          readHostLine(argv);
        } catch (error) {
          expect(error).toMatchObject({ code: "invalid_option" });
        }
        expect(readHostLine(["--", ...argv]).messages).toEqual(argv);
      }),
    );
  });
});

describe("a flag with a value after an equals sign", () => {
  it.each(["--continue", "--resume"])("names the session with %s=FILE", (flag) => {
    const options = readHostLine([`${flag}=a.jsonl`]);
    expect(options.session).toBe("a.jsonl");
    expect(options[flag === "--continue" ? "continue" : "resume"]).toBeUndefined();
    expect(readHostLine([flag]).session).toBeUndefined();
    expect(refused(`${flag}=`)).toContain("it needs a file");
  });

  it("is rejected for a switch that takes no value", () => {
    expect(refused("--approve=false")).toBe(
      "invalid_option: Invalid option --approve: it takes no value",
    );
  });
});

describe("the help", () => {
  it("shows every flag", () => {
    for (const name of Object.keys(hostOptions)) expect(optionsHelp()).toContain(`--${name}`);
  });
});
