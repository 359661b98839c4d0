import type { StreamRuleInfo } from "@tau-agent/rpc-protocol";
import type { RulePattern } from "./rule-pattern.ts";
import type { RuleScope } from "./rule-scope.ts";

export interface StreamRule {
  readonly name: string;
  readonly filePath: string;
  readonly description: string | undefined;
  readonly content: string;
  /** A match of any of these is enough. */
  readonly patterns: readonly RulePattern[];
  readonly scope: RuleScope;
}

export function describeRule(rule: StreamRule): StreamRuleInfo {
  const { name, filePath: path, content, description, patterns, scope } = rule;
  return {
    name,
    path,
    content,
    ...(description === undefined ? {} : { description }),
    condition: patterns.map(({ written }) => written),
    ...(scope.tokens === undefined ? {} : { scope: [...scope.tokens] }),
    ...(scope.globs === undefined ? {} : { globs: [...scope.globs] }),
  };
}
