import { SettingsStore } from "@tau-agent/system";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type ScenarioFunction, toolCall, turn } from "@tau-agent/ai/testing";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import type { ToolResultMessage } from "@tau-agent/rpc-protocol/messages";
import {
  createTestSession,
  type LocalOptions,
  placesIn,
  temporaryFolder,
} from "../../../create/__fixtures__/test-session.ts";
import { type SettingValues } from "../../../../../system/src/settings/schema.ts";
import type { TaskResult } from "../../tasks/task-result.ts";

export const git = (cwd: string, ...args: string[]): string =>
  execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@localhost", ...args], {
    cwd,
    encoding: "utf8",
  });

export function project(files: Record<string, string> = {}): LocalOptions {
  const places = placesIn(temporaryFolder());
  for (const [name, text] of Object.entries({ "a.txt": "one\n", ...files })) {
    mkdirSync(dirname(join(places.cwd, name)), { recursive: true });
    writeFileSync(join(places.cwd, name), text);
  }
  git(places.cwd, "init", "-q");
  git(places.cwd, "add", "-A");
  git(places.cwd, "commit", "-qm", "first");
  return places;
}

/** The parent calls `task` once; the text that a subagent is given determines its turns. */
export function scenario(
  call: Record<string, unknown>,
  children: Record<string, (step: number) => ReturnType<typeof turn> | string>,
): ScenarioFunction {
  const steps = new Map<string, number>();
  return ({ messages }) => {
    const [first] = messages.filter(({ role }) => role === "user");
    const text = JSON.stringify(first);
    const child = Object.keys(children).find((name) => text.includes(`<${name}>`));
    if (child !== undefined) {
      const step = steps.get(child) ?? 0;
      steps.set(child, step + 1);
      return children[child]?.(step);
    }
    const isFirst = !messages.some(({ role }) => role === "toolResult");
    return isFirst ? turn(toolCall("task", call, { id: "call" })) : "parent done";
  };
}

export async function run(
  call: Record<string, unknown>,
  children: Parameters<typeof scenario>[1],
  options: { settings?: SettingValues; places?: LocalOptions } = {},
) {
  const places = options.places ?? project();
  const settings = SettingsStore.inMemory(options.settings);
  if (places.trustProject === true) settings.trustProject();
  const test = await createTestSession(scenario(call, children), { ...places, settings });
  const ended = await test.session.prompt("go");
  const message = test.session.messages.find(
    (one): one is ToolResultMessage => one.role === "toolResult",
  );
  const text = (message?.content ?? [])
    .map((block) => (block.type === "text" ? block.text : ""))
    .join("");
  const results: TaskResult[] = Reflect.get(Object(message?.details), "results") ?? [];
  return { ...test, places, ended, message, text, results };
}

export const write = (path: string, content: string) => turn(toolCall("write", { path, content }));
export const lifecycle = (events: readonly SessionEvent[]) =>
  events.filter(({ type }) => type.startsWith("subagent_"));
export const types = (events: readonly SessionEvent[]) => lifecycle(events).map(({ type }) => type);
export const verified: SettingValues = { "task.verification.enabled": true };
