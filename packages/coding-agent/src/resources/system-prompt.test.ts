import { describe, expect, it } from "vitest";
import { buildSystemPrompt, type PromptTool } from "./system-prompt.ts";

const read: PromptTool = {
  name: "read",
  promptGuidelines: ["Read first.", "Shared rule."],
};
const bash: PromptTool = {
  name: "bash",
  promptSnippet: "run shell commands",
  promptGuidelines: ["Shared rule."],
};
const skill = {
  name: "pdf",
  description: `Work with <PDF> & "forms"`,
  filePath: "/skills/pdf/SKILL.md",
  baseDir: "/skills/pdf",
  scope: "user" as const,
  isHiddenFromModel: false,
};

describe("buildSystemPrompt", () => {
  it("lists only tools with a prompt line; declarations describe the rest", () => {
    const prompt = buildSystemPrompt({ tools: [read, bash], cwd: "/w" });
    expect(prompt).toContain("<tools>\n- bash: run shell commands\n</tools>");
    expect(buildSystemPrompt({ tools: [read], cwd: "/w" })).not.toContain("<tools>");
  });

  it("states each rule once", () => {
    const prompt = buildSystemPrompt({ tools: [read, bash], cwd: "/w" });
    expect(prompt.split("Shared rule.")).toHaveLength(2);
    expect(buildSystemPrompt({ tools: [], cwd: "/w" })).not.toContain("Read first.");
  });

  it("has the same bytes at any time, without a date", () => {
    const input = { tools: [read, bash], cwd: "/w", skills: [skill] };
    const prompt = buildSystemPrompt(input);
    expect(buildSystemPrompt(input)).toBe(prompt);
    expect(prompt).not.toContain(String(new Date().getFullYear()));
  });

  it("keeps a fixed order of sections and appends new ones", () => {
    const prompt = buildSystemPrompt({
      tools: [read, bash],
      cwd: "C:\\work\\project",
      additionalDirectories: ["C:\\work\\library", "/docs"],
      appendPrompts: ["more"],
      contextFiles: [{ path: '/w/A"B.md', content: "use tabs" }],
      skills: [skill],
      sections: [{ name: "extra", text: "last" }],
    });
    const tags = [...prompt.matchAll(/^<(\w+)>$/gm)].map((match) => match[1]);
    expect(tags).toEqual([
      "tools",
      "rules",
      "addendum",
      "project_context",
      "skills",
      "available_skills",
      "cwd",
      "additional_folders",
      "extra",
    ]);
    expect(prompt).toContain("<cwd>\nC:/work/project\n</cwd>");
    expect(prompt).toContain("\n- C:/work/library\n- /docs\n</additional_folders>");
    expect(prompt).toContain(
      '<project_instructions path="/w/A&quot;B.md">\nuse tabs\n</project_instructions>',
    );
  });

  it("lists skills only if a tool can read them, and no hidden skills", () => {
    const build = (tools: PromptTool[], skills = [skill]) =>
      buildSystemPrompt({ tools, cwd: "/w", skills });
    expect(build([read])).toContain(
      "<description>Work with &lt;PDF&gt; &amp; &quot;forms&quot;</description>",
    );
    expect(build([bash])).toContain("with bash first");
    expect(build([{ name: "grep" }])).not.toContain("skill");
    expect(build([read], [{ ...skill, isHiddenFromModel: true }])).not.toContain("pdf");
  });
});
