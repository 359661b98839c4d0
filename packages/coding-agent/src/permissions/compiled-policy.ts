import type { Matcher } from "@tau-agent/system";
import { compileRule } from "./rules/fit.ts";
import type { Policy } from "./rules/judge.ts";
import type { RuleFolders } from "./rules/subject.ts";
import type { PermissionState } from "./session-permissions.ts";

/** A session's permissions in compiled form, recompiled when they or the folders change. */
export class CompiledPolicy {
  #last: { state: PermissionState; folders: RuleFolders; value: Policy } | undefined;

  of(state: PermissionState, folders: RuleFolders): Policy {
    const last = this.#last;
    if (last?.state === state && isSame(last.folders, folders)) return last.value;
    const tools = new Map<string, Matcher>();
    const rules = state.rules.map((rule) => compileRule(rule, folders, tools));
    const { mode, ceiling, granted } = state;
    const value = { mode, ceiling, granted, rules, folders };
    this.#last = { state, folders, value };
    return value;
  }
}

function isSame(one: RuleFolders, other: RuleFolders): boolean {
  return (
    one.cwd === other.cwd &&
    one.realCwd === other.realCwd &&
    one.realRoots.join("\0") === other.realRoots.join("\0") &&
    one.homeDirectory === other.homeDirectory
  );
}
