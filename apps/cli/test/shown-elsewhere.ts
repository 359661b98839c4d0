/**
 * Ids of statements that tests outside the transcripts cover; each value is the test's path from the repository root.
 */
export const shownElsewhere: Readonly<Record<string, string>> = {
  "overview.lines": "apps/cli/test/e2e/stdio.test.ts",
  "clients.python": "docs/examples/spec-clients.test.ts",
  "clients.node": "docs/examples/spec-clients.test.ts",
  "pisces.start.files": "apps/cli/test/e2e/bad-start.test.ts",
  "pisces.stdin.end": "apps/cli/test/e2e/shutdown.test.ts",
  "pisces.shutdown": "apps/cli/test/e2e/extensions.test.ts",
  "pisces.budget.dimensions": "packages/coding-agent/src/subagents/budgets/session-budget.test.ts",
  "pisces.subagents.nested": "apps/cli/test/e2e/tasks.test.ts",
};
